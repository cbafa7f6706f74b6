// Head of a report: title, bar and counts of the verdicts, then facts.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_VERDICT_STRIP_H_
#define GAUNTLET_REPORTS_HTML_PAGE_VERDICT_STRIP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gauntlet {

struct VerdictCount {
  std::string_view css_class;  // "failed", "passed", "inconclusive", "skipped"
  std::string_view name;
  uint64_t cases = 0;
};

struct VerdictStrip {
  std::string title;
  std::vector<VerdictCount> counts;
  // Names and values, as plain text.
  std::vector<std::pair<std::string_view, std::string>> facts;
  std::string below = {};  // HTML, such as commands
};

// Returns a <header> element.
std::string RenderVerdictStrip(const VerdictStrip& strip);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_VERDICT_STRIP_H_
