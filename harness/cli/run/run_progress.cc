#include "harness/cli/run/run_progress.h"

#include <algorithm>
#include <utility>

#include "reports/events/event_text.h"
#include "reports/terminal.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// If names would have fewer columns than this, they are not shown.
constexpr size_t kLeastNames = 12;

uint64_t Ended(const CaseCounts& counts) {
  return counts.passed + counts.flaky + counts.failed + counts.inconclusive +
         counts.skipped;
}

}  // namespace

std::string RenderRunStatus(const RunStatus& status, size_t columns,
                            const TerminalStyle& style) {
  const std::string cases = fmt::format("{}", status.cases);
  std::string line =
      fmt::format("[{:>{}}/{}]", Ended(status.counts), cases.size(), cases);
  CaseCounts shown = status.counts;
  shown.passed = 0;
  const std::string counts = RenderCounts(shown, Colour::kOff);
  if (!counts.empty()) line += " " + counts;
  const std::string left =
      status.seconds_left
          ? fmt::format("  {} left", ClockText(*status.seconds_left))
          : "";
  constexpr std::string_view kRunning = "  running: ";
  const size_t taken = line.size() + kRunning.size() + left.size();
  if (!status.running.empty() && taken + kLeastNames <= columns) {
    const std::string names =
        PlainText(fmt::format("{}", fmt::join(status.running, ", ")));
    line += kRunning;
    line += CutToColumns(names, columns - taken, style);
  }
  return line + left;
}

RunProgress::RunProgress(const Clock& clock, Console& console,
                         ProgressChoice choice, size_t cases,
                         RunTimeLeft time_left)
    : clock_(clock),
      console_(console),
      cases_(cases),
      draws_(choice == ProgressChoice::kAuto && console.err_style.animates()),
      line_(clock, HasOneScreen() ? console.out : console.err,
            console.err_style),
      time_left_(std::move(time_left)) {}

void RunProgress::Begin(const SuiteItem& item) {
  const std::lock_guard lock(mutex_);
  running_.push_back({.name = item.one.name});
  time_left_.Begin(item, clock_.Now());
  DrawLine();
}

void RunProgress::SetPhase(const SuiteItem& item, CasePhase phase) {
  const std::lock_guard lock(mutex_);
  const auto running =
      std::ranges::find(running_, item.one.name, &RunningCase::name);
  if (running == running_.end()) return;
  running->phase = phase;
  DrawLine();
}

CasePhase RunProgress::PhaseOf(const SuiteItem& item) const {
  const std::lock_guard lock(mutex_);
  const auto running =
      std::ranges::find(running_, item.one.name, &RunningCase::name);
  return running == running_.end() ? CasePhase::kRun : running->phase;
}

void RunProgress::End(const CaseResult& one) {
  const std::lock_guard lock(mutex_);
  const auto running =
      std::ranges::find(running_, one.name, &RunningCase::name);
  if (running != running_.end()) running_.erase(running);
  time_left_.End(one);
  Count(one, counts_);
}

void RunProgress::Print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  line_.Clear();
  console_.out << text << std::flush;
}

void RunProgress::PrintMessage(std::string_view text) {
  const std::lock_guard lock(mutex_);
  line_.Clear();
  (HasOneScreen() ? console_.out : console_.err) << text << std::flush;
}

void RunProgress::Redraw() {
  const std::lock_guard lock(mutex_);
  DrawLine();
}

void RunProgress::Stop() {
  const std::lock_guard lock(mutex_);
  line_.Clear();
  draws_ = false;
}

CaseCounts RunProgress::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void RunProgress::DrawLine() {
  if (!draws_ || !line_.IsDue()) return;
  std::vector<std::string> names;
  for (const RunningCase& one : running_) {
    names.push_back(
        (one.phase == CasePhase::kReference ? "reference run of " : "") +
        one.name);
  }
  line_.Draw(RenderRunStatus({.cases = cases_,
                              .counts = counts_,
                              .running = std::move(names),
                              .seconds_left = time_left_.Seconds(clock_.Now())},
                             line_.columns(), console_.err_style));
}

bool RunProgress::HasOneScreen() const {
  return draws_ && console_.out_style.animates();
}

}  // namespace gauntlet
