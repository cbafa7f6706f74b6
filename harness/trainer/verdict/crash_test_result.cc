#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

std::string UntriedCrashesText(const CrashTestResult& result) {
  switch (result.trials_end) {
    case TrialsEnd::kAllTried:
      break;
    case TrialsEnd::kLimit:
      return "more crash states are left: time, or --trials, ran out";
    case TrialsEnd::kInterrupted:
      return result.findings.empty()
                 ? "interrupted: more crash states are left"
                 : "interrupted: these are the findings so far; more crash "
                   "states are left";
    case TrialsEnd::kError:
      return "more crash states are left: an error ended the test";
  }
  return "";
}

}  // namespace gauntlet
