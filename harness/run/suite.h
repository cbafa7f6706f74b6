// Runs many cases, one after another or several at a time.
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
  // Returns the command that repeats an ended item; null: `gauntlet run FILE`.
  std::function<std::string(const SuiteItem&)> replay;
  // Called when an item begins, on the thread that runs it.
  std::function<void(const SuiteItem&)> begins = [](const SuiteItem&) {};
  // Called in the same way when the item's reference run begins, and then when
  // its own run begins.
  std::function<void(const SuiteItem&, CasePhase)> phase = [](const SuiteItem&,
                                                              CasePhase) {};
  // Called for an item that still runs after its Timeouts::slow, on a separate
  // thread, possibly while `done` is called.
  std::function<void(const SuiteItem&)> slow = [](const SuiteItem&) {};
  // Polled: once it returns true, no item begins, and running ones are aborted.
  std::function<bool()> interrupted = [] { return false; };
  // Called once if a case had no room in `directory`: no further item begins.
  // The case is left out of the results, and its files are removed. Other
  // running items continue as long as they find room.
  std::function<void()> disk_full = [] {};
  // As CasePlace::explain. Runs the case again.
  std::function<Explanation(const Case&, const Record&, References&)> explain;
  // Returns true iff `explain` searches for a difference that the record has;
  // null: always. Only such cases count towards explain_most.
  std::function<bool(const Record&)> needs_search;
  // Runs a case with a trainer; null: such a case is an error.
  std::function<CaseOutcome(const Case&, const CasePlace&)> run_trainer;
  // Maximum number of cases that `explain` searches. Later ones name the
  // command that explains them.
  int explain_most = kMostExplained;
  // Maximum number of times that a real case which failed or is inconclusive is
  // repeated, until it passes. JoinTries merges the tries into one result.
  int retries = 0;
  FlakyVerdict flaky = FlakyVerdict::kFails;
};

// Runs the items and calls `done` (one call at a time) as each ends. Returns
// the results in the order of the items, without those that were not run. If a
// case passed in both worlds, but with different final states, the later result
// becomes a failure that reports the difference. If a case is interrupted in a
// retry, its earlier tries count.
std::vector<CaseResult> RunSuite(
    const std::vector<SuiteItem>& items, const SuiteOptions& options,
    const std::function<void(const CaseResult&)>& done);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_SUITE_H_
