// Exit codes of a worker process, defined once for the engine and its judge.
#ifndef GAUNTLET_ENGINE_WORKER_EXIT_CODE_H_
#define GAUNTLET_ENGINE_WORKER_EXIT_CODE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace gauntlet {

// The launcher acts on these codes and exits with them itself, except for
// kStartLater, where it exits with kLostWorker.
enum class WorkerExit : int {
  kDone = 0,
  kFailed = 1,
  kBadInput = 2,
  kNoCheckpoint = 7,
  kOtherJob = 8,
  kNotFinite = 9,  // OnNotFinite::kStop
  kStartLater = 74,
  kLostWorker = 75,  // EX_TEMPFAIL
  kStopped = 143,
};

struct WorkerExitInfo {
  WorkerExit exit;
  std::string_view brief;  // for a sentence: "worker 0 exited (…)"
  std::string_view meaning;
};

// All exit codes of a worker, in ascending order.
inline constexpr std::array kWorkerExits = {
    WorkerExitInfo{WorkerExit::kDone, "done", "training is complete"},
    WorkerExitInfo{WorkerExit::kFailed, "failed for good",
                   "training failed for good: replicas differ, the model "
                   "cannot be exported, no restart is left, or a bug"},
    WorkerExitInfo{WorkerExit::kBadInput, "bad input",
                   "a setting, or a file or directory that it names, is wrong"},
    WorkerExitInfo{WorkerExit::kNoCheckpoint, "no checkpoint can be loaded",
                   "there are checkpoints and none of them can be loaded"},
    WorkerExitInfo{WorkerExit::kOtherJob,
                   "the checkpoints belong to another job",
                   "the checkpoints belong to another job"},
    WorkerExitInfo{WorkerExit::kNotFinite, "a loss or state is not finite",
                   "the loss or the state is infinite or NaN; a restart would "
                   "compute the same"},
    WorkerExitInfo{
        WorkerExit::kStartLater,
        "its state could not be saved, or the machine lacks resources",
        "the last state could not be saved, or there was no disk "
        "space, process or thread for the worker: a later start may "
        "succeed, an immediate restart does not. gauntlet train "
        "exits with 75"},
    WorkerExitInfo{
        WorkerExit::kLostWorker,
        "another worker, the disk or the device failed",
        "another worker is lost, or the disk, the memory or the "
        "device failed: the launcher restarts the worker. A launcher "
        "that exits with it: a later start may succeed"},
    WorkerExitInfo{WorkerExit::kStopped, "stopped on a notice",
                   "stopped on a preemption notice, after a save if there is a "
                   "checkpoint directory"},
};

// Returns true iff `code`, the exit code of a worker or launcher, is in
// `exits`.
constexpr bool IsExit(int64_t code, std::initializer_list<WorkerExit> exits) {
  return std::ranges::any_of(exits, [code](WorkerExit exit) {
    return code == static_cast<int64_t>(exit);
  });
}

// Returns true iff the worker finished, stopped on a notice, or stopped because
// a loss or state was not finite.
constexpr bool IsOrderlyExit(int64_t code) {
  return IsExit(
      code, {WorkerExit::kDone, WorkerExit::kNotFinite, WorkerExit::kStopped});
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORKER_EXIT_CODE_H_
