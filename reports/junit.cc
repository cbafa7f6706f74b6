#include "reports/junit.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "reports/explanation.h"
#include "reports/failures.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Returns the length of the UTF-8 character at the beginning of the text if XML
// allows it; else 0 (RFC 3629, XML 1.0 section 2.2).
size_t XmlCharacter(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t first = byte(0);
  if (first < 0x80) {
    const bool allowed = (first >= 0x20 && first != 0x7f) || first == '\t' ||
                         first == '\n' || first == '\r';
    return allowed ? 1 : 0;
  }
  if (first >= 0xC2 && first <= 0xDF && tail(1)) return 2;
  if (first >= 0xE0 && first <= 0xEF && tail(1) && tail(2)) {
    const uint32_t code =
        (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < 0x800 || surrogate || code >= 0xFFFE ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4 && tail(1) && tail(2) && tail(3)) {
    const uint32_t code = (first & 0x07) << 18 | (byte(1) & 0x3F) << 12;
    return code < 0x10000 || code > 0x10FFFF ? 0 : 4;
  }
  return 0;
}

class UniqueNames {
 public:
  std::string Take(const std::string& name) {
    const int use = ++uses_[name];
    return use == 1 ? name : Take(fmt::format("{} #{}", name, use));
  }

 private:
  std::map<std::string, int> uses_;
};

std::string DetailsOf(const Verdict& verdict) {
  std::string text;
  for (const InvariantReport& report : verdict.invariants) {
    for (const Finding& finding : report.findings) {
      text += fmt::format("{} ({}): {}\n", finding.invariant, finding.name,
                          finding.message);
    }
  }
  for (const Finding& finding : verdict.broken_expectations) {
    text += fmt::format("{}\n", finding.message);
  }
  for (const std::string& line : verdict.timeline) text += line + "\n";
  return text;
}

// Returns the lines that explain the case, then its findings and events.
std::string ExplainedDetails(const CaseResult& one) {
  std::string text;
  for (const ExplanationLine& line : ExplanationOf(one)) {
    text += fmt::format("{}: {}\n", line.topic, line.text);
  }
  Verdict rest = one.verdict;
  // The explanation lists the unmet expectations already.
  if (FailedOnlyExpectations(one)) rest.broken_expectations.clear();
  return text + DetailsOf(rest);
}

void AppendOutcome(const CaseResult& one, std::string& out) {
  const Verdict& verdict = one.verdict;
  const std::string reason = EscapeXml(ReasonText(one));
  switch (verdict.kind) {
    case VerdictKind::kPass:
      return;
    case VerdictKind::kSkip:
      out += fmt::format("      <skipped message=\"{}\"/>\n", reason);
      return;
    case VerdictKind::kNotRun:
      out += fmt::format("      <skipped message=\"not run: {}\"/>\n", reason);
      return;
    case VerdictKind::kFail:
      out += fmt::format(
          "      <failure message=\"{}\" type=\"{}\">{}</failure>\n", reason,
          one.flaky ? "flaky" : "invariant", EscapeXml(ExplainedDetails(one)));
      return;
    case VerdictKind::kError:
      out += fmt::format(
          "      <error message=\"{}\" type=\"no-verdict\">{}</error>\n",
          reason, EscapeXml(ExplainedDetails(one)));
      return;
  }
}

// Marks a flaky case by a property, as readers of JUnit files have no common
// element for it.
void AppendFlaky(const CaseResult& one, std::string& out) {
  if (!one.flaky) return;
  out += fmt::format(
      "      <properties>\n"
      "        <property name=\"flaky\" value=\"{}\"/>\n"
      "      </properties>\n",
      EscapeXml(one.verdict.reason));
}

std::string TriesText(const CaseResult& one) {
  std::string text;
  for (size_t i = 0; i < one.tries.size(); ++i) {
    const CaseTry& each = one.tries[i];
    text += fmt::format("try {}: {} {}  {}\n", i + 1,
                        VerdictKindName(each.verdict.kind), each.verdict.reason,
                        each.directory);
  }
  // In other cases, <failure> already has the details of the first failure.
  if (one.flaky && one.verdict.kind == VerdictKind::kPass) {
    text += "first failure:\n" + DetailsOf(one.tries.front().verdict);
  }
  return text;
}

void AppendCase(const CaseResult& one, const std::string& name,
                std::string& out) {
  out += fmt::format(
      "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\" "
      "file=\"{}\" line=\"{}\">\n",
      EscapeXml(name), EscapeXml(one.scenario), one.seconds,
      EscapeXml(one.file), one.line);
  AppendFlaky(one, out);
  AppendOutcome(one, out);
  std::string output = TriesText(one);
  if (!one.replay.empty()) output += fmt::format("replay: {}\n", one.replay);
  if (!one.timeline.empty()) {
    output += fmt::format("[[ATTACHMENT|{}]]\n", one.timeline);
  }
  if (!output.empty()) {
    out +=
        fmt::format("      <system-out>{}</system-out>\n", EscapeXml(output));
  }
  out += "    </testcase>\n";
}

// Returns the attributes that <testsuite> and <testsuites> have in common.
std::string Totals(const std::vector<const CaseResult*>& cases) {
  const auto count = [&](VerdictKind kind) {
    return std::count_if(
        cases.begin(), cases.end(),
        [&](const CaseResult* one) { return one->verdict.kind == kind; });
  };
  double seconds = 0;
  for (const CaseResult* one : cases) seconds += one->seconds;
  return fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\"",
      cases.size(), count(VerdictKind::kFail), count(VerdictKind::kError),
      count(VerdictKind::kSkip) + count(VerdictKind::kNotRun), seconds);
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = XmlCharacter(text);
    const char c = text[0];
    if (length == 0) {
      out += kReplacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\r') {
      out += "&#13;";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string RenderJunit(const RunResult& result) {
  std::vector<const CaseResult*> all;
  std::vector<std::string> files;  // in the order of the run
  std::map<std::string, std::vector<const CaseResult*>> suites;
  for (const CaseResult& one : result.cases) {
    all.push_back(&one);
    if (!suites.contains(one.file)) files.push_back(one.file);
    suites[one.file].push_back(&one);
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"gauntlet\" {}>\n", Totals(all));
  UniqueNames names;
  for (const std::string& file : files) {
    out += fmt::format("  <testsuite name=\"{}\" {}>\n", EscapeXml(file),
                       Totals(suites[file]));
    const std::string seed =
        result.seed
            ? fmt::format("      <property name=\"seed\" value=\"{}\"/>\n",
                          *result.seed)
            : "";
    out += fmt::format(
        "    <properties>\n"
        "      <property name=\"run\" value=\"{}\"/>\n"
        "{}"
        "      <property name=\"build\" value=\"{}\"/>\n"
        "    </properties>\n",
        EscapeXml(result.run), seed, EscapeXml(result.build));
    for (const CaseResult* one : suites[file]) {
      AppendCase(
          *one, names.Take(fmt::format("{} ({})", one->name, one->world)), out);
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace gauntlet
