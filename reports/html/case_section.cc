#include "reports/html/case_section.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "engine/text/counted.h"
#include "engine/world/fault_point.h"
#include "harness/record/invariants.h"
#include "harness/record/text/facts_text.h"
#include "harness/record/text/value_text.h"
#include "reports/case_words.h"
#include "reports/explanation.h"
#include "reports/failures.h"
#include "reports/html/coverage_matrix.h"
#include "reports/html/difference_table.h"
#include "reports/html/page/page.h"
#include "reports/html/page/text.h"
#include "reports/html/picture/swim_lane.h"
#include "reports/timeline.h"
#include "reports/timeline_table.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMostFindings = 40;  // for one invariant
constexpr size_t kOpenFindings = 5;   // the others are folded
constexpr size_t kMostRows = 80;      // timeline rows, or planned faults

std::string DurationOf(const CaseResult& result) {
  return DurationText(std::llround(result.seconds * 1000) * 1'000'000);
}

const Finding* FirstFinding(const Verdict& verdict) {
  for (const InvariantReport& report : verdict.invariants) {
    if (!report.findings.empty()) return &report.findings.front();
  }
  return verdict.broken_expectations.empty()
             ? nullptr
             : &verdict.broken_expectations.front();
}

std::string Heading(const CaseResult& result,
                    const std::optional<Record>& record) {
  std::string meta = result.world;
  if (RanHere(result)) {
    meta += " · " + FactsText(result.verdict.facts);
    if (result.seconds > 0) {
      meta += fmt::format(" · {} of wall time", DurationOf(result));
      const std::string reference = ReferenceTimeText(result);
      if (!reference.empty()) meta += fmt::format(" ({})", reference);
    }
    if (record && record->virtual_seconds > 0) {
      meta += fmt::format(
          ", {} of simulated time",
          DurationText(std::llround(record->virtual_seconds * 1e9)));
    } else if (record) {
      meta += fmt::format(", {} from the first event to the last",
                          DurationText(TimeOfEvents(*record)));
    }
  }
  return fmt::format(
      "<summary><h3>{} <span class=\"name\">{}</span></h3>"
      "<span class=\"muted\">{}</span></summary>\n",
      RenderBadge(result), HtmlText(result.name), HtmlText(meta));
}

// Returns the heading for a topic; the page has space for more than one word.
std::string_view HeadingOf(std::string_view topic) {
  if (topic == "training") return "training result";
  if (topic == "next") return "next step";
  return topic == "planted" ? "planted bug" : topic;
}

// Returns the text with the heading of the row to which it refers.
std::string WithHeading(std::string text) {
  constexpr std::string_view kReference = "(see planted)";
  const size_t at = text.find(kReference);
  if (at == text.npos) return text;
  return text.replace(at, kReference.size(),
                      fmt::format("(see {})", HeadingOf("planted")));
}

std::string SummaryRow(std::string_view topic, std::string_view text) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", topic, ProseHtml(text));
}

// Returns "MESSAGE (grace); also outcome".
std::string ViolationSentence(const InvariantReport& report,
                              const std::string& reason) {
  std::string text =
      fmt::format("{} ({})", ViolationText(report), report.invariant);
  if (reason.size() > report.invariant.size()) {
    text += "; also " + reason.substr(report.invariant.size() + 2);
  }
  return text;
}

// Returns "Failed: REASON" for a failed case. The reason of a crash test may
// begin with the verdict `fails`, which is left out.
std::string FailedText(std::string_view reason) {
  constexpr std::string_view kFails = "fails: ";
  if (reason.starts_with(kFails)) reason.remove_prefix(kFails.size());
  return fmt::format("Failed: {}", reason);
}

// Returns a sentence about the planted bug of a case that did not pass.
std::string PlantedBugSentence(const CaseResult& result) {
  if (result.planted_bugs.empty() || !IsFailure(result)) return "";
  // A reason that begins like this belongs to a mutation test, and already
  // states the result for the bug.
  if (result.verdict.reason.starts_with("the planted bug")) return "";
  if (NamedViolation(result.verdict) == nullptr) {
    const bool is_one = result.planted_bugs.size() == 1;
    return fmt::format(" The bug{} {} {} planted in this scenario.",
                       is_one ? "" : "s", fmt::join(result.planted_bugs, ", "),
                       is_one ? "is" : "are");
  }
  return " The planted bug was caught, but the case fails, as the scenario "
         "does "
         "not expect a violation (expect.outcome is not violates).";
}

std::string CauseHtml(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  // After several tries, the reason summarises their results.
  std::string sentence =
      result.tries.empty() ? OutcomeSentence(result) : verdict.reason + ".";
  sentence += PlantedBugSentence(result);
  std::string out =
      fmt::format("<p class=\"cause\">{}</p>\n", ProseHtml(sentence));
  const std::string note = UnnoticedBugNote(result);
  if (!note.empty()) out += fmt::format("<p>Note: {}.</p>\n", HtmlText(note));
  std::vector<ExplanationLine> lines = ExplanationOf(result);
  // The sentence already states a single unmet expectation.
  if (verdict.broken_expectations.size() == 1) {
    std::erase_if(lines, [&sentence](const ExplanationLine& line) {
      return line.topic == "expected" &&
             sentence.find(line.text) != sentence.npos;
    });
  }
  std::string rows;
  std::string_view last;
  for (const ExplanationLine& line : lines) {
    rows += SummaryRow(line.topic == last ? "" : HeadingOf(line.topic),
                       WithHeading(line.text));
    last = line.topic;
  }
  const Finding* first = FirstFinding(verdict);
  if (result.cause.empty() && first != nullptr &&
      verdict.kind != VerdictKind::kPass && !FailedOnlyExpectations(result) &&
      sentence.find(ShortDigests(first->message)) == sentence.npos) {
    rows += SummaryRow("first violation", first->message);
  }
  if (rows.empty()) return out;
  return out + fmt::format("<dl class=\"summary\">\n{}</dl>\n", rows);
}

std::string Picture(const std::optional<Record>& record,
                    const CaseSectionOptions& options) {
  if (!record && !options.unreadable_record.empty()) {
    return fmt::format(
        "<p>The record of this case cannot be read, so there is no picture and "
        "no timeline: {}.</p>\n",
        HtmlText(options.unreadable_record));
  }
  if (!record && !options.crash_test.empty()) {
    return fmt::format(
        "<p>A crash test of a program has no picture and no timeline. Its "
        "report is <code>{}</code>.</p>\n",
        HtmlText(options.crash_test));
  }
  if (!record)
    return "<p class=\"muted\">No record of this case is kept.</p>\n";
  std::string figure = RenderSwimLane(*record, {.id = options.id});
  if (figure.empty()) {
    return "<p class=\"muted\">The record has no events.</p>\n";
  }
  if (figure.size() > options.most_picture_bytes) {
    return fmt::format(
        "<p class=\"muted\">The picture is left out: it has {} bytes, and the "
        "limit is {}.</p>\n",
        GroupedDigits(figure.size()),
        GroupedDigits(options.most_picture_bytes));
  }
  return figure;
}

std::string MoreText(size_t more) {
  return fmt::format("<li class=\"muted\">{} more</li>", GroupedDigits(more));
}

std::string RuleOf(std::string_view invariant) {
  for (const InvariantInfo& info : AllInvariants()) {
    if (info.name == invariant) return HtmlText(info.description);
  }
  return "";
}

// Returns the rule of the check, and the reason for its failure.
std::string WhyHtml(const CaseResult& result, std::string_view invariant) {
  std::string out;
  if (const std::string rule = RuleOf(invariant); !rule.empty()) {
    out = fmt::format("<p class=\"muted\">Rule: {}.</p>", rule);
  }
  for (const Consequence& one : result.consequences) {
    if (one.invariant != invariant) continue;
    out += fmt::format("<p>It follows from the cause: {}.</p>",
                       ProseHtml(one.why));
  }
  return out;
}

std::string FindingHtml(const Finding& finding) {
  return fmt::format("<li><code>{}</code>: {}</li>", HtmlText(finding.name),
                     ProseHtml(finding.message));
}

// Returns the first findings, then the other findings folded, then the number
// of those whose text was not kept.
std::string FindingsHtml(const InvariantReport& report) {
  const size_t open = std::min(report.findings.size(), kOpenFindings);
  const size_t kept = std::min(report.findings.size(), kMostFindings);
  std::string shown;
  std::string folded;
  for (size_t i = 0; i < kept; ++i) {
    (i < open ? shown : folded) += FindingHtml(report.findings[i]);
  }
  std::string out = fmt::format("<ul>{}</ul>", shown);
  if (!folded.empty()) {
    out += fmt::format(
        "<details class=\"more\"><summary>{} more</summary><ul>{}</ul>"
        "</details>",
        GroupedDigits(kept - open), folded);
  }
  if (report.violations > kept) {
    out += fmt::format(
        "<p class=\"muted\">{} more are counted; their texts are not kept.</p>",
        GroupedDigits(report.violations - kept));
  }
  return out;
}

std::string ReportHtml(const CaseResult& result,
                       const InvariantReport& report) {
  return fmt::format("<dt><code>{}</code> {}</dt><dd>{}{}</dd>\n",
                     HtmlText(report.invariant),
                     GroupedCount(report.violations, "violation"),
                     WhyHtml(result, report.invariant), FindingsHtml(report));
}

// Returns each check that passed, with its rule.
std::string PassedChecks(const Verdict& verdict) {
  std::string names;
  std::string rows;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.violations > 0 || !report.findings.empty() ||
        report.instances == 0) {
      continue;
    }
    const std::string name = HtmlText(report.invariant);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    rows += fmt::format("<dt><code>{}</code></dt><dd>{}; checked {}</dd>\n",
                        name, RuleOf(report.invariant),
                        GroupedCount(report.instances, "time"));
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<details class=\"passed\"><summary>Passed checks: {}</summary>"
      "<dl class=\"findings\">\n{}</dl></details>\n",
      names, rows);
}

// Returns a line with the names of the checks that had nothing to check; "" if
// these are none or all.
std::string UnusedChecks(const Verdict& verdict) {
  std::vector<std::string_view> names;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.instances == 0 && report.violations == 0 &&
        report.findings.empty()) {
      names.push_back(report.invariant);
    }
  }
  if (names.empty() || names.size() == verdict.invariants.size()) return "";
  return fmt::format(
      "<p class=\"muted\">Not applicable, as the run had nothing for them to "
      "check: {}</p>\n",
      HtmlText(fmt::format("{}", fmt::join(names, ", "))));
}

std::string FailedChecks(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  std::string reports;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.violations > 0 || !report.findings.empty()) {
      reports += ReportHtml(result, report);
    }
  }
  std::string out;
  if (!reports.empty()) {
    out += fmt::format("<h4>{}</h4>\n<dl class=\"findings\">\n{}</dl>\n",
                       ExpectsViolations(result)
                           ? "Violations (the scenario expects at least one)"
                           : "Failed checks",
                       reports);
  }
  return out + PassedChecks(verdict) + UnusedChecks(verdict);
}

// Returns the list of expectations that are not met, unless the explanation has
// them.
std::string UnmetExpectations(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  if (verdict.broken_expectations.empty() || FailedOnlyExpectations(result)) {
    return "";
  }
  std::string out = "<h4>Unmet expectations</h4>\n<ul>";
  const size_t shown =
      std::min(verdict.broken_expectations.size(), kMostFindings);
  for (size_t i = 0; i < shown; ++i) {
    out += fmt::format("<li>{}</li>",
                       ProseHtml(verdict.broken_expectations[i].message));
  }
  if (verdict.broken_expectations.size() > shown) {
    out += MoreText(verdict.broken_expectations.size() - shown);
  }
  return out + "</ul>\n";
}

// Returns " (point step.begin: before a training step)"; "" if the point is not
// known.
std::string PointNote(const std::string& point) {
  const std::optional<Point> known = FindPoint(point);
  return known ? fmt::format(" <span class=\"muted\">(point {}: {})</span>",
                             HtmlText(point),
                             HtmlText(InfoOf(*known).description))
               : "";
}

std::string PlannedFaults(const Record& record, VerdictKind verdict) {
  if (record.faults.empty()) return "";
  const std::set<std::string> fired = FaultsThatFired(record);
  std::string out = "<h4>Planned faults</h4>\n<ul class=\"faults\">";
  const size_t shown = std::min(record.faults.size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) {
    const RecordFault& fault = record.faults[i];
    const bool has_fired = fired.contains(fault.id);
    const std::string state =
        verdict == VerdictKind::kSkip
            ? ""
            : fmt::format(" <span class=\"{}\">{}</span>",
                          has_fired ? "fired" : "never-fired",
                          has_fired ? "fired" : "never fired");
    out += fmt::format("<li>fault <code>{}</code>: {}{}{}</li>",
                       HtmlText(fault.id), HtmlText(fault.summary), state,
                       PointNote(fault.point));
  }
  if (record.faults.size() > shown)
    out += MoreText(record.faults.size() - shown);
  return out + "</ul>\n";
}

std::string VerdictTimelineHtml(const Verdict& verdict) {
  if (verdict.timeline.empty()) return "";
  std::string out = fmt::format(
      "<details class=\"effects\"{}><summary>Faults and their effects, {}"
      "</summary><ol>",
      verdict.kind == VerdictKind::kFail ? " open" : "",
      Counted(verdict.timeline.size(), "line"));
  const size_t shown = std::min(verdict.timeline.size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) {
    out += fmt::format("<li>{}</li>", ProseHtml(verdict.timeline[i]));
  }
  if (verdict.timeline.size() > shown)
    out += MoreText(verdict.timeline.size() - shown);
  return out + "</ol></details>\n";
}

// Returns the lines as HTML.
std::string LinesHtml(std::string_view text) {
  std::string lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines += HtmlText(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return lines;
}

// Returns a sentence about the rows of a timeline that are left out.
std::string LeftOutRowsHtml(std::span<const TimelineRow> rows,
                            const CaseResult& result) {
  size_t events = 0;
  for (const TimelineRow& row : rows) {
    for (const TimelineCell& cell : row.cells) events += cell.events;
  }
  return fmt::format(
      "<p class=\"muted\">The timeline is cut here: {} with {} left out. "
      "<code>gauntlet show{}</code> prints all of them.</p>\n",
      GroupedCount(rows.size(), "row"), GroupedCount(events, "event"),
      result.directory.empty() ? "" : " " + HtmlText(result.directory));
}

// Returns the output of `gauntlet show`. If it is too long, rows in the middle
// are left out: the begin and the end of the run are shown.
std::string TimelineHtml(const Record& record, const CaseResult& result) {
  constexpr size_t kMostBytesAtBegin = 32 * 1024;
  constexpr size_t kMostBytesAtEnd = 16 * 1024;
  constexpr int kWidth = 140;
  const Timeline timeline = TimelineOf(record, {});
  if (timeline.rows.empty()) return "";
  const TimelineLines lines = RenderTimelineLines(timeline, {.width = kWidth});
  const size_t rows = lines.rows.size();
  std::string begin = LinesHtml(lines.head);
  size_t first = 0;  // first row that is not in `begin`
  for (; first < rows && begin.size() <= kMostBytesAtBegin; ++first) {
    begin += LinesHtml(lines.rows[first]);
  }
  std::string end = LinesHtml(lines.ends);
  size_t last = rows;  // first row in `end`
  for (; last > first && end.size() <= kMostBytesAtEnd; --last) {
    end = LinesHtml(lines.rows[last - 1]) + end;
  }
  std::string out = fmt::format(
      "<details class=\"timeline\"><summary>Timeline, {}</summary>\n{}"
      "<pre tabindex=\"0\">{}",
      GroupedCount(rows, "row"), kScrollHint, begin);
  if (first < last) {
    out += fmt::format(
        "</pre>\n{}<pre tabindex=\"0\">",
        LeftOutRowsHtml(std::span(timeline.rows).subspan(first, last - first),
                        result));
  }
  return out + end + "</pre>\n</details>\n";
}

std::string Tries(const CaseResult& result) {
  if (result.tries.empty()) return "";
  std::string out = "<h4>Tries</h4>\n<ol class=\"tries\">";
  for (const CaseTry& one : result.tries) {
    out += fmt::format("<li>{} {} <code>{}</code></li>",
                       VerdictWord(one.verdict.kind),
                       HtmlText(one.verdict.reason), HtmlText(one.directory));
  }
  return out + "</ol>\n";
}

// Returns a note on the command that repeats the case: the files and the build
// that it needs, and how the new run may differ.
std::string_view NoteOnRepeat(const CaseResult& result) {
  if (!result.replay.starts_with("gauntlet replay ")) {
    return "It runs the scenario file again, in a new run.";
  }
  return result.world == "sim"
             ? "It needs the files of the run and the same build. A simulated "
               "case runs exactly the same again."
             : "It needs the files of the run and the same build. A real case "
               "may run differently: then the first difference is printed.";
}

std::string RepeatHtml(const CaseResult& result) {
  if (result.replay.empty() || result.verdict.kind == VerdictKind::kSkip) {
    return "";
  }
  return fmt::format(
      "<h4>Repeat this case</h4>\n{}<p class=\"muted\">{}{}</p>\n",
      RenderCommand(result.replay), NoteOnRepeat(result),
      result.seed ? fmt::format(" The seed of this case is {}.", *result.seed)
                  : "");
}

std::string LeftOutText(std::string_view why) {
  return fmt::format("<p class=\"muted\">The scenario is left out: {}.</p>\n",
                     why);
}

// Returns true iff the scenario runs a trainer. Its program is not part of the
// scenario.
bool HasTrainer(std::string_view yaml) {
  constexpr std::string_view kKey = "trainer:";
  return yaml.starts_with(kKey) ||
         yaml.find(fmt::format("\n{}", kKey)) != yaml.npos;
}

// Returns a sentence about line numbers if the page refers to the scenario file
// by line; else "".
std::string LinesNote(const CaseResult& result) {
  const bool has_lines =
      !result.file.empty() &&
      result.summary.next.find(result.file + ":") != std::string::npos;
  return has_lines ? fmt::format(
                         " Line numbers above are those of the original "
                         "file, <code>{}</code>.",
                         HtmlText(result.file))
                   : "";
}

// Returns the scenario of a failed case, so that the page suffices to repeat
// it. For a trainer, the program is needed too.
std::string ScenarioHtml(const CaseResult& result,
                         const CaseSectionOptions& options) {
  constexpr size_t kMostBytes = 48 * 1024;
  const std::string& yaml = options.scenario;
  if (!NeedsExplanation(result)) return "";
  if (yaml.empty()) {
    return LeftOutText(options.why_no_scenario.empty()
                           ? "its file is not kept"
                           : HtmlText(options.why_no_scenario));
  }
  if (yaml.size() > kMostBytes) {
    return LeftOutText(fmt::format("it has {} bytes, and the limit is {}",
                                   GroupedDigits(yaml.size()),
                                   GroupedDigits(kMostBytes)));
  }
  std::string lines;
  uint64_t count = 0;
  for (size_t begin = 0; begin < yaml.size(); ++count) {
    const size_t end = std::min(yaml.find('\n', begin), yaml.size());
    lines += HtmlText(std::string_view(yaml).substr(begin, end - begin),
                      kMostBytes) +
             "\n";
    begin = end + 1;
  }
  const std::string file = result.scenario + ".yaml";
  const std::string_view how =
      HasTrainer(yaml)
          ? "in the folder where the relative paths of "
            "<code>trainer.command</code> start, and run the command there; it "
            "needs the files of the program too"
          : "and run the command; it needs nothing else";
  return fmt::format(
      "<details class=\"scenario\"><summary>Scenario, {}</summary>\n"
      "<p>Save it as <code>{}</code> {}.{}</p>\n{}"
      "<pre tabindex=\"0\">{}</pre></details>\n",
      Counted(count, "line"), HtmlText(file), how, LinesNote(result),
      RenderCommand(fmt::format(
          "gauntlet run {} --world {}{}", file, result.world,
          result.seed ? fmt::format(" --seed {}", *result.seed) : "")),
      lines);
}

std::string Places(const CaseResult& result) {
  if (result.file.empty()) return "";
  std::string out =
      fmt::format("<p class=\"muted\">Scenario <code>{}:{}</code>",
                  HtmlText(result.file), result.line);
  if (!result.directory.empty()) {
    out +=
        fmt::format(", files in <code>{}</code>", HtmlText(result.directory));
  }
  return out + "</p>\n";
}

}  // namespace

std::string OutcomeSentence(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  const InvariantReport* const violation = NamedViolation(verdict);
  const std::string reason = violation != nullptr
                                 ? ViolationSentence(*violation, verdict.reason)
                                 : WholeReasonText(result);
  if (!reason.empty()) {
    return fmt::format(
        "{}{}",
        verdict.kind == VerdictKind::kFail ? FailedText(reason) : reason,
        reason.ends_with('.') ? "" : ".");
  }
  const RunFacts& facts = verdict.facts;
  if (verdict.kind != VerdictKind::kPass) return "No reason is recorded.";
  if (facts.refused) {
    return fmt::format("Refused to train after {} and {}; all checks passed.",
                       Counted(facts.faults_fired, "fault"),
                       RestartsText(facts));
  }
  if (facts.faults_fired == 0) return "All checks passed; no fault fired.";
  const std::string resumed = ResumedText(facts);
  if (facts.restarts == 0 && resumed.empty()) {
    return fmt::format("All checks passed after {}, without a restart.",
                       Counted(facts.faults_fired, "fault"));
  }
  std::string text = "Recovered from " + Counted(facts.faults_fired, "fault");
  if (facts.restarts > 0) text += " with " + RestartsText(facts);
  if (!resumed.empty()) text += "; " + resumed;
  return text + ".";
}

std::string CssClassOf(const CaseResult& result) {
  std::string word(CaseWord(result));
  std::ranges::replace(word, ' ', '-');
  return word;
}

std::string RenderBadge(const CaseResult& result) {
  return fmt::format("<span class=\"badge {}\">{}</span>", CssClassOf(result),
                     CaseWord(result));
}

std::string RenderCommand(const std::string& command) {
  if (command.empty()) return "";
  return fmt::format(
      "<div class=\"command\"><code>{}</code><button type=\"button\" "
      "class=\"copy\" hidden>Copy</button></div>\n",
      HtmlText(command));
}

std::string RenderCaseSection(const CaseResult& result,
                              const std::optional<Record>& record,
                              const CaseSectionOptions& options) {
  std::string out = fmt::format("<details class=\"case {}\" id=\"{}\"{}>\n",
                                CssClassOf(result), options.id,
                                NeedsExplanation(result) ? " open" : "");
  out += Heading(result, record) + CauseHtml(result) + Tries(result);
  if (RanHere(result) || record) out += Picture(record, options);
  out += RenderDifferences(result) + FailedChecks(result) +
         UnmetExpectations(result);
  if (record) out += PlannedFaults(*record, result.verdict.kind);
  out += RepeatHtml(result);
  out += ScenarioHtml(result, options) + VerdictTimelineHtml(result.verdict);
  if (record) out += TimelineHtml(*record, result);
  return out + RenderLogTails(options.logs) + Places(result) + "</details>\n";
}

}  // namespace gauntlet
