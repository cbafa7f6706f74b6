#include "reports/ci/markdown_summary.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "engine/text/counted.h"
#include "reports/case_words.h"
#include "reports/events/event_text.h"
#include "reports/explanation.h"
#include "reports/failures.h"
#include "reports/html/page/text.h"
#include "reports/terminal.h"
#include "reports/timeline.h"
#include "reports/timeline_table.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kLongestName = 160;
constexpr size_t kLongestCause = 400;
constexpr size_t kLongestLine = 200;
constexpr size_t kExcerptRows = 24;
constexpr size_t kRowsBeforeIncident = 2;
constexpr size_t kExcerptLines = 60;
constexpr size_t kTimelineLines = 20;
constexpr size_t kMostNotes = 20;
constexpr size_t kMostExpectations = 20;
constexpr int kExcerptWidth = 110;

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Returns true iff the i-th character may be special in Markdown.
bool HasMeaning(std::string_view text, size_t i) {
  const auto is_word = [&](size_t at) {
    return at < text.size() && IsWordCharacter(text[at]);
  };
  switch (text[i]) {
    case '_':  // no emphasis inside a word
      return !(i > 0 && is_word(i - 1) && is_word(i + 1));
    case ':':  // an address, or the :name: of an emoji
      return i + 1 < text.size() && text[i + 1] != ' ';
    case '.':  // www.
      return i >= 3 && text.substr(i - 3, 3) == "www";
    default:
      return std::string_view("|\\`*[]~@#!$").find(text[i]) !=
             std::string_view::npos;
  }
}

std::string Code(std::string_view text, size_t most) {
  return fmt::format("<code>{}</code>", MarkdownText(text, most));
}

// Returns a <pre> element, which keeps line breaks.
std::string Preformatted(const std::vector<std::string>& lines) {
  std::string out = "<pre>";
  for (const std::string& line : lines) {
    out += HtmlText(line, kLongestLine) + "\n";
  }
  return out + "</pre>\n";
}

// Returns at most `most` lines, then "…" if there are more.
std::vector<std::string> FirstLines(std::string_view text, size_t most) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < most) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!text.empty()) lines.emplace_back("…");
  return lines;
}

TimelineBound AtTime(int64_t ns) {
  return {.unit = TimelineBound::Unit::kNanoseconds,
          .value = static_cast<uint64_t>(std::max<int64_t>(ns, 0))};
}

// Returns the rows around the first fault or loss.
Timeline ExcerptOf(const Record& record) {
  Timeline whole = TimelineOf(record, {});
  if (whole.rows.size() <= kExcerptRows) return whole;
  const auto incident =
      std::ranges::find_if(whole.rows, [](const TimelineRow& row) {
        return row.tone == RowTone::kFault || row.tone == RowTone::kDetection;
      });
  size_t first = incident == whole.rows.end()
                     ? whole.rows.size() - kExcerptRows
                     : static_cast<size_t>(incident - whole.rows.begin());
  first -= std::min(first, kRowsBeforeIncident);
  const size_t last = std::min(first + kExcerptRows, whole.rows.size()) - 1;
  return TimelineOf(record, {.from = AtTime(whole.rows[first].t_ns),
                             .to = AtTime(whole.rows[last].until_ns)});
}

std::vector<std::string> TimelineLines(const CaseResult& one,
                                       const std::optional<Record>& record) {
  if (record) {
    return FirstLines(
        RenderTimeline(ExcerptOf(*record), {.width = kExcerptWidth}),
        kExcerptLines);
  }
  std::vector<std::string> lines = one.verdict.timeline;
  if (lines.size() > kTimelineLines) {
    lines.resize(kTimelineLines);
    lines.emplace_back("…");
  }
  return lines;
}

std::string TableRow(const CaseResult& one) {
  return fmt::format(
      "| {} | {}<br>{} | {} | {} | {} |\n", CaseHeading(one),
      Code(one.name, kLongestName),
      MarkdownText(fmt::format("{}, line {}", one.file, one.line),
                   kLongestName),
      MarkdownText(one.world, kLongestName),
      MarkdownText(CaseSecondsText(one.seconds), kLongestName),
      MarkdownText(FailureCause(one), kLongestCause));
}

// Returns "Training" for "training".
std::string Heading(std::string_view topic) {
  std::string heading(topic);
  heading[0] =
      static_cast<char>(std::toupper(static_cast<unsigned char>(heading[0])));
  return heading;
}

// Returns the unmet expectations if checks failed too: ExplanationOf has them
// only if no check did.
std::string ExpectationsWithChecks(const CaseResult& one) {
  if (FailedOnlyExpectations(one)) return "";
  const std::vector<Finding>& unmet = one.verdict.broken_expectations;
  const size_t shown = std::min(unmet.size(), kMostExpectations);
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    out += fmt::format("Expected: {}\n\n",
                       MarkdownText(unmet[i].message, kLongestCause));
  }
  if (unmet.size() > shown) {
    out += fmt::format("Expected: {}\n\n",
                       Counted(unmet.size() - shown, "more expectation"));
  }
  return out;
}

// Returns a <details> element. An empty line ends HTML and begins Markdown.
std::string Details(const CaseResult& one,
                    const std::optional<Record>& record) {
  std::string out = fmt::format(
      "<details><summary>{} ({}) {}</summary>\n\nCause: {}\n\n",
      Code(one.name, kLongestName), MarkdownText(one.world, kLongestName),
      CaseWord(one), MarkdownText(FailureCause(one), kLongestCause));
  // True if the lines of ExplanationOf name the unmet expectations.
  const bool is_explained = FailedOnlyExpectations(one) && one.tries.empty();
  if (!one.verdict.reason.empty() && one.verdict.reason != FailureCause(one) &&
      !is_explained) {
    // After several tries, the reason states how many failed.
    out += fmt::format("{}: {}\n\n",
                       one.tries.empty() ? "Checks that failed" : "Verdict",
                       MarkdownText(one.verdict.reason, kLongestCause));
  }
  for (const ExplanationLine& line : ExplanationOf(one)) {
    if (line.topic == "cause") continue;  // already printed above
    out += fmt::format("{}: {}\n\n", Heading(line.topic),
                       MarkdownText(line.text, kLongestCause));
  }
  out += ExpectationsWithChecks(one);
  const std::vector<std::string> timeline = TimelineLines(one, record);
  if (!timeline.empty()) out += Preformatted(timeline) + "\n";
  if (!one.replay.empty()) out += Preformatted({one.replay}) + "\n";
  return out + "</details>\n\n";
}

class SummaryWriter {
 public:
  SummaryWriter(const MarkdownSummaryInput& input, const MarkdownLimits& limits)
      : input_(input),
        limits_(limits),
        failures_(CasesToExplain(input.result)) {}

  std::string Write() {
    AddHead();
    AddNotes();
    if (!failures_.empty()) {
      AddTable();
      AddDetails();
    }
    return std::move(out_);
  }

 private:
  // Bytes reserved for the lines on what is left out.
  static constexpr size_t kReserve = 1024;

  // Returns false, and adds nothing, if the text does not fit.
  bool Add(const std::string& text) {
    if (out_.size() + text.size() + kReserve > limits_.bytes) return false;
    out_ += text;
    return true;
  }

  void AddHead() {
    const RunResult& result = input_.result;
    std::string counts = RenderSummary(result, Colour::kOff);
    counts.resize(counts.find_last_not_of('\n') + 1);
    out_ = fmt::format("## Gauntlet: {}\n\n", MarkdownText(counts, 500));
    out_ += fmt::format("Run {}, build {}.", Code(result.run, kLongestName),
                        Code(result.build, kLongestName));
    if (!result.command.empty()) {
      out_ += fmt::format(" Repeat it: {}", Code(result.command, 2000));
    }
    out_ += "\n\n";
  }

  // Adds notes on cases that passed although a bug is planted.
  void AddNotes() {
    size_t shown = 0;
    size_t notes = 0;
    for (const CaseResult& one : input_.result.cases) {
      const std::string note = UnnoticedBugNote(one);
      if (note.empty()) continue;
      ++notes;
      if (shown == kMostNotes) continue;
      if (Add(fmt::format("Note on {} ({}): {}\n\n",
                          Code(one.name, kLongestName),
                          MarkdownText(one.world, kLongestName),
                          MarkdownText(note, kLongestCause)))) {
        ++shown;
      }
    }
    if (notes > shown) {
      out_ += fmt::format("+{} more such notes: report.html has all.\n\n",
                          notes - shown);
    }
  }

  void AddTable() {
    out_ +=
        "| verdict | case | world | time | cause |\n"
        "|:--|:--|:--|--:|:--|\n";
    size_t shown = 0;
    while (shown < std::min(failures_.size(), limits_.rows) &&
           // Keeps half of the space for details.
           out_.size() < limits_.bytes / 2 &&
           Add(TableRow(*failures_[shown]))) {
      ++shown;
    }
    out_ += "\n";
    if (shown < failures_.size()) {
      out_ += fmt::format("+{} more: report.html and result.json have all.\n\n",
                          failures_.size() - shown);
    }
  }

  void AddDetails() {
    size_t shown = 0;
    while (shown < std::min(failures_.size(), limits_.details)) {
      const CaseResult& one = *failures_[shown];
      const std::optional<Record> record =
          input_.load ? input_.load(one) : std::nullopt;
      if (!Add(Details(one, record))) break;
      ++shown;
    }
    if (shown > 0 && shown < failures_.size()) {
      out_ +=
          fmt::format("+{} more without details.\n", failures_.size() - shown);
    }
  }

  const MarkdownSummaryInput& input_;
  const MarkdownLimits& limits_;
  const std::vector<const CaseResult*> failures_;
  std::string out_;
};

}  // namespace

std::string MarkdownText(std::string_view text, size_t most) {
  const std::string html = HtmlText(text, most);
  std::string out;
  for (size_t i = 0; i < html.size(); ++i) {
    // Keeps escapes of HtmlText, such as "&#39;".
    const bool is_escape = html[i] == '#' && i > 0 && html[i - 1] == '&';
    if (is_escape || !HasMeaning(html, i)) {
      out += html[i];
    } else {
      out += fmt::format("&#{};", static_cast<int>(html[i]));
    }
  }
  return out;
}

std::string RenderMarkdownSummary(const MarkdownSummaryInput& input,
                                  const MarkdownLimits& limits) {
  return SummaryWriter(input, limits).Write();
}

}  // namespace gauntlet
