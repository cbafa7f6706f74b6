// The systematic sweep: every point and kind, in the chief and in the last
// worker, at hit 1, 2, … until the fault fires no more; then pairs whose second
// fault falls into the recovery from the first.
//
// The sweep goes in rounds. In round n of its first part each (point, worker,
// kind) that still fired at hit n - 1 has its n-th hit; the second part does
// the same for each first fault, one for every (point, phase) that led to a
// restart, from nothing and from a checkpoint. That is all done for the first
// set-up; each further one has it for the points that no set-up before came to.
// What a round is depends on the reports of those before it and on nothing
// else.
#ifndef GAUNTLET_HARNESS_EXPLORE_NTH_PLANS_H_
#define GAUNTLET_HARNESS_EXPLORE_NTH_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/explore/case_report.h"
#include "harness/explore/explore_case.h"

namespace gauntlet {

class NthPlans {
 public:
  // `spaces` are of the set-ups, in their order, at least one. Pairs only where
  // max_faults > 1.
  NthPlans(std::vector<PlanSpace> spaces, uint64_t seed);

  // The next cases; empty: the sweep is done. To be called again once all of
  // them are reported to Learn.
  std::vector<ExploreCase> NextRound();
  // Of the cases of the last round, each once, in their order.
  void Learn(const CaseReport& report);

  // How far it is: "set-up 1 of 6, single faults, hit 3: 212 of 640 series
  // still fire".
  std::string Progress() const;

 private:
  // One fault whose hit goes up.
  struct Series {
    Fault fault;
    std::optional<Fault> first;  // that it comes after
    bool alive = true;
  };
  // A fault's place, as pairs tell first faults apart, and whether the recovery
  // from it had a checkpoint to load.
  using Place = std::tuple<Point, FaultPhase, bool>;

  const PlanSpace& space() const { return spaces_[setup_]; }
  void MakeSingles();
  void MakePairs();
  // To the next part that has series; kDone if there is none.
  void GoOn();
  std::vector<Fault> FaultsAt(Point point) const;

  const std::vector<PlanSpace> spaces_;
  const uint64_t seed_;
  size_t setup_ = 0;
  std::set<Point> reached_;  // by any fault
  enum class Part : uint8_t { kSingles, kPairs, kDone } part_ = Part::kSingles;
  std::vector<Series> series_;
  uint64_t hit_ = 0;
  uint64_t next_number_ = 0;
  uint64_t round_begin_ = 0;       // the number of the round's first case
  std::vector<size_t> round_;      // series of the round's cases
  std::map<Place, Fault> firsts_;  // the first one that led to a restart
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_NTH_PLANS_H_
