#include "engine/train/worker_exit.h"

#include <algorithm>
#include <array>

namespace gauntlet {

WorkerExit ExitFor(const Status& status, Stage stage) {
  switch (status.code()) {
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    // A newer claim has fenced this worker. It exits as lost, whoever made that
    // claim. If a stale worker made it, the launcher restarts this worker, and
    // its next incarnation makes a newer claim. If this worker is stale itself,
    // no launcher restarts it. If a later launch made the claim, the store
    // refuses the claim of the restarted worker (LaunchHold).
    case Code::kFenced:
      return WorkerExit::kLostWorker;
    case Code::kResourceExhausted:
      return WorkerExit::kStartLater;
    case Code::kForbidden:
      return stage == Stage::kSetUp ? WorkerExit::kBadInput
                                    : WorkerExit::kLostWorker;
    // A disk error may be transient. If it is permanent, or a file is lost, the
    // job fails once the restarts are used up. If somebody has deleted the
    // store, the error is kFailedPrecondition instead.
    case Code::kIoError:
    case Code::kNotFound:
    case Code::kAlreadyExists:
      return stage == Stage::kSetUp ? WorkerExit::kFailed
                                    : WorkerExit::kLostWorker;
    case Code::kInvalidArgument:
      return WorkerExit::kBadInput;
    case Code::kOtherJob:
      return WorkerExit::kOtherJob;
    case Code::kFailedPrecondition:
    case Code::kDataLoss:
      return stage == Stage::kForming ? WorkerExit::kNoCheckpoint
                                      : WorkerExit::kFailed;
    default:
      return WorkerExit::kFailed;
  }
}

WorkerExit JobExitFor(WorkerExit exit) {
  return exit == WorkerExit::kStartLater ? WorkerExit::kLostWorker : exit;
}

std::span<const int> AllWorkerExits() {
  static constexpr auto kAll = [] {
    std::array<int, kWorkerExits.size()> codes{};
    std::ranges::transform(kWorkerExits, codes.begin(), WorkerExitCode,
                           &WorkerExitInfo::exit);
    return codes;
  }();
  return kAll;
}

bool IsWorkerExit(int exit_code) {
  return std::ranges::find(AllWorkerExits(), exit_code) !=
         AllWorkerExits().end();
}

}  // namespace gauntlet
