#include "harness/oracle/specification.h"

#include <algorithm>
#include <csignal>
#include <limits>

#include "harness/oracle/history/last_words.h"
#include "harness/oracle/process/process_order.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns true iff the launcher was killed by a signal other than SIGTERM and
// SIGINT.
bool IsBySignal(const LauncherRun& launcher) {
  return launcher.exit_code < 0 ||
         (launcher.exit_code > 128 && launcher.exit_code != 128 + SIGTERM &&
          launcher.exit_code != 128 + SIGINT);
}

}  // namespace

Specification::Specification(const Record& record)
    : record_(record),
      store_(record, checks_),
      training_(record, store_, checks_),
      notices_(record, checks_),
      restarts_(record, checks_),
      processes_(record, checks_) {}

void Specification::Run(const std::vector<HistoryEvent>& history) {
  for (const HistoryEvent& entry : history) {
    store_.On(entry);
    training_.On(entry);
    notices_.On(entry);
    restarts_.On(entry);
    processes_.On(entry);
  }
  store_.End();
  training_.End();
  notices_.End();
  processes_.End();
  CheckProcessOrder(record_, checks_.history_consistent);
  CheckEnd();
}

void Specification::CheckEnd() {
  checks_.no_hang.Count();
  if (record_.ending != RunEnding::kExited) {
    checks_.no_hang.Fail(RunEndingName(record_.ending),
                         record_.ending_detail.empty()
                             ? "the run did not end by itself"
                             : record_.ending_detail);
  } else {
    CheckLaunchers();
  }
  if (!record_.left.processes_listed) return;
  checks_.no_orphans.Count();
  for (const std::string& process : record_.left.processes) {
    checks_.no_orphans.Fail(
        "process",
        fmt::format("{} was still running after the end of the run", process));
  }
}

// Checks that the exit code, the restarts and the result of a launcher agree
// with its events. `ended`: event of the simulated machine that reports the end
// of the launcher, or null.
void Specification::CheckAccount(const LauncherRun& launcher,
                                 const RecordEvent* ended) {
  if (launcher.events.empty()) return;
  uint64_t restarts = 0;
  bool has_result = false;
  for (const RecordEvent& event : launcher.events) {
    if (event.kind == RecordKind::kRestarting) ++restarts;
    if (event.kind == RecordKind::kResultReceived) has_result = true;
  }
  const size_t count = launcher.events.size();
  const RecordEvent& last = launcher.events.back();
  const bool emitted_end = last.kind == RecordKind::kLauncherEnd;
  // A notice during the pause before a restart cancels the restart, so the
  // announced restart does not count.
  if (emitted_end && count > 2 &&
      launcher.events[count - 2].kind == RecordKind::kNotice &&
      launcher.events[count - 3].kind == RecordKind::kRestarting) {
    --restarts;
  }
  int64_t exit_code = launcher.exit_code;
  if (emitted_end) {
    exit_code = last.count;
  } else if (ended != nullptr || IsBySignal(launcher)) {
    if (ended != nullptr) exit_code = ended->count;
    restarts = 0;  // a killed launcher reports no restarts and no result
    has_result = false;
  }
  if (exit_code == launcher.exit_code && restarts == launcher.restarts &&
      has_result == launcher.result.has_value()) {
    return;
  }
  checks_.history_consistent.Fail(
      "launcher",
      fmt::format("a launcher ended with exit code {}, {} restarts and {} "
                  "result; its events give exit code {}, {} restarts and {} "
                  "result",
                  launcher.exit_code, launcher.restarts,
                  launcher.result ? "a" : "no", exit_code, restarts,
                  has_result ? "a" : "no"));
}

// Returns true iff the launcher was killed by a fault that fired in one of its
// workers.
bool Specification::IsKilledByAFault(size_t launcher) const {
  const int first = record_.launchers[launcher].first_incarnation;
  const int after = launcher + 1 < record_.launchers.size()
                        ? record_.launchers[launcher + 1].first_incarnation
                        : std::numeric_limits<int>::max();
  return std::ranges::any_of(
      record_.incarnations, [&](const IncarnationEvents& incarnation) {
        if (incarnation.number < first || incarnation.number >= after)
          return false;
        return std::ranges::any_of(
            incarnation.events, [&](const RecordEvent& event) {
              if (event.kind != RecordKind::kFaultFired) return false;
              const RecordFault* const fault = FindFault(record_, event.detail);
              return fault != nullptr && TraitsOf(*fault).kills_launcher;
            });
      });
}

// Checks that no launcher was killed by a signal, except in a power loss or by
// a fault that fired in one of its workers.
void Specification::CheckLaunchers() {
  const bool power_went =
      std::ranges::any_of(record_.machine, [](const RecordEvent& event) {
        return event.kind == RecordKind::kPowerCut;
      });
  // Ends of launchers, in the order of the launchers' starts.
  std::vector<const RecordEvent*> ended;
  for (const RecordEvent& event : record_.machine) {
    if (event.kind == RecordKind::kProcessEnded &&
        event.about == kLauncherWorker) {
      ended.push_back(&event);
    }
  }
  for (size_t i = 0; i < record_.launchers.size(); ++i) {
    const LauncherRun& launcher = record_.launchers[i];
    checks_.no_spontaneous_exit.Count();
    CheckAccount(launcher,
                 ended.size() == record_.launchers.size() ? ended[i] : nullptr);
    if (!IsBySignal(launcher) || power_went || IsKilledByAFault(i)) continue;
    checks_.no_spontaneous_exit.Fail(
        "launcher",
        fmt::format("the launcher ended with exit code {}, and no fault of the "
                    "plan explains it{}",
                    launcher.exit_code, ByTheKernel(record_)));
  }
}

}  // namespace gauntlet
