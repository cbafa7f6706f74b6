#include "engine/train/worker_exit.h"

#include <algorithm>
#include <array>

namespace gauntlet {

WorkerExit ExitFor(const Status& status, Stage stage) {
  switch (status.code()) {
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    // A survivor of an earlier life may claim after its successors did. Who is
    // still asked for starts again, with a newer claim; nobody starts a
    // survivor. Where it was a later launch that claimed, that claim is refused
    // (LaunchHold).
    case Code::kFenced:
      return WorkerExit::kLostWorker;
    case Code::kResourceExhausted:
      return WorkerExit::kStartLater;
    case Code::kForbidden:
      return stage == Stage::kSetUp ? WorkerExit::kBadInput
                                    : WorkerExit::kLostWorker;
    // A disk that fails once may not fail again; one that does uses up the
    // restarts. So does one that loses a file; where it was the store that
    // somebody deleted, that is kFailedPrecondition.
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

WorkerExit OutsideOfTheJob(WorkerExit exit) {
  return exit == WorkerExit::kStartLater ? WorkerExit::kLostWorker : exit;
}

std::span<const int> AllWorkerExits() {
  static constexpr std::array kAll = {
      static_cast<int>(WorkerExit::kDone),
      static_cast<int>(WorkerExit::kFailed),
      static_cast<int>(WorkerExit::kBadInput),
      static_cast<int>(WorkerExit::kNoCheckpoint),
      static_cast<int>(WorkerExit::kOtherJob),
      static_cast<int>(WorkerExit::kNotFinite),
      static_cast<int>(WorkerExit::kStartLater),
      static_cast<int>(WorkerExit::kLostWorker),
      static_cast<int>(WorkerExit::kStopped)};
  return kAll;
}

bool IsWorkerExit(int exit_code) {
  return std::ranges::find(AllWorkerExits(), exit_code) !=
         AllWorkerExits().end();
}

}  // namespace gauntlet
