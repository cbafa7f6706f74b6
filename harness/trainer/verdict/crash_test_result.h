// Result of a crash test.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_TEST_RESULT_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_TEST_RESULT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/verdict/crash_findings.h"

namespace gauntlet {

// A control: a run without faults. Verdicts are meaningful only if it passes.
struct CrashControl {
  std::string name;  // "second run"
  bool holds = false;
  std::string text;  // one line: what was equal, or the first difference
};

// Reason why no more crashes were tried.
enum class TrialsEnd : uint8_t {
  kAllTried,
  kLimit,  // time or --trials ran out
  kInterrupted,
  kError,  // a note names it
};

struct CrashTestResult {
  std::string command;         // quoted for a shell
  std::string resume_command;  // quoted for a shell
  std::string version;         // of gauntlet
  uint64_t seed = 0;

  // Figures of the recorded run.
  uint64_t operations = 0;    // on files of {out} and TMPDIR
  uint64_t crash_points = 0;  // those that change or sync something
  uint64_t bytes = 0;         // written
  double seconds = 0;
  // Paths below {out} of files that the run only appended to (GrowingFiles,
  // checkpoint_versions.h).
  std::set<std::string> logs;

  std::vector<CrashControl> controls;
  std::string compared;               // "3 files, 41 tensors"
  std::vector<std::string> left_out;  // files not compared, with reasons
  // Reason why there are no verdicts, one line; "" if there are verdicts.
  std::string no_verdict;

  std::vector<CrashTrial> trials;
  std::vector<CrashVerdict> verdicts;  // one for each trial
  std::vector<TrainerFinding> findings;
  uint64_t equal_states = 0;  // not tried: equal to one that was tried
  double bounded_states = 0;  // estimate of states not tried: beyond a bound
  TrialsEnd trials_end = TrialsEnd::kAllTried;
  double trial_seconds = 0;  // from the first trial to the end of the last
  std::vector<std::string> notes;  // one line each
};

// Returns one line that states why some crash states were not tried; "" if all
// were tried. All outputs use the same line.
std::string UntriedCrashesText(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_TEST_RESULT_H_
