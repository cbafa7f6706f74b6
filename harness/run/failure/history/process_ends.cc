#include "harness/run/failure/history/process_ends.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/text/units.h"
#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/power_cut.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the meaning of a worker's exit code; "" if the code alone says all
// that is known.
std::string_view MeaningOfExit(int64_t code) {
  if (IsExit(code, {WorkerExit::kDone, WorkerExit::kFailed})) return "";
  const auto found =
      std::ranges::find(kWorkerExits, code, [](const WorkerExitInfo& info) {
        return static_cast<int64_t>(info.exit);
      });
  return found == kWorkerExits.end() ? "" : found->brief;
}

bool IsEnd(const RecordEvent& event) {
  if (event.kind == RecordKind::kPowerCut) return true;
  return (event.kind == RecordKind::kProcessEnded ||
          event.kind == RecordKind::kExited) &&
         event.count != 0;
}

// Returns true iff the launcher sent the kill that ended the process.
bool IsKilledByLauncher(const Record& record, const RecordEvent& end) {
  if (end.reason != RecordReason::kSignal) return false;
  const auto kills = [&end](const RecordEvent& event) {
    return event.kind == RecordKind::kKillSent && event.about == end.about &&
           event.incarnation == end.incarnation && event.t_ns <= end.t_ns;
  };
  return std::ranges::any_of(record.launchers, [&](const LauncherRun& run) {
    return std::ranges::any_of(run.events, kills);
  });
}

// Returns the key by which FirstEnd orders ends. The exit of a worker that lost
// another one, or that the launcher killed, comes after every other end. This
// holds even if its time is earlier: the launcher may observe this exit before
// the end that caused it.
std::tuple<bool, int64_t, bool> OrderOf(const Record& record,
                                        const RecordEvent& end) {
  const bool is_power_cut = end.kind == RecordKind::kPowerCut;
  return {!is_power_cut && (IsExit(end.count, {WorkerExit::kLostWorker}) ||
                            IsKilledByLauncher(record, end)),
          end.t_ns, !is_power_cut};
}

}  // namespace

const RecordEvent* FirstEnd(const Record& record, int64_t from_ns,
                            int64_t until_ns) {
  const RecordEvent* first = nullptr;
  const auto look_at = [&](const std::vector<RecordEvent>& events) {
    for (const RecordEvent& event : events) {
      if (IsEnd(event) && event.t_ns >= from_ns && event.t_ns <= until_ns &&
          (first == nullptr ||
           OrderOf(record, event) < OrderOf(record, *first))) {
        first = &event;
      }
    }
  };
  look_at(record.machine);
  for (const LauncherRun& run : record.launchers) look_at(run.events);
  return first;
}

std::string EndText(const RecordEvent& end) {
  if (end.kind == RecordKind::kPowerCut) {
    return HostsText(end) + " lost power";
  }
  const int about = end.about.value_or(kLauncherWorker);
  const std::string who = about == kLauncherWorker
                              ? "the launcher"
                              : fmt::format("worker {}", about);
  constexpr int kAborted = 128 + SIGABRT;
  if (end.count == kAborted) return who + " aborted";
  if (end.reason == RecordReason::kSignal) return who + " was killed";
  if (end.reason == RecordReason::kUnreachable) {
    return who + " could no longer be reached";
  }
  const std::string_view meaning = MeaningOfExit(end.count);
  return fmt::format("{} exited with code {}{}", who, end.count,
                     meaning.empty() ? "" : fmt::format(" ({})", meaning));
}

const RecordFault* NoticeWithinGrace(const Record& record) {
  // Without a grace period, workers stop within so many executions.
  constexpr uint64_t kExecutionsToStop = 2;
  const uint64_t to_stop = kExecutionsToStop * record.setup.steps_per_execution;
  if (record.setup.notice_grace_ns <= 0) return nullptr;
  const RecordEvent* const read =
      FirstOf(record, [&](const RecordEvent& event) {
        return event.kind == RecordKind::kNotice &&
               event.step + to_stop < LastStepOf(record);
      });
  const RecordEvent* const fired =
      FirstOf(record, [&record](const RecordEvent& event) {
        const RecordFault* const fault = event.kind == RecordKind::kFaultFired
                                             ? FindFault(record, event.detail)
                                             : nullptr;
        return fault != nullptr && GivesNotice(*fault);
      });
  return read == nullptr || fired == nullptr ? nullptr
                                             : FindFault(record, fired->detail);
}

std::string NoRestartText(const Record& record) {
  const RecordEvent* const end = FirstEnd(record, INT64_MIN, INT64_MAX);
  if (end == nullptr) {
    const RecordFault* const notice = NoticeWithinGrace(record);
    return notice == nullptr
               ? "no process ended before training was complete, so nothing "
                 "had to be restarted"
               : fmt::format(
                     "training was complete before the grace period of fault "
                     "{}'s notice was over (preemption.grace is {}), so no "
                     "process had to stop",
                     notice->id,
                     DurationToText(Duration(record.setup.notice_grace_ns)));
  }
  return EndText(*end) +
         (StepReachedBy(record, end->t_ns) >= LastStepOf(record)
              ? " only after the last step, so training was completed without "
                "a restart"
              : ", but training was completed without a restart");
}

std::optional<uint64_t> MaxStepsOfEnd(const Record& record) {
  if (!IsDone(record) || !record.setup.launches.empty()) return std::nullopt;
  const FinalResult& result = *record.launchers.back().result;
  if (result.epochs >= record.setup.epochs) return std::nullopt;
  return result.steps;
}

}  // namespace gauntlet
