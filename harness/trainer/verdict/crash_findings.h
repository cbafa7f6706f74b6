// Crashes that a program does not come back from, grouped by cause.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_FINDINGS_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/trainer/run/crash_trial.h"

namespace gauntlet {

struct TrainerFinding {
  RecoveryVerdict verdict = RecoveryVerdict::kFails;
  std::string title;           // one line
  std::string reason;          // of the first crash
  std::vector<size_t> trials;  // indexes; the simplest first
};

// A run that was stopped between two saves and resumed.
enum class ResumeControl : uint8_t { kEqual, kDiffers };

// Crashes of one verdict are of one cause if their runs end with the same class
// of exception, or the same message, numbers and paths apart. Without a
// message: all that hang; all that diverge, if the control does so too; else
// those at files of one name pattern.
//
// Worst first: hangs and failures, then other results, then lost work; within
// these the one with the most crashes first.
std::vector<TrainerFinding> GroupFindings(
    const std::vector<CrashTrial>& trials,
    const std::vector<CrashVerdict>& verdicts, ResumeControl control);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_FINDINGS_H_
