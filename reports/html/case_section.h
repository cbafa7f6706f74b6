// The section of one case: its cause, the values that differ, picture, checks,
// how to repeat it, timeline and logs.
#ifndef GAUNTLET_REPORTS_HTML_CASE_SECTION_H_
#define GAUNTLET_REPORTS_HTML_CASE_SECTION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/record.h"
#include "harness/record/result/result.h"
#include "reports/html/log_tails.h"

namespace gauntlet {

struct CaseSectionOptions {
  std::string id;  // unique in the page
  // Bound on the picture; a larger one is replaced by a note.
  size_t most_picture_bytes = 256 * 1024;
  std::vector<LogTail> logs = {};  // one for each process of the case
  std::string scenario = {};       // YAML of the case; empty: none is kept
};

// A <details> element; open iff the case failed, is flaky or inconclusive. Its
// size is bounded: long texts and lists are cut, and the section says so.
std::string RenderCaseSection(const CaseResult& result,
                              const std::optional<Record>& record,
                              const CaseSectionOptions& options);

// The word of the case's verdict as a class of CSS: "not-run".
std::string CssClassOf(const CaseResult& result);

// The word of the case's verdict in a frame of its colour.
std::string RenderBadge(const CaseResult& result);

// A command and a button that copies it.
std::string RenderCommand(const std::string& command);

// One sentence: the verdict's reason, or else what happened.
std::string CauseOf(const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_CASE_SECTION_H_
