#include "reports/crash_test/crash_page.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/trainer/verdict/equal_crashes.h"
#include "harness/trainer/verdict/finding_advice.h"
#include "reports/crash_test/crash_strip.h"
#include "reports/html/page/list_table.h"
#include "reports/html/page/page.h"
#include "reports/html/page/text.h"
#include "reports/html/page/verdict_strip.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string TitleOf(const CrashTestResult& result) {
  if (!result.no_verdict.empty()) return "No verdict";
  const std::string states = Counted(result.trials.size(), "crash state");
  return result.findings.empty()
             ? states + ", no findings"
             : fmt::format("{} in {}",
                           Counted(result.findings.size(), "finding"), states);
}

// Returns a line of text as a sentence in a paragraph of its own; "" for "".
std::string ParagraphOf(std::string line) {
  if (line.empty()) return "";
  line[0] = static_cast<char>(std::toupper(line[0]));
  return fmt::format("<p>{}.</p>\n", HtmlText(line));
}

std::string Head(const CrashTestResult& result) {
  std::array<uint64_t, kRecoveryVerdictNames.size()> counts = {};
  for (const CrashVerdict& verdict : result.verdicts)
    ++counts[static_cast<size_t>(verdict.verdict)];
  VerdictStrip strip{.title = TitleOf(result), .counts = {}, .facts = {}};
  for (size_t i = counts.size(); i-- > 0;) {
    if (counts[i] == 0) continue;
    strip.counts.push_back(
        {.css_class = CssClassOf(static_cast<RecoveryVerdict>(i)),
         .name = kRecoveryVerdictNames[i],
         .cases = counts[i]});
  }
  strip.facts = {
      {"command", result.command},
      {"recorded",
       fmt::format("{:.1f} s, {}, {} bytes", result.seconds,
                   Counted(result.crash_points, "crash point"), result.bytes)},
      {"compared", result.compared},
      {"trials", fmt::format("{:.0f} s", result.trial_seconds)}};
  if (result.resume_command != result.command)
    strip.facts.insert(strip.facts.begin() + 1,
                       {"resumed with", result.resume_command});
  for (const CrashControl& control : result.controls) {
    strip.facts.emplace_back(control.name,
                             (control.holds ? "" : "differs: ") + control.text);
  }
  std::string html = RenderVerdictStrip(strip);
  if (!result.no_verdict.empty())
    html += fmt::format("<p>{}</p>\n", HtmlText(result.no_verdict));
  html += ParagraphOf(UntriedCrashesText(result));
  return html;
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string html;
  for (const std::string& line : lines)
    html += fmt::format("<li>{}</li>\n", HtmlText(line));
  return html.empty() ? "" : "<ul>\n" + html + "</ul>\n";
}

std::string FindingHtml(const CrashTestResult& result, size_t index) {
  const TrainerFinding& finding = result.findings[index];
  const CrashTrial& trial = result.trials[finding.trials.front()];
  std::string tail;
  for (const std::string& line : trial.tail) tail += HtmlText(line) + "\n";
  const std::string advice =
      AdviceOnFinding(finding, result.trials, result.logs);
  return fmt::format(
      "<article>\n<h3>{}. {}</h3>\n<p><code>{}</code>: {}</p>\n{}<p>{}</p>\n"
      "{}{}{}<p>Repeat: <code>sh findings/{}/repro.sh</code></p>\n</article>\n",
      index + 1, HtmlText(finding.title), HtmlText(trial.id),
      HtmlText(trial.point), Lines(trial.lost), HtmlText(finding.reason),
      advice.empty() ? "" : "<p>Advice: " + HtmlText(advice) + "</p>\n",
      Lines(trial.differences), tail.empty() ? "" : "<pre>" + tail + "</pre>\n",
      index + 1);
}

std::string CrashTable(const CrashTestResult& result) {
  std::vector<size_t> order;
  for (size_t i = 0; i < result.trials.size(); ++i) order.push_back(i);
  std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    return IsFinding(result.verdicts[i].verdict);
  });
  ListTable table("Crashes", {{"id"},
                              {"crash", "wide"},
                              {"verdict"},
                              {"reason", "wide"},
                              {"seconds", "number"}});
  for (size_t row = 0; row < std::min(order.size(), kMostCrashRows); ++row) {
    const CrashTrial& trial = result.trials[order[row]];
    const CrashVerdict& verdict = result.verdicts[order[row]];
    const std::string equal = EqualCrashesText(trial, verdict);
    table.Add({fmt::format("<code>{}</code>", HtmlText(trial.id)),
               HtmlText(trial.point + (equal.empty() ? "" : "; " + equal)),
               std::string(RecoveryVerdictName(verdict.verdict)),
               HtmlText(verdict.reason),
               fmt::format("{:.1f}", trial.end.seconds)});
  }
  std::string html = table.Render();
  if (order.size() > kMostCrashRows) {
    html += fmt::format("<p>{} more are in result.json.</p>\n",
                        order.size() - kMostCrashRows);
  }
  return html;
}

constexpr std::string_view kStyle = R"css(
article { border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px;
  margin: 12px 0; background: var(--card); overflow-wrap: anywhere; }
pre { overflow-x: auto; font: 12px/1.4 ui-monospace, "DejaVu Sans Mono",
  monospace; }
)css";

}  // namespace

std::string RenderCrashPage(const CrashTestResult& result) {
  std::string findings;
  for (size_t i = 0; i < result.findings.size(); ++i)
    findings += FindingHtml(result, i);
  std::vector<std::string> notes = result.notes;
  for (const std::string& file : result.left_out)
    notes.push_back("not compared: " + file);
  const std::string body =
      Head(result) + HtmlSection("findings", "Findings", findings) +
      HtmlSection("crash-points", "All crashes", RenderCrashStrip(result)) +
      HtmlSection("crashes", "Table",
                  result.trials.empty() ? "" : CrashTable(result)) +
      HtmlSection("notes", "Notes", Lines(notes));
  return HtmlPage("Gauntlet: crash test", "<main>\n" + body + "</main>\n",
                  std::string(kListTableStyle) + std::string(kCrashStripStyle) +
                      std::string(kStyle));
}

}  // namespace gauntlet
