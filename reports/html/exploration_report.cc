#include "reports/html/exploration_report.h"

#include <algorithm>
#include <span>

#include "reports/html/case_section.h"
#include "reports/html/page/list_table.h"
#include "reports/html/page/page.h"
#include "reports/html/page/text.h"
#include "reports/html/page/words.h"
#include "reports/html/picture/symbols.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostSurvivors = 80;  // changes that survived in a crash state

constexpr std::string_view kStyle = R"css(
.origin { margin: 18px 0 -6px; }
)css";

std::string Lines(const std::vector<std::string>& lines) {
  std::string html;
  for (const std::string& line : lines) {
    html += (html.empty() ? "" : "<br>") + HtmlText(line);
  }
  return html;
}

std::string IdOf(size_t finding) { return fmt::format("finding-{}", finding); }

// Returns the violated check and the planted bugs, each on its line.
std::string CheckHtml(const ReportedFinding& finding) {
  std::string html = fmt::format("<code>{}</code>", HtmlText(finding.check));
  for (const std::string& bug : finding.result.planted_bugs) {
    html += fmt::format("<br>planted bug <code>{}</code>", HtmlText(bug));
  }
  return html;
}

// Returns the cause, or else the first finding, or else the verdict's reason.
std::string FindingCause(const CaseResult& result) {
  if (!result.cause.empty()) return result.cause;
  for (const InvariantReport& report : result.verdict.invariants) {
    if (!report.findings.empty()) return report.findings.front().message;
  }
  return result.verdict.reason;
}

class FindingsPart {
 public:
  FindingsPart(const ExplorationReport& report, const ExplorationLimits& limits)
      : report_(report), limits_(limits) {
    const auto& findings = report.findings;
    while (sections_ < std::min(findings.size(), limits.sections) &&
           html_.size() < limits.section_bytes) {
      AddSection(findings[sections_]);
    }
    for (const ReportedCrashState& state : report.crash_findings) {
      if (crash_sections_ >= limits.sections ||
          html_.size() >= limits.section_bytes) {
        break;
      }
      AddCrashSection(state);
    }
  }

  std::string Render() const {
    const size_t all = report_.findings.size() + report_.crash_findings.size();
    if (all == 0) {
      return HtmlSection("findings", "Findings", "<p>Nothing was found.</p>\n");
    }
    std::string html = SymbolDefinitions();
    if (!report_.findings.empty()) html += Table();
    const size_t shown = sections_ + crash_sections_;
    if (shown < all) {
      html += fmt::format(
          "<p>{} of {} are shown; the limit is {} or {} bytes. Each finding "
          "is stored as a file.</p>\n",
          GroupedDigits(shown), GroupedCount(all, "finding"),
          GroupedCount(limits_.sections, "section"),
          GroupedDigits(limits_.section_bytes));
    }
    return HtmlSection("findings", "Findings",
                       html + RenderWords(html_) + html_);
  }

 private:
  std::string Table() const {
    ListTable list("findings", {{"finding", "number"},
                                {"check"},
                                {"cause", "wide"},
                                {"shrunk faults", "wide"}});
    const size_t listed = std::min(report_.findings.size(), limits_.listed);
    for (size_t i = 0; i < listed; ++i) {
      const ReportedFinding& finding = report_.findings[i];
      list.Add({i < sections_
                    ? fmt::format("<a href=\"#{}\">{}</a>", IdOf(i + 1), i + 1)
                    : fmt::format("{}", i + 1),
                CheckHtml(finding), HtmlText(FindingCause(finding.result), 400),
                finding.faults.empty() ? "none" : Lines(finding.faults)});
    }
    std::string html = list.Render();
    if (listed < report_.findings.size()) {
      html += fmt::format(
          "<p>{} more.</p>\n",
          GroupedCount(report_.findings.size() - listed, "finding"));
    }
    return html;
  }

  void AddSection(const ReportedFinding& finding) {
    const std::optional<Record> record = finding.record == nullptr
                                             ? std::nullopt
                                             : std::optional(*finding.record);
    html_ += fmt::format("<p class=\"muted origin\">Finding {}: {}</p>\n",
                         ++sections_, HtmlText(finding.origin));
    html_ += RenderCaseSection(finding.result, record,
                               {.id = IdOf(sections_),
                                .most_picture_bytes = limits_.picture_bytes,
                                .scenario = finding.scenario,
                                .why_no_scenario = finding.why_no_scenario});
  }

  void AddCrashSection(const ReportedCrashState& state) {
    std::string survived;
    const size_t lines = std::min(state.survived.size(), kMostSurvivors);
    for (const std::string& line : std::span(state.survived).first(lines)) {
      survived += fmt::format("<li>{}</li>", HtmlText(line));
    }
    if (lines < state.survived.size()) {
      survived +=
          fmt::format("<li>{} more; the finding's file has all</li>",
                      GroupedCount(state.survived.size() - lines, "line"));
    }
    html_ += fmt::format(
        "<details class=\"case failed\" id=\"crash-state-{}\" open>\n"
        "<summary><h3><span class=\"badge failed\">failed</span> <span "
        "class=\"name\">{}</span></h3></summary>\n<p class=\"cause\">{}</p>\n"
        "<p>Expected: {}</p>\n<p>Found: {}</p>\n",
        ++crash_sections_, HtmlText(state.id), HtmlText(state.event),
        HtmlText(state.expected), HtmlText(state.found));
    if (!survived.empty()) {
      html_ += fmt::format("<h4>On the disk</h4>\n<ul>{}</ul>\n", survived);
    }
    if (!state.replay.empty()) {
      html_ += "<h4>Repeat this</h4>\n" + RenderCommand(state.replay);
    }
    html_ += "</details>\n";
  }

  const ExplorationReport& report_;
  const ExplorationLimits& limits_;
  std::string html_;
  size_t sections_ = 0;
  size_t crash_sections_ = 0;
};

std::string GrowthPart(const ExplorationReport& report) {
  std::string plots;
  for (const StepPlot& plot : report.growth) plots += RenderStepPlot(plot);
  return HtmlSection("growth", "Coverage over time",
                     "<div class=\"plots\">\n" + plots + "</div>\n");
}

// Returns the section on coverage goals: first those never reached, then the
// others, the rarest first.
std::string GoalsPart(const ExplorationReport& report) {
  std::vector<ReportedGoal> goals = report.goals;
  std::ranges::stable_sort(goals, {}, &ReportedGoal::cases);
  const auto missed = std::ranges::count(goals, 0u, &ReportedGoal::cases);
  ListTable list("coverage goals",
                 {{"goal"}, {"cases", "number"}, {"meaning", "wide"}});
  for (const ReportedGoal& goal : goals) {
    list.Add({fmt::format("<code>{}</code>", HtmlText(goal.name)),
              goal.cases > 0
                  ? GroupedDigits(goal.cases)
                  : fmt::format("<span class=\"missed\">never{}</span>",
                                goal.rare ? " (rare)" : ""),
              HtmlText(goal.description)});
  }
  return HtmlSection(
      "goals", "Coverage goals",
      fmt::format("<p>Never reached: {} of {}. An exploration of the usual "
                  "length may miss a rare goal.</p>\n{}",
                  GroupedDigits(static_cast<uint64_t>(missed)),
                  GroupedCount(goals.size(), "goal"), list.Render()));
}

std::string CrashStatesPart(const ExplorationReport& report) {
  ListTable list("crash states", {{"disk"},
                                  {"window"},
                                  {"crash points", "number"},
                                  {"outcomes", "number"},
                                  {"distinct states", "number"},
                                  {"left out", "number"},
                                  {"expected refusals", "number"},
                                  {""}});
  for (const ReportedCrashWindow& one : report.crash_windows) {
    list.Add({HtmlText(one.disk), HtmlText(one.window),
              GroupedDigits(one.crash_points), GroupedDigits(one.outcomes),
              GroupedDigits(one.states), fmt::format("{:.4g}", one.left_out),
              GroupedDigits(one.refusals),
              one.finished ? "" : "<span class=\"missed\">unfinished</span>"});
  }
  return HtmlSection("crash-states", "Crash states", list.Render());
}

std::string CoveragePart(const ExplorationReport& report) {
  std::string html;
  if (!report.findings.empty()) {
    html =
        "<p>Counts the faults of the cases. The runs that shrink a finding are "
        "not cases: its shrunk faults count only if a case has them too.</p>\n";
  }
  return HtmlSection("coverage", "Fault coverage",
                     html + report.coverage->Render());
}

std::string NotTriedPart(const ExplorationReport& report) {
  ListTable list("what was not tried", {{"what", "wide"}, {"why", "wide"}});
  for (const NotTried& one : report.not_tried) {
    list.Add({HtmlText(one.what), HtmlText(one.why)});
  }
  return HtmlSection("not-tried", "Not tried",
                     report.not_tried.empty()
                         ? "<p>Nothing that the mode tries was left out.</p>\n"
                         : list.Render());
}

}  // namespace

std::string RenderExploration(const ExplorationReport& report,
                              const ExplorationLimits& limits) {
  std::string links;
  std::string parts;
  const auto add = [&](std::string_view id, std::string_view title,
                       const std::string& html) {
    links += fmt::format("{}<a href=\"#{}\">{}</a>", links.empty() ? "" : " · ",
                         id, title);
    parts += html;
  };
  add("findings", "Findings", FindingsPart(report, limits).Render());
  if (!report.growth.empty()) {
    add("growth", "Coverage over time", GrowthPart(report));
  }
  if (!report.goals.empty()) add("goals", "Goals", GoalsPart(report));
  if (report.coverage) {
    add("coverage", "Fault coverage", CoveragePart(report));
  }
  if (!report.crash_windows.empty()) {
    add("crash-states", "Crash states", CrashStatesPart(report));
  }
  add("not-tried", "Not tried", NotTriedPart(report));
  const std::string body = fmt::format(
      "<main>\n{}<nav aria-label=\"parts of this page\">{}</nav>\n{}</main>\n",
      RenderVerdictStrip(report.strip), links, parts);
  return HtmlPage(fmt::format("Gauntlet exploration of {}: {}", report.base,
                              report.strip.title),
                  body,
                  std::string(kListTableStyle) + std::string(kStyle) +
                      std::string(kStepPlotStyle));
}

}  // namespace gauntlet
