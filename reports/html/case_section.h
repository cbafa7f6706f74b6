// Section of one case: cause, differing values, picture, checks, replay
// command, timeline and logs.
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
  // Limit for the picture; a larger one is replaced by a note.
  size_t most_picture_bytes = 256 * 1024;
  // Reason why the kept record cannot be read; empty: the record can be read,
  // or none is kept.
  std::string unreadable_record = {};
  std::string crash_test =
      {};  // path of a crash test's report; "": no crash test
  std::vector<LogTail> logs = {};  // one for each process of the case
  std::string scenario = {};       // YAML of the case; empty: not kept
  // Reason why there is no scenario; empty: its file was not kept.
  std::string why_no_scenario = {};
};

// Returns a <details> element, which is open iff the case failed, is flaky or
// inconclusive. Its size is limited: long texts and lists are cut, with a note.
std::string RenderCaseSection(const CaseResult& result,
                              const std::optional<Record>& record,
                              const CaseSectionOptions& options);

// Returns the word of the case's verdict as a CSS class: "not-run".
std::string CssClassOf(const CaseResult& result);

// Returns the word of the case's verdict in a frame of the verdict's colour.
std::string RenderBadge(const CaseResult& result);

// Returns a command with a button that copies it.
std::string RenderCommand(const std::string& command);

// Returns one sentence: the reason of the verdict (WholeReasonText); if there
// is none, the outcome.
std::string OutcomeSentence(const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_CASE_SECTION_H_
