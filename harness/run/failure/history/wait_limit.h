// Time limits of a scenario after which a worker is declared lost.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_WAIT_LIMIT_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_WAIT_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

// A time limit that a worker or the launcher waited for before it declared a
// worker lost.
struct WaitLimit {
  std::string_view key;  // "cluster.step_timeout"
  int64_t limit_ns = 0;  // value of the key
  // Value of cluster.heartbeat.lost_after, which the launcher adds to the limit
  // of rank 0; 0: nothing is added.
  int64_t added_ns = 0;
  int worker = 0;  // worker that waited; kLauncherWorker: the launcher

  int64_t total_ns() const { return limit_ns + added_ns; }
  bool is_of_launcher() const;
};

// Returns the time limit after which `emitter` emitted `lost` (kWorkerLost);
// nullopt if no key of the scenario sets this limit. `emitter`: a worker, or
// kLauncherWorker.
std::optional<WaitLimit> LimitOfLoss(const RunSetup& setup, int emitter,
                                     const RecordEvent& lost);

// Returns "cluster.step_timeout is 7s", or "cluster.step_timeout, 4s, and
// cluster.heartbeat.lost_after, 5s, add up to 9s".
std::string LimitValueText(const WaitLimit& wait);

// Returns "cluster.step_timeout (7s)", or "the sum of cluster.step_timeout (4s)
// and cluster.heartbeat.lost_after (5s)".
std::string LimitNameText(const WaitLimit& wait);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_WAIT_LIMIT_H_
