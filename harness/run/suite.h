// Many cases, one after another or several at a time.
#ifndef GAUNTLET_HARNESS_RUN_SUITE_H_
#define GAUNTLET_HARNESS_RUN_SUITE_H_

#include <functional>
#include <string>
#include <vector>

#include "harness/record/result/case_tries.h"
#include "harness/record/result/result.h"
#include "harness/run/case_runner.h"

namespace gauntlet {

// A case in a world.
struct SuiteItem {
  Case one;
  WorldKind world = WorldKind::kSimulated;
};

struct SuiteOptions {
  int jobs = 1;           // cases at a time
  int max_failures = 0;   // stop after so many; 0: never
  std::string program;    // for real processes
  std::string directory;  // absolute; each case gets a folder in it
  std::string cache_directory;
  std::string build;
  // The command that repeats an item once it is over; null: by its file.
  std::function<std::string(const SuiteItem&)> replay;
  // Called of an item that begins, in the thread that runs it.
  std::function<void(const SuiteItem&)> begins = [](const SuiteItem&) {};
  // Called likewise as the item's reference run, and then its own run, begins.
  std::function<void(const SuiteItem&, CasePhase)> phase = [](const SuiteItem&,
                                                              CasePhase) {};
  // Called of an item that still runs after its Timeouts::slow: in a thread of
  // its own, and perhaps while `done` is.
  std::function<void(const SuiteItem&)> slow = [](const SuiteItem&) {};
  // Asked now and then: nothing more is begun, and what runs is cut off.
  std::function<bool()> interrupted = [] { return false; };
  // Called once if a case had no room in `directory`: nothing more is begun.
  // The case is left out of the results, and its files are removed; what else
  // runs goes on for as long as it finds room.
  std::function<void()> disk_full = [] {};
  // CasePlace::explain, which runs a case again.
  std::function<Explanation(const Case&, const Record&, References&)> explain;
  // Runs a case with a trainer; null: it is an error.
  std::function<CaseOutcome(const Case&, const CasePlace&)> run_trainer;
  // Limit of calls to `explain`. Later failures name the command to run.
  int explain_most = 20;
  // A case of the real world that failed or is inconclusive is run again, at
  // most so many times and until it passes. JoinTries makes one result of it.
  int retries = 0;
  FlakyVerdict flaky = FlakyVerdict::kFails;
};

// Runs them and calls `done` (one call at a time) as each is over. The results
// come in the order of the items; those that were not run are left out. Where a
// case ran in both worlds and the verdicts or the final states differ, the
// later of the two is a failure that says so. Of a case that was cut off in a
// retry, the tries before count.
std::vector<CaseResult> RunSuite(
    const std::vector<SuiteItem>& items, const SuiteOptions& options,
    const std::function<void(const CaseResult&)>& done);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_SUITE_H_
