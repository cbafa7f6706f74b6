// Exit codes of the program: one list for all commands.
#ifndef GAUNTLET_ENGINE_CLI_EXIT_CODE_H_
#define GAUNTLET_ENGINE_CLI_EXIT_CODE_H_

#include <span>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

enum class ExitCode : int {
  kOk = 0,
  kViolated = 1,
  kUsage = 2,
  kNoVerdict = 3,
  kNothingSelected = 4,
  kLimitBroken = 5,
  kSkippedUnderStrict = 6,
  kNoCheckpoint = 7,
  kOtherJob = 8,
  kNotFinite = 9,
  kLostWorker = 75,
  kInterrupted = 130,
  kKilled = 137,  // 128 + SIGKILL: the code that shells report
  kStopped = 143,
};

struct ExitCodeInfo {
  ExitCode code;
  std::string_view meaning;  // one line
};

// Returns the exit code of a command that failed to read checkpoints:
// kNoCheckpoint for damaged ones, kOtherJob for those of another job, kUsage
// for a wrong or missing path.
ExitCode ExitForInspect(const Status& status);

// All exit codes, in ascending order.
std::span<const ExitCodeInfo> AllExitCodes();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_EXIT_CODE_H_
