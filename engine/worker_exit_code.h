// Exit codes of a worker process, defined once for the engine and its judge.
#ifndef GAUNTLET_ENGINE_WORKER_EXIT_CODE_H_
#define GAUNTLET_ENGINE_WORKER_EXIT_CODE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace gauntlet {

// The launcher acts on these codes and exits with them itself, except for
// kStartLater, where it exits with kLostWorker.
enum class WorkerExit : int {
  kDone = 0,
  kFailed = 1,  // nondeterminism, a bug
  kBadInput = 2,
  kNoCheckpoint = 7,  // checkpoints exist, none can be loaded
  kOtherJob = 8,      // the checkpoints belong to another job
  kNotFinite = 9,     // OnNotFinite::kStop: a restart computes the same
  // The last state could not be saved, or the machine lacks resources for the
  // worker (disk, processes, threads): a later start may succeed, an immediate
  // restart does not. Programs that people start exit with 75 instead.
  kStartLater = 74,
  // Another worker is lost, or the disk failed: restart (EX_TEMPFAIL).
  kLostWorker = 75,
  kStopped = 143,  // stopped on a notice; saved if there is a store
};

// Returns true iff the exit code of a worker or a launcher is one of these.
constexpr bool IsExit(int64_t code, std::initializer_list<WorkerExit> exits) {
  return std::ranges::any_of(exits, [code](WorkerExit exit) {
    return code == static_cast<int64_t>(exit);
  });
}

// Returns true iff the worker finished, stopped on a notice or stopped on NaN.
constexpr bool IsOrderlyExit(int64_t code) {
  return IsExit(
      code, {WorkerExit::kDone, WorkerExit::kNotFinite, WorkerExit::kStopped});
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORKER_EXIT_CODE_H_
