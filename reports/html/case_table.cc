#include "reports/html/case_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "harness/record/text/facts_text.h"
#include "reports/case_words.h"
#include "reports/failures.h"
#include "reports/html/case_section.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using nlohmann::json;

constexpr size_t kStaticRows = 50;
constexpr size_t kLongestCaseName = 160;
constexpr size_t kLongestReason = 1000;
// In the row of a case with a section, which has the whole reason.
constexpr size_t kLongestReasonWithSection = 200;

// Words of CaseWord, in the order of the table.
constexpr std::array<std::string_view, 6> kWordOrder = {
    "failed", "flaky", "inconclusive", "passed", "skipped", "not run"};

size_t RankOf(const CaseResult& one) {
  return static_cast<size_t>(std::ranges::find(kWordOrder, CaseWord(one)) -
                             kWordOrder.begin());
}

struct Column {
  std::string_view title;
  std::string_view css_class;  // class of its cells
};
constexpr Column kColumns[] = {
    {"case", "name"},
    {"verdict", "verdict"},
    {"world", "world"},
    {"faults", "number faults"},
    {"restarts", "number restarts"},
    {"recomputed steps", "number recomputed"},
    {"wall time", "number duration"},
    {"reason", "reason"},
};

// Texts that many rows share; each is stored once.
class SharedTexts {
 public:
  size_t IndexOf(const std::string& text) {
    const auto [at, is_new] = indices_.emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return at->second;
  }
  size_t bytes() const {
    size_t sum = 0;
    for (const std::string& text : texts_) sum += text.size() + 3;
    return sum;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, size_t> indices_;
  std::vector<std::string> texts_;
};

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Returns the reason of the verdict, the cause and the note on an unnoticed
// bug, as far as they exist.
std::string WholeReasonOf(const CaseResult& one) {
  std::string text;
  for (const std::string& part :
       {WholeReasonText(one), one.cause.empty() ? "" : "cause: " + one.cause,
        UnnoticedBugNote(one)}) {
    if (part.empty()) continue;
    text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

// Returns the reason as far as it fits into the table. `section`: index of the
// case's section; -1: none.
std::string ReasonOf(const CaseResult& one, int64_t section) {
  return CutText(WholeReasonOf(one),
                 section < 0 ? kLongestReason : kLongestReasonWithSection);
}

// Counts of a case's row; -1: the case has no such count.
struct RowCounts {
  int64_t restarts = -1;
  int64_t recomputed = -1;
};

// Returns the counts of a case that is not a crash test. A run that did not
// resume has no recomputed steps.
RowCounts CountsOf(const RunFacts& facts) {
  const uint64_t recomputed = CountRecomputed(facts);
  RowCounts counts = {.restarts = static_cast<int64_t>(facts.restarts)};
  if (recomputed > 0 || !ResumedText(facts).empty()) {
    counts.recomputed = static_cast<int64_t>(recomputed);
  }
  return counts;
}

std::string CountText(int64_t count) {
  return count < 0 ? "–" : fmt::format("{}", count);
}

json RowOf(const CaseResult& one, int64_t section, const RowCounts& counts,
           SharedTexts& texts) {
  return json::array({CutText(one.name, kLongestCaseName), RankOf(one),
                      texts.IndexOf(CutText(one.world, kLongestCaseName)),
                      one.verdict.facts.faults_fired, counts.restarts,
                      counts.recomputed,
                      static_cast<int64_t>(std::llround(one.seconds * 1000)),
                      texts.IndexOf(ReasonOf(one, section)), section});
}

std::string Cell(const Column& column, const std::string& html) {
  return fmt::format("<td class=\"{}\" data-title=\"{}\">{}</td>",
                     column.css_class, column.title, html);
}

std::string StaticRow(const CaseResult& one, int64_t section,
                      const RowCounts& counts) {
  std::string name = HtmlText(one.name, kLongestCaseName);
  if (section >= 0) {
    name = fmt::format("<a href=\"#{}\">{}</a>",
                       SectionId(static_cast<size_t>(section)), name);
  }
  const std::array<std::string, 8> cells = {
      name,
      RenderBadge(one),
      HtmlText(one.world, kLongestCaseName),
      fmt::format("{}", one.verdict.facts.faults_fired),
      CountText(counts.restarts),
      CountText(counts.recomputed),
      DurationText(std::llround(one.seconds * 1000) * 1'000'000),
      HtmlText(ReasonOf(one, section))};
  std::string out = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    out += Cell(kColumns[i], cells[i]);
  }
  return out + "</tr>\n";
}

std::string Filters(const SharedTexts& worlds) {
  std::string out =
      "<form class=\"filters\" id=\"filters\" hidden>\n"
      "<label>Search <input type=\"search\" id=\"search\" "
      "placeholder=\"name or reason\" autocomplete=\"off\"></label>\n"
      "<label>Verdict <select id=\"verdict\"><option value=\"\">all</option>";
  for (size_t i = 0; i < kWordOrder.size(); ++i) {
    out += fmt::format("<option value=\"{}\">{}</option>", i, kWordOrder[i]);
  }
  out +=
      "</select></label>\n<label>World <select id=\"world\">"
      "<option value=\"\">all</option>";
  for (const std::string& world : worlds.texts()) {
    out += fmt::format("<option>{}</option>", HtmlText(world));
  }
  return out + "</select></label>\n</form>\n";
}

std::string Head() {
  std::string out = "<thead><tr>";
  for (const Column& column : kColumns) {
    out += fmt::format(
        "<th scope=\"col\" class=\"{}\"><button type=\"button\">{}</button>"
        "</th>",
        column.css_class, column.title);
  }
  return out + "</tr></thead>\n";
}

constexpr std::string_view kPager =
    "<div class=\"pager\" id=\"pager\" hidden>"
    "<button type=\"button\" id=\"previous\">Previous</button>"
    "<span id=\"shown\" role=\"status\"></span>"
    "<button type=\"button\" id=\"next\">Next</button></div>\n";

}  // namespace

std::vector<size_t> CasesByVerdict(const RunResult& result) {
  std::vector<size_t> order(result.cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, {}, [&result](size_t i) { return RankOf(result.cases[i]); });
  return order;
}

std::string SectionId(size_t case_index) {
  return fmt::format("case-{}", case_index);
}

CaseTable RenderCaseTable(const RunResult& result,
                          const std::set<size_t>& sections, size_t most_bytes,
                          const std::set<size_t>& crash_tests) {
  const std::vector<size_t> order = CasesByVerdict(result);
  SharedTexts worlds;
  SharedTexts texts;
  std::string first_rows;
  std::string rows;
  size_t shown = 0;
  for (const size_t i : order) {
    const CaseResult& one = result.cases[i];
    const int64_t section =
        sections.contains(i) ? static_cast<int64_t>(i) : int64_t{-1};
    const RowCounts counts =
        crash_tests.contains(i) ? RowCounts{} : CountsOf(one.verdict.facts);
    const std::string row = Dump(RowOf(one, section, counts, texts));
    if (rows.size() + row.size() + texts.bytes() > most_bytes) break;
    rows += (rows.empty() ? "" : ",\n") + row;
    worlds.IndexOf(CutText(one.world, kLongestCaseName));
    if (shown++ < kStaticRows) first_rows += StaticRow(one, section, counts);
  }
  CaseTable table = {.left_out = order.size() - shown};
  table.html = Filters(worlds) + "<table class=\"cases\" id=\"cases\">" +
               Head() + "<tbody>\n" + first_rows + "</tbody></table>\n";
  table.html += kPager;
  if (shown > kStaticRows) {
    table.html += fmt::format(
        "<noscript><p>The first {} of {} are listed; scripts are needed for "
        "the others.</p></noscript>\n",
        kStaticRows, GroupedCount(order.size(), "case"));
  }
  table.html += "<script type=\"application/json\" id=\"case-data\">" +
                JsonInHtml("{\"texts\":" + Dump(texts.texts()) +
                           ",\n\"rows\":[" + rows + "]}") +
                "</script>\n";
  return table;
}

}  // namespace gauntlet
