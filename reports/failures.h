// Selects the failed, flaky and inconclusive cases of a run, for reports.
#ifndef GAUNTLET_REPORTS_FAILURES_H_
#define GAUNTLET_REPORTS_FAILURES_H_

#include <string>
#include <vector>

#include "harness/record/result/result.h"

namespace gauntlet {

// Returns true iff the case failed or is inconclusive.
bool IsFailure(const CaseResult& one);

// Returns true iff the case ran and has a verdict on its run: it was neither
// skipped nor left out.
bool RanHere(const CaseResult& one);

// Returns true iff the case failed, is inconclusive or is flaky.
bool NeedsExplanation(const CaseResult& one);

// Returns pointers into the result: all cases that need explanation, failed
// ones first, then flaky ones, then inconclusive ones.
std::vector<const CaseResult*> CasesToExplain(const RunResult& result);

// Returns true iff every check passed, and the case failed only because the run
// did not meet the expectations of its scenario.
bool FailedOnlyExpectations(const CaseResult& one);

// Returns the report of the check that the verdict's reason names first; null
// if the reason names no check.
const InvariantReport* NamedViolation(const Verdict& verdict);
// Returns the first sentence of a violation, with ShortDigests. REQUIRES: the
// report has one.
std::string ViolationText(const InvariantReport& report);

// Returns true iff the case passed, or failed only because the two worlds end
// differently. Violations of such a case, if it has any, are expected by its
// scenario.
bool ExpectsViolations(const CaseResult& one);

// Returns the reason of the verdict. If the case was tried only once, the text
// of the first check or expectation replaces its name: "store: the manifest is
// torn; also saves", or "expectation restarts: expected exactly 1, found 2;
// also saves".
std::string WholeReasonText(const CaseResult& one);
// As WholeReasonText, but a long text of a check or an expectation is cut, so
// that it fits on the line of a case.
std::string ReasonText(const CaseResult& one);

// Returns one sentence: the cause if it is known, else the first violation,
// else the reason of the verdict.
std::string FailureCause(const CaseResult& one);

// Returns "skip-manifest-fsync: a save does not sync its manifest"; only the
// name if this program does not know the bug.
std::string PlantedBugText(const std::string& name);

// Returns "planted bug NAME is on; no check noticed it"; "" if the case did not
// pass, a check reported a violation, or no bug is planted.
std::string UnnoticedBugNote(const CaseResult& one);

// Returns "1.9s"; or "14ms" for short times, which would round to 0.
std::string CaseSecondsText(double seconds);

// Returns "39.0s of it for the reference run, which is cached now"; "" if the
// reference run took less than a second.
std::string ReferenceTimeText(const CaseResult& one);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_FAILURES_H_
