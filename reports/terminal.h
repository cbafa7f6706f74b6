// Verdicts for a terminal: a line for each case, a block for each failure, then
// a summary.
#ifndef GAUNTLET_REPORTS_TERMINAL_H_
#define GAUNTLET_REPORTS_TERMINAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/record/result/result.h"

namespace gauntlet {

enum class Colour : uint8_t { kOff, kOn };

// Returns the line before the run: "3 scenarios, 20 cases, run 7f3a, seed 42".
std::string RenderOpening(const RunResult& result);
// Returns "PASS         sim  kill[workers=2]   14ms  1 fault, 1 restart, …";
// `width` is that of the column of names.
std::string RenderCaseLine(const CaseResult& result, size_t width,
                           Colour colour);
// Returns a line about a running case: "SLOW   real  kill[workers=2]  >30.0s it
// still runs". `limit` is in seconds; `activity` is the detail.
std::string RenderSlowLine(const std::string& name, const std::string& world,
                           double limit, size_t width,
                           std::string_view activity);
// Explains a case that NeedsExplanation: cause, failed checks, timeline, tries,
// and the command that repeats it. Wraps sentences to `columns`, but not
// commands and paths, which people copy; 0 wraps nothing.
std::string RenderFailure(const CaseResult& result, Colour colour,
                          size_t columns = 0);

// Returns a line with the path of report.html, for a run with cases that need
// explanation.
std::string RenderReportLine(const std::string& path);
// Returns "18 passed, 1 flaky, 1 failed", without counts of 0.
std::string RenderCounts(const CaseCounts& counts, Colour colour);
// Returns "20 cases in 11.8s: 14 passed, 1 flaky, 1 failed, 1 inconclusive, 1
// not run, 2 skipped".
std::string RenderSummary(const RunResult& result, Colour colour);
// Returns "slowest 2 cases:", and a line for each with its seconds, world and
// name; "" if none ran.
std::string RenderSlowest(const RunResult& result, size_t most);

// Returns the lines of all cases, the failures and the summary of a finished
// run. `columns` is that of RenderFailure.
std::string RenderVerdicts(const RunResult& result, Colour colour,
                           size_t columns = 0);
// Returns the opening, then the verdicts.
std::string RenderRun(const RunResult& result, Colour colour);

// Returns the exit code of `gauntlet run`: 0 passed, 1 failed, 3 inconclusive,
// 4 nothing selected. (Skipped cases do not count as failures here; the caller
// handles --strict.)
int ExitCodeOf(const RunResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TERMINAL_H_
