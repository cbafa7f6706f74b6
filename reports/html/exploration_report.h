// report.html of an exploration: what was tried, reached, found and left out.
#ifndef GAUNTLET_REPORTS_HTML_EXPLORATION_REPORT_H_
#define GAUNTLET_REPORTS_HTML_EXPLORATION_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/record/record.h"
#include "harness/record/result/result.h"
#include "reports/html/coverage_matrix.h"
#include "reports/html/page/verdict_strip.h"
#include "reports/html/picture/step_plot.h"

namespace gauntlet {

struct ReportedGoal {
  std::string name;
  std::string description;
  bool rare = false;   // a normal exploration may not reach it
  uint64_t cases = 0;  // number of cases that reached it
};

// A plan that violates a check.
struct ReportedFinding {
  CaseResult result;  // of the shrunken plan, with its cause
  const Record* record = nullptr;
  std::string check;                // "trajectory (state-digest)"
  std::vector<std::string> faults;  // of the shrunken plan, one line each
  std::string origin;         // the cases that found it, and the shrinking
  std::string scenario = {};  // YAML; empty: none was written
  std::string why_no_scenario = {};  // reason; empty if one was written
};

// An on-disk state from which recovery fails.
struct ReportedCrashState {
  std::string id;
  std::string event;  // "power lost after …"
  std::vector<std::string> survived;
  std::string expected;
  std::string found;
  std::string replay;  // command; empty: no file was kept
};

// The crash states of one part of a run (`window`: "save", "recovery" and so
// on) on one disk.
struct ReportedCrashWindow {
  std::string disk;
  std::string window;
  uint64_t crash_points = 0;
  uint64_t outcomes = 0;
  uint64_t states = 0;  // distinct
  double left_out = 0;
  uint64_t refusals = 0;  // resumes that were rightly refused
  bool finished = true;
};

struct NotTried {
  std::string what;
  std::string why;
};

struct ExplorationReport {
  std::string base;
  VerdictStrip strip;
  std::vector<StepPlot> growth;  // coverage by number of cases
  std::vector<ReportedGoal> goals;
  std::optional<CoverageMatrix> coverage;  // nullopt: no fault points
  std::vector<ReportedFinding> findings;
  std::vector<ReportedCrashState> crash_findings;
  std::vector<ReportedCrashWindow> crash_windows;
  std::vector<NotTried> not_tried;
};

// Limits of the page. The page lists everything that it leaves out. Its parts
// that grow with the number of cases have at most section_bytes plus one
// section.
struct ExplorationLimits {
  size_t listed = 500;  // findings in the table
  size_t sections = 50;
  size_t section_bytes = 4 * 1024 * 1024;
  size_t picture_bytes = 256 * 1024;  // for one picture
};

// Equal inputs give equal bytes.
std::string RenderExploration(const ExplorationReport& report,
                              const ExplorationLimits& limits = {});

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_EXPLORATION_REPORT_H_
