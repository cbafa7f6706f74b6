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
  // Loads the record of a case; nullopt if it was not kept. Null: there are no
  // records.
  std::function<std::optional<Record>(const CaseResult&)> load = {};
};

// GitHub drops a summary of more than 1 MiB.
struct MarkdownLimits {
  size_t bytes = 900 * 1024;
  size_t rows = 200;    // in the table of failures
  size_t details = 20;  // failures with a timeline
};

// Returns counts and a table of the failed, flaky and inconclusive cases with
// their causes; then, for the first of these cases, cause, timeline and replay
// command. States how many cases are left out. Equal inputs give equal bytes.
std::string RenderMarkdownSummary(const MarkdownSummaryInput& input,
                                  const MarkdownLimits& limits = {});

// Escapes untrusted text for a line of Markdown, a table cell or an HTML
// element, so that no character has a special meaning. Text of more than `most`
// bytes ends in "…".
std::string MarkdownText(std::string_view text, size_t most);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CI_MARKDOWN_SUMMARY_H_
