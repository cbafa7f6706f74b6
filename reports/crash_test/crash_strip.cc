#include "reports/crash_test/crash_strip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/text/counted.h"
#include "harness/trainer/verdict/equal_crashes.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr double kWidth = 1000;
constexpr double kLeft = 70;  // width of the column of row names
constexpr double kRow = 34;
constexpr double kHigh = 26;
constexpr double kLow = 12;
constexpr double kWidestMark = 8;

using Counts = std::array<uint64_t, kRecoveryVerdictNames.size()>;
// Counts by fault, then by operation.
using Marks = std::map<CrashFault, std::map<uint64_t, Counts>>;

Marks MarksOf(const CrashTestResult& result) {
  Marks marks;
  for (size_t i = 0; i < result.trials.size(); ++i) {
    for (const JudgedCrash& crash :
         CrashesByFault(result.trials[i], result.verdicts[i])) {
      ++marks[crash.fault][crash.operation][static_cast<size_t>(crash.verdict)];
    }
  }
  return marks;
}

std::string Title(CrashFault fault, uint64_t operation, const Counts& counts) {
  std::string text =
      fmt::format("{} at operation {}:", CrashFaultName(fault), operation);
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0)
      text += fmt::format(" {} {}", counts[i], kRecoveryVerdictNames[i]);
  }
  return text;
}

// Returns a mark whose parts are stacked, recovered ones at the bottom.
std::string MarkOf(double x, double width, double bottom,
                   const Counts& counts) {
  uint64_t all = 0;
  bool has_finding = false;
  for (size_t i = 0; i < counts.size(); ++i) {
    all += counts[i];
    has_finding |= counts[i] > 0 && IsFinding(static_cast<RecoveryVerdict>(i));
  }
  const double height = has_finding ? kHigh : kLow;
  std::string parts;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double part =
        height * static_cast<double>(counts[i]) / static_cast<double>(all);
    bottom -= part;
    parts += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"/>",
        CssClassOf(static_cast<RecoveryVerdict>(i)), x, bottom, width, part);
  }
  return parts;
}

}  // namespace

const std::string_view kCrashStripStyle = R"css(
.crash-strip { width: 100%; min-width: 560px; height: auto; display: block; }
.crash-strip text { fill: var(--text); font-size: 13px; }
.crash-strip .axis { stroke: var(--line); }
.crash-strip .passed { fill: var(--good); }
.crash-strip .failed { fill: var(--bad); }
.crash-strip .inconclusive { fill: var(--unsure); }
.crash-strip .skipped { fill: var(--skip); }
.strip-frame { overflow-x: auto; }
)css";

std::string_view CssClassOf(RecoveryVerdict verdict) {
  if (IsFinding(verdict)) return "failed";
  if (verdict == RecoveryVerdict::kRecovered) return "passed";
  return verdict == RecoveryVerdict::kRefused ? "skipped" : "inconclusive";
}

std::string RenderCrashStrip(const CrashTestResult& result) {
  const Marks marks = MarksOf(result);
  if (marks.empty()) return "";
  const auto operations =
      static_cast<double>(std::max<uint64_t>(result.operations, 1));
  const double per_operation = (kWidth - kLeft) / (operations + 1);
  const double width = std::clamp(per_operation * 0.8, 1.0, kWidestMark);
  const double height = static_cast<double>(marks.size()) * kRow + 20;
  std::string svg = fmt::format(
      "<div class=\"strip-frame\" tabindex=\"0\">\n<svg class=\"crash-strip\" "
      "viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{} by "
      "operation\">\n",
      kWidth, height, Counted(result.trials.size(), "crash state"));
  double bottom = 0;
  for (const auto& [fault, row] : marks) {
    bottom += kRow;
    svg += fmt::format(
        "<text x=\"0\" y=\"{:.0f}\">{}</text>\n<line class=\"axis\" "
        "x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>\n",
        bottom - 2, CrashFaultName(fault), kLeft, kWidth, bottom, bottom);
    for (const auto& [operation, counts] : row) {
      const double x = kLeft + static_cast<double>(operation) * per_operation;
      svg += fmt::format("<g><title>{}</title>{}</g>\n",
                         HtmlText(Title(fault, operation, counts)),
                         MarkOf(x, width, bottom, counts));
    }
  }
  svg += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\">first operation</text>\n<text "
      "x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">last of {}</text>\n"
      "</svg>\n</div>\n",
      kLeft, height - 4, kWidth, height - 4, result.operations);
  return svg;
}

}  // namespace gauntlet
