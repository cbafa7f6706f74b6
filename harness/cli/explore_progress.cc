#include "harness/cli/explore_progress.h"

#include <algorithm>
#include <chrono>

#include "harness/cli/crash_states_text.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

constexpr Duration kRedrawEvery = std::chrono::milliseconds(100);
constexpr Duration kLineEvery = std::chrono::seconds(10);

}  // namespace

std::string RenderStatus(const CampaignReport& report) {
  const auto seconds = static_cast<uint64_t>(report.seconds);
  const double rate = report.seconds > 0
                          ? static_cast<double>(report.cases) / report.seconds
                          : 0.0;
  const double stable =
      report.ran_twice == 0
          ? 100.0
          : 100.0 - 100.0 * static_cast<double>(report.nondeterministic) /
                        static_cast<double>(report.ran_twice);
  const auto marks = std::ranges::count_if(
      report.marks, [](uint64_t count) { return count > 0; });
  std::string text = fmt::format(
      "{:02}:{:02}  {} cases  {:.0f}/s  points {}/{}  goals {}/{}  failed {}  "
      "last new coverage in case {}  deterministic {:.0f}%",
      seconds / 60, seconds % 60, report.cases, rate,
      report.coverage.PointsHit().size(), report.space.points.size(), marks,
      report.marks.size(), report.broken, report.coverage.last_new(), stable);
  if (report.crash_states) {
    text += fmt::format("  crash states {}",
                        TotalsOf(*report.crash_states).distinct);
  }
  if (!report.progress.empty()) text += "  " + report.progress;
  return text;
}

ExploreProgress::ExploreProgress(const Clock& clock, std::ostream& out,
                                 const TerminalStyle& style)
    : clock_(clock), out_(out), style_(style) {}

void ExploreProgress::Show(const CampaignReport& report) {
  const Time now = clock_.Now();
  const Duration every = style_.animates() ? kRedrawEvery : kLineEvery;
  if (!last_) last_ = now;
  if (now - *last_ < every) return;
  last_ = now;
  std::string line = RenderStatus(report);
  if (!style_.animates()) {
    fmt::print(out_, "{}\n", line);
  } else {
    const auto width = static_cast<size_t>(std::max(style_.columns() - 1, 1));
    line.resize(std::min(line.size(), width));
    fmt::print(out_, "\r\x1b[K{}", line);
    shown_ = true;
  }
  out_ << std::flush;
}

void ExploreProgress::Clear() {
  if (!shown_) return;
  out_ << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace gauntlet
