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
  // True if stops in the control gave different results too.
  bool differs_in_control = false;
};

// Returns "operation 12" or "operations 12, 20".
std::string OperationsText(const std::vector<uint64_t>& operations);

// Returns findings, each with the crashes of one verdict and one cause:
// - Runs that end with the same class of exception, or with messages that are
//   equal without numbers and paths, have one cause.
// - Hangs without a message have one cause.
// - If no resume within the training gives equal results, all runs that diverge
//   have one cause. Title and reason then state the stops that show it.
// - Other crashes without a message have one cause if their files have the same
//   name pattern.
//
// `differing_stops` are those of Controls (crash_controls.h). If there are any,
// no resume within the training gives equal results, unless a kill recovered
// from a checkpoint between the first of these stops and the last kill that
// diverged.
//
// A title names the verdict, the faults, the files and the exception, or the
// beginning of the message. If titles are still equal, the simplest crash of
// each is added.
//
// The worst findings come first: hangs and failures, then different results,
// then lost work; among these, those with the most crashes first.
std::vector<TrainerFinding> GroupFindings(
    const std::vector<CrashTrial>& trials,
    const std::vector<CrashVerdict>& verdicts,
    const std::vector<uint64_t>& differing_stops);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_FINDINGS_H_
