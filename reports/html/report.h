// report.html: verdicts of a run, pictures of its cases and coverage of its
// faults, as one self-contained file.
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
  // Loads the record of a case; nullopt if it was not kept. Called at most once
  // for each case.
  std::function<std::optional<Record>(const CaseResult&)> load;
  // Returns the reason why the kept record of a case cannot be read; "" if the
  // record can be read, or none was kept. Null: reasons are not known.
  std::function<std::string(const CaseResult&)> unreadable = {};
  // Returns the path of the crash test's report, for a case whose scenario has
  // a trainer: such a case has no record. Returns "" for other cases. Null: no
  // case is a crash test.
  std::function<std::string(const CaseResult&)> crash_test = {};
  // Loads the last lines of the logs of a case; null: there are no logs.
  std::function<std::vector<LogTail>(const CaseResult&)> logs = {};
  // Returns the scenario of the case alone, as YAML; "" if it was not kept.
  // Null: there are no scenarios.
  std::function<std::string(const CaseResult&)> scenario = {};
  std::string command = {};  // repeats the run; empty: not known
  FaultCatalogue catalogue = {};
};

// Limits of the page. The page lists everything that it leaves out. Without the
// coverage matrix, it has at most section_bytes, plus one section, plus
// table_bytes.
struct HtmlLimits {
  size_t sections = 200;  // cases with a section; failed ones come first
  size_t section_bytes = 8 * 1024 * 1024;  // for all sections
  size_t picture_bytes = 256 * 1024;       // for one picture
  size_t table_bytes = 16 * 1024 * 1024;   // for the data of the table
  size_t records = 10'000;                 // read for sections and coverage
};

// Equal inputs give equal bytes.
std::string RenderHtml(const HtmlReportInput& input,
                       const HtmlLimits& limits = {});

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_REPORT_H_
