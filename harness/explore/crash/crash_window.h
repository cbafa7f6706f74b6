// The part of a run that crash states are taken of: what was done to the disk,
// and which saves were acknowledged when.
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
  std::vector<std::pair<uint64_t, uint64_t>> steps_;  // and epochs
};

struct Acknowledgement {
  size_t operations = 0;  // operations of the log before it
  int index = 0;          // in the trajectory
  bool finite = true;     // its state
};

struct CrashWindowLog {
  DiskLog log;
  size_t begin = 0;  // cuts come after the operations [begin, end)
  size_t end = 0;
  std::vector<Acknowledgement> acknowledged;  // in order

  // The newest and the second newest before a cut after operation `i`, as
  // indices of the trajectory; 0 where there is none.
  int NewestBefore(size_t i) const;
  // Likewise the newest whose state is finite.
  int NewestFiniteBefore(size_t i) const;
  int SecondNewestBefore(size_t i) const;
};

struct RunInputs {
  FiberPool& pool;
  const RunPlan& plan;  // without faults
  const DataSplit& data;
  const Trajectory& trajectory;
};

// Runs the plan; the window is its `save`-th save, from 1, or with 0 the first
// at which retention has something to do, else the last. kFailedPrecondition:
// the run makes no such save, or does not end well.
Result<CrashWindowLog> LogOfSave(const RunInputs& inputs, uint64_t save);
// Runs the plan with a crash after its first save; the window reaches from the
// first operation of the second life to the end of its first save.
Result<CrashWindowLog> LogOfRecovery(const RunInputs& inputs);
// The same where the chief of the second life crashes too, before it records
// its claim.
Result<CrashWindowLog> LogOfRetriedClaim(const RunInputs& inputs);
// The same with the crash after the second save, a shard of which has a flipped
// bit. That save counts as not acknowledged.
Result<CrashWindowLog> LogOfRejection(const RunInputs& inputs);
// Runs the plan with a crash after its first save and the deletion of its
// checkpoints at the end; the window is the deletion. It is empty if the run
// keeps them, as one does whose state is not finite.
Result<CrashWindowLog> LogOfDeletion(const RunInputs& inputs);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_WINDOW_H_
