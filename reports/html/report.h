// report.html: the verdicts of a run, pictures of its cases and what its faults
// cover, as one file that opens without a network.
#ifndef GAUNTLET_REPORTS_HTML_REPORT_H_
#define GAUNTLET_REPORTS_HTML_REPORT_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/record.h"
#include "harness/record/result/result.h"
#include "reports/html/coverage_matrix.h"
#include "reports/html/log_tails.h"

namespace gauntlet {

struct HtmlReportInput {
  const RunResult& result;
  // Loads the record of a case; nullopt if none is kept. Called at most once
  // for each case.
  std::function<std::optional<Record>(const CaseResult&)> load;
  // Loads the ends of the logs of a case that failed; null: none are kept.
  std::function<std::vector<LogTail>(const CaseResult&)> logs = {};
  // Returns the scenario of the case alone, as YAML; "" if none is kept. Null:
  // no case has one.
  std::function<std::string(const CaseResult&)> scenario = {};
  std::string command = {};  // repeats the run; empty: none
  FaultCatalogue catalogue = {};
};

// The page lists everything left out. Beside the coverage matrix it has at most
// section_bytes, one section more, and table_bytes.
struct HtmlLimits {
  size_t sections = 200;  // cases with a section; failed ones come first
  size_t section_bytes = 8 * 1024 * 1024;  // all sections
  size_t picture_bytes = 256 * 1024;       // one picture
  size_t table_bytes = 16 * 1024 * 1024;   // the table's data
  size_t records = 10'000;                 // loaded, for sections and coverage
};

// Equal inputs give equal bytes.
std::string RenderHtml(const HtmlReportInput& input,
                       const HtmlLimits& limits = {});

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_REPORT_H_
