// The parameters of a random fault.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PARAMETERS_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PARAMETERS_H_

#include <vector>

#include "harness/explore/plan/random_choices.h"
#include "harness/explore/trial/explore_case.h"

namespace gauntlet {

FileOffset AnyOffset(RandomChoices& draw);

class RandomParameters {
 public:
  // The space must outlive this.
  RandomParameters(const PlanSpace& space, RandomChoices draw)
      : space_(space), draw_(draw) {}

  // Draws the parameters that the fault's kind takes, given its site.
  void Fill(Fault& fault);

 private:
  Duration UpToPowerOfTwoMs(uint64_t bits);
  int Error(Point point);
  std::vector<std::vector<int>> Groups();
  void FillTear(FaultParameters& with);
  void FillTrouble(FaultKind kind, FaultParameters& with);
  void FillByKind(Fault& fault);
  void FillTimes(Fault& fault);

  const PlanSpace& space_;
  RandomChoices draw_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PARAMETERS_H_
