#include "reports/terminal.h"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "engine/text/columns.h"
#include "engine/text/counted.h"
#include "harness/record/text/facts_text.h"
#include "reports/case_words.h"
#include "reports/events/event_text.h"
#include "reports/explanation.h"
#include "reports/failures.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxNameWidth = 48;
constexpr size_t kWordWidth = std::string_view("INCONCLUSIVE").size();

// ECMA-48, "select graphic rendition".
constexpr std::string_view kGreen = "32";
constexpr std::string_view kRed = "1;31";
constexpr std::string_view kMagenta = "1;35";
constexpr std::string_view kBrightYellow = "1;33";
constexpr std::string_view kYellow = "33";

std::string_view SgrOf(const CaseResult& one) {
  if (one.flaky) return kBrightYellow;
  switch (one.verdict.kind) {
    case VerdictKind::kPass:
      return kGreen;
    case VerdictKind::kFail:
      return kRed;
    case VerdictKind::kError:
    case VerdictKind::kNotRun:
      return kMagenta;
    case VerdictKind::kSkip:
      return kYellow;
  }
  return kGreen;
}

std::string Painted(std::string_view text, std::string_view sgr,
                    Colour colour) {
  if (colour == Colour::kOff) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", sgr, text);
}

// Returns true iff a finding of an invariant has that text.
bool ReportsFinding(const Verdict& verdict, std::string_view text) {
  return std::ranges::any_of(
      verdict.invariants, [&](const InvariantReport& report) {
        return std::ranges::find(report.findings, text, &Finding::message) !=
               report.findings.end();
      });
}

// Returns the reason of the verdict if no other line of the block has it; else
// "".
std::string UnstatedReason(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  // If a case failed only because the two worlds end differently, it has
  // neither expectations nor violations, and the reason is all that can be
  // printed.
  const bool is_bare = verdict.broken_expectations.empty() &&
                       std::ranges::none_of(verdict.invariants,
                                            [](const InvariantReport& report) {
                                              return report.violations > 0;
                                            });
  // The reason may be the text on the planted bug, which the explanation has
  // already.
  const bool is_shown = (verdict.kind == VerdictKind::kError || is_bare) &&
                        verdict.reason != result.summary.planted &&
                        !ReportsFinding(verdict, verdict.reason);
  return is_shown ? verdict.reason : "";
}

// Returns the explanation, with the reason of the verdict behind the cause.
std::vector<ExplanationLine> ExplanationWithReason(const CaseResult& result) {
  std::vector<ExplanationLine> lines = ExplanationOf(result);
  const std::string reason = UnstatedReason(result);
  if (reason.empty()) return lines;
  const bool has_cause = !lines.empty() && lines.front().topic == "cause";
  lines.insert(lines.begin() + (has_cause ? 1 : 0),
               ExplanationLine{"reason", reason});
  return lines;
}

std::string DetailOf(const CaseResult& result) {
  const Verdict& verdict = result.verdict;
  const std::string detail = verdict.reason.empty()
                                 ? FactsText(verdict.facts)
                                 : PlainText(ReasonText(result));
  const std::string note = UnnoticedBugNote(result);
  const std::string reference = ReferenceTimeText(result);
  return detail + (note.empty() ? "" : "; " + PlainText(note)) +
         (reference.empty() ? "" : "; " + reference);
}

size_t NameWidth(const RunResult& result) {
  size_t width = 0;
  for (const CaseResult& one : result.cases) {
    width = std::max(width, std::min(one.name.size(), kMaxNameWidth));
  }
  return width;
}

constexpr size_t kWordColumns = 12;  // "  timeline  "
constexpr size_t kNarrowColumns = 60;
constexpr size_t kFewestColumns = 20;  // minimum width of wrapped text

// Formats "  broken    first text", with further texts of the same word below
// it. In a narrow terminal, the word has a line of its own. `columns` is 0 if
// the output is not a terminal.
class Block {
 public:
  explicit Block(size_t columns)
      : is_narrow_(columns > 0 && columns < kNarrowColumns),
        columns_(columns) {}

  // Adds text for reading: wrapped, with later lines indented.
  void Add(std::string_view word, const std::string& text) {
    if (columns_ == 0) return AddCopied(word, text);
    const size_t indent = (is_narrow_ ? 4 : kWordColumns) + 2;
    const size_t room = columns_ - std::min(columns_, indent);
    std::string_view begin;
    for (const std::string& line :
         Wrapped(PlainText(text), std::max(room, kFewestColumns))) {
      AddLine(word, fmt::format("{}{}", begin, line));
      begin = "  ";
    }
  }

  // Adds a command or a path for copying: it stays on one line.
  void AddCopied(std::string_view word, const std::string& text) {
    AddLine(word, PlainText(text));
  }

  std::string Take() && { return std::move(out_); }

 private:
  void AddLine(std::string_view word, std::string_view line) {
    const std::string_view shown = word == last_ ? "" : word;
    last_ = word;
    if (!is_narrow_) {
      out_ += fmt::format("  {:<9} {}\n", shown, line);
      return;
    }
    if (!shown.empty()) out_ += fmt::format("  {}\n", shown);
    out_ += fmt::format("    {}\n", line);
  }

  const bool is_narrow_;
  const size_t columns_;
  std::string out_;
  std::string last_;
};

// More findings of one invariant are seldom informative.
constexpr size_t kShownFindings = 2;

void AddReport(const CaseResult& result, const InvariantReport& report,
               Block& block) {
  const size_t shown = std::min(report.findings.size(), kShownFindings);
  for (const Finding& finding : std::span(report.findings).first(shown)) {
    block.Add("broken", fmt::format("{} ({}): {}", finding.invariant,
                                    finding.name, finding.message));
  }
  if (report.violations > shown) {
    block.Add("broken", fmt::format("{}: {}", report.invariant,
                                    Counted(report.violations - shown,
                                            "more violation")));
  }
  for (const Consequence& one : result.consequences) {
    if (one.invariant != report.invariant) continue;
    block.Add("broken",
              fmt::format("{} follows: {}", report.invariant, one.why));
  }
}

void AddTries(const CaseResult& result, Block& block) {
  for (const CaseTry& one : result.tries) {
    std::string line = fmt::format("{} {}", VerdictKindName(one.verdict.kind),
                                   CaseSecondsText(one.seconds));
    if (!one.verdict.reason.empty()) line += "  " + one.verdict.reason;
    if (!one.directory.empty()) line += "  " + one.directory;
    block.Add("tries", line);
  }
}

// Columns of a case's line after its word.
struct CaseColumns {
  const std::string& world;
  const std::string& name;
  size_t name_width;
  std::string time;
  std::string detail;
};

std::string RenderColumns(const std::string& word, const CaseColumns& columns) {
  return fmt::format("{} {:<4} {:<{}} {:>6}  {}\n", word,
                     PlainText(columns.world), PlainText(columns.name),
                     columns.name_width, columns.time, columns.detail);
}

}  // namespace

std::string RenderOpening(const RunResult& result) {
  return fmt::format(
      "{}, {}, run {}{}\n", Counted(result.scenarios, "scenario"),
      Counted(result.cases.size(), "case"), PlainText(result.run),
      result.seed ? fmt::format(", seed {}", *result.seed) : "");
}

std::string RenderCaseLine(const CaseResult& result, size_t width,
                           Colour colour) {
  const std::string word =
      fmt::format("{:<{}}", CaseHeading(result), kWordWidth);
  return RenderColumns(Painted(word, SgrOf(result), colour),
                       {.world = result.world,
                        .name = result.name,
                        .name_width = width,
                        // Simulated records have no time when `judge` reads
                        // them.
                        .time = RanHere(result) && result.seconds > 0
                                    ? CaseSecondsText(result.seconds)
                                    : "",
                        .detail = DetailOf(result)});
}

std::string RenderSlowLine(const std::string& name, const std::string& world,
                           double limit, size_t width,
                           std::string_view activity) {
  return RenderColumns(fmt::format("{:<{}}", "SLOW", kWordWidth),
                       {.world = world,
                        .name = name,
                        .name_width = width,
                        .time = ">" + CaseSecondsText(limit),
                        .detail = std::string(activity)});
}

std::string RenderFailure(const CaseResult& result, Colour colour,
                          size_t columns) {
  const Verdict& verdict = result.verdict;
  std::string out =
      fmt::format("{} {} ({})   {}:{}\n",
                  Painted(CaseHeading(result), SgrOf(result), colour),
                  PlainText(result.name), PlainText(result.world),
                  PlainText(result.file), result.line);
  Block block(columns);
  for (const ExplanationLine& line : ExplanationWithReason(result)) {
    block.Add(line.topic, line.text);
  }
  AddTries(result, block);
  for (const std::string& line : verdict.timeline) block.Add("events", line);
  for (const InvariantReport& report : verdict.invariants) {
    AddReport(result, report, block);
  }
  if (!FailedOnlyExpectations(result)) {  // else the explanation has them
    for (const Finding& finding : verdict.broken_expectations) {
      block.Add("expected", finding.message);
    }
  }
  if (!result.replay.empty()) block.AddCopied("replay", result.replay);
  if (!result.timeline.empty()) {
    block.AddCopied("timeline", result.timeline + "  (ui.perfetto.dev)");
  }
  if (!result.directory.empty()) block.AddCopied("files", result.directory);
  return out + std::move(block).Take();
}

std::string RenderReportLine(const std::string& path) {
  Block block(0);
  block.AddCopied("report", path);
  return std::move(block).Take();
}

std::string RenderCounts(const CaseCounts& counts, Colour colour) {
  struct Part {
    uint64_t cases;
    std::string_view word;
    std::string_view sgr;  // empty: not painted
  };
  const Part parts[] = {{counts.passed, "passed", ""},
                        {counts.flaky, "flaky", kBrightYellow},
                        {counts.failed, "failed", kRed},
                        {counts.inconclusive, "inconclusive", kMagenta},
                        {counts.not_run, "not run", kMagenta},
                        {counts.skipped, "skipped", ""}};
  std::string out;
  for (const Part& part : parts) {
    if (part.cases == 0) continue;
    const std::string text = fmt::format("{} {}", part.cases, part.word);
    if (!out.empty()) out += ", ";
    out += part.sgr.empty() ? text : Painted(text, part.sgr, colour);
  }
  return out;
}

std::string RenderSummary(const RunResult& result, Colour colour) {
  const CaseCounts counts = CountCases(result);
  const std::string begin = fmt::format(
      "{} in {:.1f}s: ", Counted(result.cases.size(), "case"), result.seconds);
  // "0 passed" is printed, unlike other counts of 0.
  const std::string none = counts.passed == 0 ? "0 passed" : "";
  const std::string rest = RenderCounts(counts, colour);
  return begin + none + (none.empty() || rest.empty() ? "" : ", ") + rest +
         "\n";
}

std::string RenderSlowest(const RunResult& result, size_t most) {
  std::vector<const CaseResult*> slowest;
  for (const CaseResult& one : result.cases) {
    if (RanHere(one) && one.seconds > 0) slowest.push_back(&one);
  }
  std::ranges::stable_sort(slowest, std::ranges::greater(),
                           [](const CaseResult* one) { return one->seconds; });
  if (slowest.size() > most) slowest.resize(most);
  if (slowest.empty()) return "";
  std::string out =
      fmt::format("slowest {}:\n", Counted(slowest.size(), "case"));
  for (const CaseResult* one : slowest) {
    out += fmt::format("{:>8} {:<4} {}\n", CaseSecondsText(one->seconds),
                       PlainText(one->world), PlainText(one->name));
  }
  return out;
}

std::string RenderVerdicts(const RunResult& result, Colour colour,
                           size_t columns) {
  std::string out;
  const size_t width = NameWidth(result);
  for (const CaseResult& one : result.cases) {
    out += RenderCaseLine(one, width, colour);
  }
  out += "\n";
  for (const CaseResult& one : result.cases) {
    if (!NeedsExplanation(one)) continue;
    out += RenderFailure(one, colour, columns) + "\n";
  }
  return out + RenderSummary(result, colour);
}

std::string RenderRun(const RunResult& result, Colour colour) {
  return RenderOpening(result) + RenderVerdicts(result, colour);
}

int ExitCodeOf(const RunResult& result) {
  const auto has = [&result](VerdictKind kind) {
    return std::ranges::any_of(result.cases, [kind](const CaseResult& one) {
      return one.verdict.kind == kind;
    });
  };
  if (result.cases.empty()) return 4;
  if (has(VerdictKind::kFail)) return 1;
  return has(VerdictKind::kError) || has(VerdictKind::kNotRun) ? 3 : 0;
}

}  // namespace gauntlet
