// The parameters of a random fault.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PARAMETERS_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "chaos/inject/plan/fault_parameters.h"
#include "harness/explore/plan/random_choices.h"
#include "harness/explore/trial/explore_case.h"

namespace gauntlet {

FileOffset AnyOffset(RandomChoices& draw);

class RandomParameters {
 public:
  // The space must outlive this.
  RandomParameters(const PlanSpace& space, RandomChoices draw)
      : space_(space), draw_(draw) {}

  // Draws the parameters of the fault's kind, in the order of ParametersOf.
  // FaultParameterInfo::draw states the range of each. Some values depend
  // on the fault's site.
  void Fill(Fault& fault);

 private:
  void Draw(const FaultParameterInfo& parameter, Fault& fault);
  int64_t OfEach(const FaultParameterInfo& parameter);
  void DrawSpecial(const FaultParameterInfo& parameter, Fault& fault);
  int Error(Point point);
  std::vector<std::vector<int>> Groups();
  void FillTimes(Fault& fault);

  const PlanSpace& space_;
  RandomChoices draw_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PARAMETERS_H_
