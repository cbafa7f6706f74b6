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
  int max_failures = 0;   // stop after this many failures; 0: never
  std::string program;    // for real processes
  std::string directory;  // absolute; each case gets a folder in it
  std::string cache_directory;
  std::string build;
  // Returns the command that repeats an item after it has ended. If this is
  // null, the command is `gauntlet run FILE`.
  std::function<std::string(const SuiteItem&)> replay;
  // Called when an item begins, on the thread that runs it.
  std::function<void(const SuiteItem&)> begins = [](const SuiteItem&) {};
  // Called on the thread that runs the item: when its reference run begins, and
  // again when its own run begins.
  std::function<void(const SuiteItem&, CasePhase)> phase = [](const SuiteItem&,
                                                              CasePhase) {};
  // Called for an item that still runs after its Timeouts::slow, on a separate
  // thread, possibly while `done` is called.
  std::function<void(const SuiteItem&)> slow = [](const SuiteItem&) {};
  // Polled during the run. Once it has returned true, no further item begins,
  // and running ones are aborted.
  std::function<bool()> interrupted = [] { return false; };
  // Called at most once: when a case first finds no room in `directory`. From
  // then on no further item begins, but running ones continue as long as they
  // find room. A case without room is left out of the results, and its files
  // are removed, unless it failed.
  std::function<void()> disk_full = [] {};
  // As CasePlace::explain. Runs the case again.
  std::function<Explanation(const Case&, const Record&, References&)> explain;
  // Returns true iff `explain` has to search for a first difference of the
  // record. If this is null, every failed case needs a search. Only searches
  // count towards explain_most.
  std::function<bool(const Record&)> needs_search;
  // Runs a case that crash-tests another program (Case::trainer). If this is
  // null, such a case is an error.
  std::function<CaseOutcome(const Case&, const CasePlace&)> run_trainer;
  // Maximum number of cases in which `explain` searches for a first difference.
  // For later cases, the advice names the command that searches.
  int explain_most = kMostExplained;
  // Maximum number of times that a case in the real world is repeated if it
  // fails or is inconclusive. No try follows one that passes. JoinTries merges
  // the tries into one result.
  int retries = 0;
  FlakyVerdict flaky = FlakyVerdict::kFails;
};

// Runs the items, and calls `done` as each ends, with one call at a time.
// Returns the results in the order of the items, without items that did not
// run. If a case passes in both worlds, but with different final states, its
// later result becomes a failure that reports the difference. If a case is
// interrupted in a repeated try, its result consists of the tries before.
std::vector<CaseResult> RunSuite(
    const std::vector<SuiteItem>& items, const SuiteOptions& options,
    const std::function<void(const CaseResult&)>& done);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_SUITE_H_
