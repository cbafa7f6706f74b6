// The rules of the Chrome trace event format that viewers depend on.
#ifndef GAUNTLET_TESTS_REPORTS_TRACE_TRACE_RULES_H_
#define GAUNTLET_TESTS_REPORTS_TRACE_TRACE_RULES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

inline constexpr size_t kMostTraceBytes = size_t{64} << 20;

// Returns the first violations in a trace, as text; empty if there are none.
//
// - The text is JSON of at most `most_bytes`; traceEvents is a list of objects.
// - Every event has a name, a known phase, a process, a thread and a finite
//   time in microseconds, not negative and less than a year.
// - X has a duration. B and E are balanced per thread and have equal names.
//   Slices of one thread nest.
// - i has a scope; the values of C are numbers.
// - In each flow, s precedes f. Both lie in slices of their threads; f declares
//   this by bp.
// - In each async operation (category and id), b and e are balanced.
// - M names processes and threads, each once; all that have events are named.
//   No two processes have threads of the same number.
std::vector<std::string> TraceViolations(std::string_view text,
                                         size_t most_bytes = kMostTraceBytes);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_REPORTS_TRACE_TRACE_RULES_H_
