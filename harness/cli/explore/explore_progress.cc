#include "harness/cli/explore/explore_progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/cli/terminal/status_line.h"
#include "harness/cli/explore/crash_states_text.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

constexpr Duration kLineEvery = std::chrono::seconds(10);
constexpr std::string_view kBetween = "  ";

std::string MinutesText(double seconds) {
  const auto whole = static_cast<uint64_t>(std::max(0.0, std::ceil(seconds)));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// Progress of one exploration, in the unit of its limit.
struct Pace {
  uint64_t done = 0;
  double seconds = 0;

  double rate() const {
    return seconds > 0 ? static_cast<double>(done) / seconds : 0.0;
  }
};

std::string CountOf(const Pace& pace, std::string_view noun,
                    const ExploreLimits& limits) {
  if (!limits.cases) return GroupedCount(pace.done, noun);
  return fmt::format("{} of {}", GroupedDigits(pace.done),
                     GroupedCount(*limits.cases, noun));
}

// Returns "" if there is no limit, or not enough progress for an estimate.
std::string TimeLeft(const Pace& pace, const ExploreLimits& limits) {
  std::optional<double> left;
  if (limits.time) {
    left = std::chrono::duration<double>(*limits.time).count() - pace.seconds;
  }
  if (limits.cases && pace.rate() > 0) {
    const uint64_t cases = *limits.cases - std::min(*limits.cases, pace.done);
    const double by_cases = static_cast<double>(cases) / pace.rate();
    left = left ? std::min(*left, by_cases) : by_cases;
  }
  return left ? MinutesText(*left) + " left" : "";
}

void AddTimeLeftAndRate(const Pace& pace, const ExploreLimits& limits,
                        std::vector<std::string>& parts) {
  if (const std::string left = TimeLeft(pace, limits); !left.empty()) {
    parts.push_back(left);
  }
  parts.push_back(fmt::format("{:.0f}/s", pace.rate()));
}

}  // namespace

std::vector<std::string> StatusOf(const CampaignReport& report,
                                  const ExploreLimits& limits) {
  const Pace pace = {.done = report.cases, .seconds = report.seconds};
  std::vector<std::string> parts = {
      CountOf(pace, "case", limits),
      fmt::format("{} failed", GroupedDigits(report.failed))};
  if (report.nondeterministic > 0) {
    parts.push_back(fmt::format("{} differed", report.nondeterministic));
  }
  AddTimeLeftAndRate(pace, limits, parts);
  parts.push_back(fmt::format("points {}/{}",
                              report.coverage.PointsHit().size(),
                              report.space.points.size()));
  parts.push_back(
      fmt::format("goals {}/{}", GoalsReached(report), report.goals.size()));
  if (report.crash_states) {
    parts.push_back(
        fmt::format("crash states {}, {} failed",
                    GroupedDigits(TotalsOf(*report.crash_states).distinct),
                    report.crash_states->images_failed));
  }
  parts.push_back(MinutesText(report.seconds) + " so far");
  parts.push_back(
      fmt::format("last new coverage in case {}", report.coverage.last_new()));
  if (!report.progress.empty()) parts.push_back(report.progress);
  return parts;
}

std::vector<std::string> StatusOf(const CrashStateReport& report,
                                  double seconds, const ExploreLimits& limits) {
  const CrashStateTotals totals = TotalsOf(report);
  const Pace pace = {.done = totals.distinct, .seconds = seconds};
  std::vector<std::string> parts = {
      CountOf(pace, "crash state", limits),
      fmt::format("{} failed", GroupedDigits(report.images_failed))};
  AddTimeLeftAndRate(pace, limits, parts);
  parts.push_back(GroupedCount(totals.points, "crash point"));
  parts.push_back(MinutesText(seconds) + " so far");
  return parts;
}

std::string FitStatus(const std::vector<std::string>& parts, size_t width) {
  std::string line;
  for (const std::string& part : parts) {
    if (line.empty()) {
      line = part.substr(0, width);
      continue;
    }
    if (line.size() + kBetween.size() + part.size() > width) break;
    line.append(kBetween).append(part);
  }
  return line;
}

ExploreProgress::ExploreProgress(const Clock& clock, std::ostream& out,
                                 const TerminalStyle& style)
    : clock_(clock), out_(out), style_(style) {}

bool ExploreProgress::IsDue() {
  if (is_stopping_) return false;
  const Time now = clock_.Now();
  const Duration every = style_.animates() ? kRedrawEvery : kLineEvery;
  if (!last_) last_ = now;
  if (now - *last_ < every) return false;
  last_ = now;
  return true;
}

void ExploreProgress::Show(const std::vector<std::string>& parts) {
  if (!style_.animates()) {
    fmt::print(out_, "{}\n", FitStatus(parts, SIZE_MAX));
  } else {
    const auto width = static_cast<size_t>(std::max(style_.columns() - 1, 1));
    fmt::print(out_, "\r\x1b[K{}", FitStatus(parts, width));
    shown_ = true;
  }
  out_ << std::flush;
}

void ExploreProgress::Clear() {
  if (!shown_) return;
  out_ << "\r\x1b[K" << std::flush;
  shown_ = false;
}

void ExploreProgress::PrintStopping() {
  if (std::exchange(is_stopping_, true)) return;
  Clear();
  out_ << "gauntlet explore: stopping, keeping the findings so far; Ctrl-C "
          "again ends at once\n"
       << std::flush;
}

}  // namespace gauntlet
