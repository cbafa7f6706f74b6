// Groups crashes that a program does not recover from by their cause.
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
  std::string title;           // one line; no other finding has it
  std::string reason;          // of the first crash
  std::vector<size_t> trials;  // indexes, the simplest first
};

// Outcome of the control that is stopped between two saves and resumed.
enum class ResumeControl : uint8_t { kEqual, kDiffers };

// Returns findings, each with the crashes of one verdict and one cause. Runs
// that end with the same class of exception, or the same message without
// numbers and paths, have one cause. Without a message, one cause covers all
// hangs; all runs that diverge, if the control differs too (title and reason
// then begin by stating that no crash is needed); else the crashes at files of
// one name pattern.
//
// A title names the verdict, the faults, the files and the exception, or the
// beginning of the message. If titles are still equal, the simplest crash of
// each is added.
//
// The worst findings come first: hangs and failures, then different results,
// then lost work; among these, those with the most crashes first.
std::vector<TrainerFinding> GroupFindings(
    const std::vector<CrashTrial>& trials,
    const std::vector<CrashVerdict>& verdicts, ResumeControl control);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_FINDINGS_H_
