// The log of a run for one window (CrashWindow in crash_states.h): the
// operations on the disk, and when each save was acknowledged.
#ifndef GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_WINDOW_H_
#define GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "chaos/sim/disk/disk_log.h"
#include "chaos/sim/scheduler/fiber.h"
#include "engine/data/dataset.h"
#include "engine/digest.h"
#include "harness/record/golden.h"
#include "harness/run/executor/run_log.h"
#include "harness/run/executor/run_plan.h"

namespace gauntlet {

// Finds the position of a state in the reference trajectory.
class Trajectory {
 public:
  explicit Trajectory(const GoldenTrajectory& golden);
  static constexpr int kNowhere = -1;
  // Returns the index of the state in the trajectory, 0 for the initial one;
  // kNowhere: the trajectory does not have it, or has it at another step.
  int IndexOf(const Digest& digest, uint64_t step) const;
  // "step 10, epoch 1".
  std::string NameOf(int index) const;

 private:
  std::map<Digest, int> indices_;
  std::vector<std::pair<uint64_t, uint64_t>> steps_;  // steps and epochs
};

struct Acknowledgement {
  size_t operations = 0;  // operations of the log before the acknowledgement
  int index = 0;          // of the saved state, in the trajectory
  bool finite = true;     // true iff the saved state is finite
};

struct CrashWindowLog {
  DiskLog log;
  size_t begin = 0;  // cuts come after the operations [begin, end)
  size_t end = 0;
  std::vector<Acknowledgement> acknowledged;  // in order

  // Return an index of the trajectory: that of the newest save, of the newest
  // save with a finite state, and of the second newest save; 0 if there is
  // none. Only saves count that were acknowledged before a cut after operation
  // `i`.
  int NewestBefore(size_t i) const;
  int NewestFiniteBefore(size_t i) const;
  int SecondNewestBefore(size_t i) const;
};

struct RunInputs {
  FiberPool& pool;
  const RunPlan& plan;  // without faults
  const DataSplit& data;
  const Trajectory& trajectory;
};

// Runs the plan. The window is its `save`-th save (counted from 1). If `save`
// is 0, it is the first save at which retention removes a checkpoint, or else
// the last save. kInvalidArgument: the run makes no such save.
// kFailedPrecondition: the run fails.
Result<CrashWindowLog> LogOfSave(const RunInputs& inputs, uint64_t save);
// Runs the plan with a crash after its first save. The window reaches from the
// first operation of the second incarnation to the begin of its second save or,
// if there is none, to the end of training.
Result<CrashWindowLog> LogOfRecovery(const RunInputs& inputs);
// As LogOfRecovery, with a second crash: that of the chief in its second
// incarnation, before it records its claim.
Result<CrashWindowLog> LogOfRetriedClaim(const RunInputs& inputs);
// As LogOfRecovery, but the crash comes after the second save, and one shard of
// this save has a flipped bit. The save counts as not acknowledged.
// kFailedPrecondition: the run rejected no checkpoint.
Result<CrashWindowLog> LogOfRejection(const RunInputs& inputs);
// Runs the plan with a crash after its first save and with the deletion of its
// checkpoints at the end. The window is the deletion. The window is empty if
// the run keeps its checkpoints, as it does if its state is not finite.
Result<CrashWindowLog> LogOfDeletion(const RunInputs& inputs);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_WINDOW_H_
