#include "reports/html/report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/text/counted.h"
#include "reports/failures.h"
#include "reports/html/case_section.h"
#include "reports/html/case_table.h"
#include "reports/html/page/page.h"
#include "reports/html/page/text.h"
#include "reports/html/page/verdict_strip.h"
#include "reports/html/page/words.h"
#include "reports/html/picture/symbols.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::vector<VerdictCount> CountsOf(const RunResult& result) {
  const CaseCounts counts = CountCases(result);
  return {{"failed", "failed", counts.failed},
          {"flaky", "flaky", counts.flaky},
          {"inconclusive", "inconclusive", counts.inconclusive},
          {"passed", "passed", counts.passed},
          {"skipped", "skipped", counts.skipped},
          {"not-run", "not run", counts.not_run}};
}

std::string TitleOf(const RunResult& result) {
  std::string title = GroupedCount(result.cases.size(), "case");
  char separator = ':';
  for (const VerdictCount& count : CountsOf(result)) {
    if (count.cases == 0) continue;
    title += fmt::format("{} {} {}", separator, GroupedDigits(count.cases),
                         count.name);
    separator = ',';
  }
  return title;
}

// Returns "1" if the run has a seed; "1 in each case" if it has none, but all
// cases have the same one; else "one per case".
std::string SeedText(const RunResult& result) {
  if (result.seed) return fmt::format("{}", *result.seed);
  if (result.cases.empty() || !result.cases.front().seed) return "one per case";
  const std::optional<uint64_t> first = result.cases.front().seed;
  const bool is_same = std::ranges::all_of(
      result.cases,
      [&first](const CaseResult& one) { return one.seed == first; });
  return is_same ? fmt::format("{} in each case", *first) : "one per case";
}

std::string HeadOf(const HtmlReportInput& input) {
  const RunResult& result = input.result;
  VerdictStrip strip = {
      .title = TitleOf(result),
      .counts = CountsOf(result),
      .facts = {{"run", result.run},
                {"scenarios", GroupedDigits(result.scenarios)},
                {"build", result.build},
                {"seed", SeedText(result)},
                {"wall time", DurationText(std::llround(result.seconds * 1000) *
                                           1'000'000)}}};
  if (!input.command.empty()) {
    strip.below =
        "<p class=\"muted\">To repeat this run in the folder of its scenario "
        "files:"
        "</p>\n" +
        RenderCommand(input.command);
  }
  return RenderVerdictStrip(strip);
}

// Builds sections and coverage in one pass over the records.
class RecordParts {
 public:
  RecordParts(const HtmlReportInput& input, const HtmlLimits& limits)
      : input_(input), limits_(limits), coverage_(input.catalogue) {
    for (const size_t i : CasesByVerdict(input.result)) {
      if (loaded_ >= limits_.records) break;
      ++loaded_;
      AddCase(i);
    }
  }

  const std::set<size_t>& sections() const { return with_section_; }
  const std::string& html() const { return html_; }
  const CoverageMatrix& coverage() const { return coverage_; }
  size_t loaded() const { return loaded_; }

 private:
  void AddCase(size_t i) {
    const CaseResult& one = input_.result.cases[i];
    const std::optional<Record> record =
        input_.load ? input_.load(one) : std::nullopt;
    if (record) coverage_.Add(*record);
    if (with_section_.size() >= limits_.sections ||
        html_.size() >= limits_.section_bytes) {
      return;
    }
    with_section_.insert(i);
    html_ += RenderCaseSection(
        one, record,
        {.id = SectionId(i),
         .most_picture_bytes = limits_.picture_bytes,
         .unreadable_record =
             !record && input_.unreadable ? input_.unreadable(one) : "",
         .crash_test = input_.crash_test ? input_.crash_test(one) : "",
         .logs = input_.logs ? input_.logs(one) : std::vector<LogTail>(),
         .scenario = input_.scenario && NeedsExplanation(one)
                         ? input_.scenario(one)
                         : ""});
  }

  const HtmlReportInput& input_;
  const HtmlLimits& limits_;
  CoverageMatrix coverage_;
  std::set<size_t> with_section_;
  std::string html_;
  size_t loaded_ = 0;
};

// Returns the indices of the cases that are crash tests of a program.
std::set<size_t> CrashTestsIn(const HtmlReportInput& input) {
  std::set<size_t> crash_tests;
  if (!input.crash_test) return crash_tests;
  for (size_t i = 0; i < input.result.cases.size(); ++i) {
    const CaseResult& one = input.result.cases[i];
    if (one.world == "real" && !input.crash_test(one).empty())
      crash_tests.insert(i);
  }
  return crash_tests;
}

std::string MebibytesText(size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string CasesPart(const CaseTable& table, const HtmlLimits& limits) {
  std::string out = "<section id=\"list\">\n<h2>Cases</h2>\n" + table.html;
  if (table.left_out > 0) {
    out += fmt::format(
        "<p>{} left out: the table is limited to {}. result.json has "
        "all.</p>\n",
        GroupedCount(table.left_out, "case"),
        MebibytesText(limits.table_bytes));
  }
  return out + "</section>\n";
}

// Returns the sections of the cases, below explanations of all terms that occur
// in them or in `head`, the HTML above them.
std::string SectionsPart(const RecordParts& parts, size_t cases,
                         const HtmlLimits& limits, const std::string& head) {
  std::string out = "<section id=\"sections\">\n<h2>What happened</h2>\n" +
                    SymbolDefinitions();
  if (parts.sections().size() < cases) {
    out += fmt::format(
        "<p>{} of {} have a section, failed and inconclusive ones first. The "
        "limit is {} or {}. The commands <code>gauntlet show</code> and "
        "<code>gauntlet replay</code> work for the others.</p>\n",
        GroupedDigits(parts.sections().size()), GroupedCount(cases, "case"),
        GroupedCount(limits.sections, "section"),
        MebibytesText(limits.section_bytes));
  }
  out +=
      "<p class=\"toggles\" hidden><button type=\"button\" "
      "id=\"open-all\">Open "
      "all</button> <button type=\"button\" id=\"close-all\">Close all</button>"
      "</p>\n";
  return out + RenderWords(head + parts.html()) + parts.html() + "</section>\n";
}

// If a run has several cases, the matrix is open if at least this many pairs of
// fault kind and point are planned.
constexpr size_t kMinOpenPairs = 10;

std::string CoveragePart(const RecordParts& parts, size_t cases,
                         size_t crash_tests) {
  std::string out = "<section id=\"coverage\">\n<h2>Fault coverage</h2>\n";
  if (crash_tests > 0) {
    out += fmt::format(
        "<p>The faults of {} are not counted: a program has no fault "
        "points.</p>\n",
        GroupedCount(crash_tests, "crash test"));
  }
  if (crash_tests == cases && cases > 0) return out + "</section>\n";
  if (cases > 1 && parts.loaded() < cases) {
    out +=
        fmt::format("<p>Counts {} of {}: no more records are read.</p>\n",
                    GroupedDigits(parts.loaded()), GroupedCount(cases, "case"));
  }
  // With one case or few pairs, the table is almost empty, and the sections of
  // the cases already list the faults.
  const size_t pairs = parts.coverage().planned_pairs();
  if (cases > 1 && pairs >= kMinOpenPairs) {
    return out + parts.coverage().Render() + "</section>\n";
  }
  return out + fmt::format(
                   "<details><summary>Matrix of fault kinds and fault "
                   "points: {} with a planned "
                   "fault</summary>\n{}</details></section>\n",
                   Counted(pairs, "pair"), parts.coverage().Render());
}

constexpr std::string_view kContents =
    "<nav aria-label=\"parts of this page\"><a href=\"#list\">Cases</a> · "
    "<a href=\"#sections\">What happened</a> · "
    "<a href=\"#coverage\">Fault coverage</a></nav>\n";

}  // namespace

std::string RenderHtml(const HtmlReportInput& input, const HtmlLimits& limits) {
  const size_t cases = input.result.cases.size();
  const RecordParts parts(input, limits);
  const std::set<size_t> crash_tests = CrashTestsIn(input);
  const CaseTable table = RenderCaseTable(input.result, parts.sections(),
                                          limits.table_bytes, crash_tests);
  const std::string head = HeadOf(input);
  std::string body = "<main>\n" + head;
  body += kContents;
  body += CasesPart(table, limits);
  body += SectionsPart(parts, cases, limits, head);
  body += CoveragePart(parts, cases, crash_tests.size());
  body += "</main>\n";
  return HtmlPage(fmt::format("Gauntlet run {}: {}", input.result.run,
                              TitleOf(input.result)),
                  body);
}

}  // namespace gauntlet
