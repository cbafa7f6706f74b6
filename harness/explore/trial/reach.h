// The fault points that an undisturbed run reaches. Random plans draw from
// these, so that their faults fire.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_REACH_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_REACH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/status.h"
#include "engine/world/fault_point.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// One occurrence of a point in a worker.
struct Occurrence {
  // Position of the worker at its last step, epoch or evaluation before the
  // occurrence. `step` and `epoch` of a fault's site are compared with it.
  uint64_t step = 0;
  uint64_t epoch = 0;
  bool begins_file = false;  // it is at offset 0 of a file
};

// The occurrences of each point in each worker's first incarnation.
class Reach {
 public:
  void Add(int worker, Point point, const Occurrence& occurrence) {
    occurrences_[{point, worker}].push_back(occurrence);
  }

  // Returns the occurrences in order; empty if the worker does not reach the
  // point.
  const std::vector<Occurrence>& Of(int worker, Point point) const;
  // Returns the workers that reach the point, ascending.
  std::vector<int> WorkersAt(Point point) const;

 private:
  std::map<std::pair<Point, int>, std::vector<Occurrence>> occurrences_;
};

// Runs the set-up once without faults and returns the points that it reached.
// Returns an error if its reference run cannot be made or the run was
// interrupted.
Result<std::shared_ptr<const Reach>> ReachOf(const Case& setup,
                                             References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_REACH_H_
