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
    // (Tenure).
    case Code::kFenced:
      return WorkerExit::kLostWorker;
    // A disk that fails once may not fail again; one that does uses up the
    // restarts. So does one that loses a file; where it was the store that
    // somebody deleted, that is kFailedPrecondition.
    case Code::kIoError:
    case Code::kResourceExhausted:
    case Code::kNotFound:
    case Code::kAlreadyExists:
      return stage == Stage::kSetUp ? WorkerExit::kFailed
                                    : WorkerExit::kLostWorker;
    case Code::kInvalidArgument:
      return WorkerExit::kBadInput;
    case Code::kFailedPrecondition:
    case Code::kDataLoss:
      return stage == Stage::kForming ? WorkerExit::kNoCheckpoint
                                      : WorkerExit::kFailed;
    default:
      return WorkerExit::kFailed;
  }
}

bool IsWorkerExit(int exit_code) {
  constexpr std::array kAll = {
      WorkerExit::kDone,         WorkerExit::kFailed,     WorkerExit::kBadInput,
      WorkerExit::kNoCheckpoint, WorkerExit::kLostWorker, WorkerExit::kStopped};
  return std::ranges::find(kAll, exit_code, [](WorkerExit exit) {
           return static_cast<int>(exit);
         }) != kAll.end();
}

}  // namespace gauntlet
