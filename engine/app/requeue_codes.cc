#include "engine/app/requeue_codes.h"

#include <algorithm>
#include <array>

#include "engine/check.h"
#include "engine/train/worker_exit.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::array kFailures = {static_cast<int>(ExitCode::kViolated),
                                  static_cast<int>(ExitCode::kUsage),
                                  static_cast<int>(ExitCode::kNoCheckpoint),
                                  static_cast<int>(ExitCode::kOtherJob),
                                  static_cast<int>(ExitCode::kNotFinite)};

bool IsFailureCode(int code) {
  return std::find(kFailures.begin(), kFailures.end(), code) != kFailures.end();
}

}  // namespace

Status CheckRequeueCodes(const RequeueCodes& codes) {
  if (IsFailureCode(codes.preempted)) {
    return InvalidArgument(
        fmt::format("--preempted-code: expected none of {}, which are failures "
                    "for good, found {}",
                    fmt::join(kFailures, ", "), codes.preempted));
  }
  if (!codes.no_requeue) return OkStatus();
  for (const int again :
       {static_cast<int>(ExitCode::kLostWorker),
        static_cast<int>(ExitCode::kKilled), codes.preempted}) {
    if (*codes.no_requeue == again) {
      return InvalidArgument(fmt::format(
          "--permanent-failure-code: expected none of {}, {} and {} (of "
          "--preempted-code), which ask for another start, found "
          "{}",
          static_cast<int>(ExitCode::kLostWorker),
          static_cast<int>(ExitCode::kKilled), codes.preempted, again));
    }
  }
  return OkStatus();
}

int RequeueCode(const RequeueCodes& codes, int exit_code) {
  if (exit_code == static_cast<int>(WorkerExit::kStartLater)) {
    return static_cast<int>(JobExitFor(WorkerExit::kStartLater));
  }
  if (exit_code == static_cast<int>(ExitCode::kStopped)) return codes.preempted;
  return IsFailureCode(exit_code) ? codes.no_requeue.value_or(exit_code)
                                  : exit_code;
}

void RequeueHost::Exit(int code) {
  host_.Exit(RequeueCode(codes_, code));
  // Host::Exit never returns, but g++ cannot see that through a virtual call.
  CheckFailed(__FILE__, __LINE__, "Exit", "returned");
}

}  // namespace gauntlet
