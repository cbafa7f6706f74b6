// Failed, flaky and inconclusive cases of a run, for reports that list them.
#ifndef GAUNTLET_REPORTS_FAILURES_H_
#define GAUNTLET_REPORTS_FAILURES_H_

#include <string>
#include <vector>

#include "harness/record/result/result.h"

namespace gauntlet {

// Returns true iff the case failed or is inconclusive.
bool IsFailure(const CaseResult& one);

// Returns true iff the case ran and has a verdict on its run: it is neither
// skipped nor left.
bool RanHere(const CaseResult& one);

// Returns true iff the case failed, is inconclusive or is flaky.
bool NeedsExplanation(const CaseResult& one);

// Pointers into the result to all cases that need explanation: failed ones
// first, then flaky ones, then inconclusive ones.
std::vector<const CaseResult*> CasesToExplain(const RunResult& result);

// One sentence: the cause if one is known, else the first violation, else the
// reason of the verdict.
std::string FailureCause(const CaseResult& one);

// "skip-manifest-fsync: a save does not sync its manifest"; the name alone if
// this program does not have the bug.
std::string PlantedBugText(const std::string& name);

// "planted bug NAME is on; no check noticed it"; "": the case did not pass, a
// check reported a violation, or no bug is planted.
std::string UnnoticedBugNote(const CaseResult& one);

// "1.9s"; "14ms" where that would be nothing.
std::string CaseSecondsText(double seconds);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_FAILURES_H_
