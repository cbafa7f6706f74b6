// Crashes that a program does not come back from, grouped by cause.
#ifndef GAUNTLET_HARNESS_TRAINER_CRASH_FINDINGS_H_
#define GAUNTLET_HARNESS_TRAINER_CRASH_FINDINGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "harness/trainer/crash_trial.h"

namespace gauntlet {

// Crashes with the same verdict, at operations on files of the same name
// pattern, whose runs ended with the same message.
struct CrashFinding {
  RecoveryVerdict verdict = RecoveryVerdict::kFails;
  std::string title;           // one line
  std::string reason;          // of the first crash
  std::vector<size_t> trials;  // indexes; the first is the one to look at
};

// Worst first: hangs and failures, then other results, then lost work; within
// these the one with the most crashes first.
std::vector<CrashFinding> GroupFindings(
    const std::vector<CrashTrial>& trials,
    const std::vector<CrashVerdict>& verdicts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CRASH_FINDINGS_H_
