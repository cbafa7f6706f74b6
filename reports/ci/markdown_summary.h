// summary.md: the verdicts of a run as Markdown, for the job summary of GitHub
// Actions and for comments on pull requests.
#ifndef GAUNTLET_REPORTS_CI_MARKDOWN_SUMMARY_H_
#define GAUNTLET_REPORTS_CI_MARKDOWN_SUMMARY_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

inline constexpr std::string_view kSummaryFileName = "summary.md";

struct MarkdownSummaryInput {
  const RunResult& result;
  // Loads the record of a case; nullopt if none is kept. Null: there are none.
  std::function<std::optional<Record>(const CaseResult&)> load = {};
};

// GitHub drops a summary of more than 1 MiB.
struct MarkdownLimits {
  size_t bytes = 900 * 1024;
  size_t rows = 200;    // in the table of failures
  size_t details = 20;  // failures with a timeline
};

// Counts, a table of the failed, flaky and inconclusive cases with their
// causes, and for the first ones cause, timeline and replay command. It says
// how many are left out. Equal inputs give equal bytes.
std::string RenderMarkdownSummary(const MarkdownSummaryInput& input,
                                  const MarkdownLimits& limits = {});

// Escapes untrusted text for a line of Markdown, a table cell or an HTML
// element: no character has a meaning there. Text of more than `most` bytes
// ends in "…".
std::string MarkdownText(std::string_view text, size_t most);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CI_MARKDOWN_SUMMARY_H_
