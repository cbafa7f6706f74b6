#include "harness/bench/trial_events.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kChiefWorker = 0;

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

const IncarnationEvents* FindIncarnation(
    const std::vector<IncarnationEvents>& incarnations, int worker,
    int incarnation) {
  const auto found =
      std::ranges::find_if(incarnations, [&](const IncarnationEvents& one) {
        return one.worker == worker && one.number == incarnation;
      });
  return found == incarnations.end() ? nullptr : &*found;
}

int64_t PartOf(const RecordEvent& event, std::string_view name) {
  const auto found = std::ranges::find(event.parts, name, &RecordTime::part);
  return found == event.parts.end() ? 0 : found->took_ns;
}

// Returns the first event at or after a time for which `wanted` is true, among
// the events of the processes of one worker or of the launcher.
template <typename Predicate>
const RecordEvent* FirstAfter(
    const std::vector<IncarnationEvents>& incarnations, int worker,
    int64_t t_ns, const Predicate& wanted) {
  const RecordEvent* first = nullptr;
  for (const IncarnationEvents& incarnation : incarnations) {
    if (incarnation.worker != worker) continue;
    for (const RecordEvent& event : incarnation.events) {
      if (event.t_ns < t_ns || !wanted(event)) continue;
      if (first == nullptr || event.t_ns < first->t_ns) first = &event;
    }
  }
  return first;
}

// Returns the last step that the chief had finished at `t_ns`.
uint64_t LastStepBefore(const std::vector<IncarnationEvents>& incarnations,
                        int64_t t_ns) {
  uint64_t last = 0;
  for (const IncarnationEvents& incarnation : incarnations) {
    if (incarnation.worker != kChiefWorker) continue;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kStep && event.t_ns <= t_ns) {
        last = std::max(last, event.step);
      }
    }
  }
  return last;
}

uint64_t StepsBetween(const std::vector<IncarnationEvents>& incarnations,
                      int64_t begin_ns, int64_t end_ns) {
  uint64_t steps = 0;
  for (const IncarnationEvents& incarnation : incarnations) {
    if (incarnation.worker != kChiefWorker) continue;
    steps += static_cast<uint64_t>(std::ranges::count_if(
        incarnation.events, [&](const RecordEvent& event) {
          return event.kind == RecordKind::kStep && event.t_ns > begin_ns &&
                 event.t_ns <= end_ns;
        }));
  }
  return steps;
}

// Returns the number of bytes that the first processes of all workers saved in
// the window.
double BytesOfSaves(const std::vector<IncarnationEvents>& incarnations,
                    const StepWindow& window) {
  double bytes = 0;
  for (const IncarnationEvents& incarnation : incarnations) {
    if (incarnation.worker < 0 || incarnation.number != 1) continue;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kSaveTimes && event.step >= window.begin &&
          event.step < window.end && event.reason == RecordReason::kNone) {
        bytes += static_cast<double>(event.count);
      }
    }
  }
  return bytes;
}

}  // namespace

Result<WindowFigures> ReadWindow(
    const std::vector<IncarnationEvents>& incarnations,
    const StepWindow& window) {
  const IncarnationEvents* const chief =
      FindIncarnation(incarnations, kChiefWorker, 1);
  if (chief == nullptr) return NotFound("the chief left no events");
  std::map<uint64_t, int64_t> step_ends;
  WindowFigures figures;
  for (const RecordEvent& event : chief->events) {
    if (event.kind == RecordKind::kStep) {
      step_ends[event.step] = event.t_ns;
      if (event.step > window.begin && event.step <= window.end) {
        figures.stall_seconds += Seconds(PartOf(event, "save"));
      }
    } else if (event.kind == RecordKind::kSaveAcknowledged &&
               event.step >= window.begin && event.step < window.end) {
      const auto end = step_ends.find(event.step);
      if (end == step_ends.end()) continue;
      figures.durable_seconds.push_back(Seconds(event.t_ns - end->second));
    }
  }
  const auto begin = step_ends.find(window.begin);
  const auto end = step_ends.find(window.end);
  if (begin == step_ends.end() || end == step_ends.end()) {
    return NotFound(
        fmt::format("no events of steps {} to {}", window.begin, window.end));
  }
  figures.seconds = Seconds(end->second - begin->second);
  figures.fastest_step = figures.seconds;
  for (auto step = begin; step != end; ++step) {
    const double took = Seconds(std::next(step)->second - step->second);
    figures.fastest_step = std::min(figures.fastest_step, took);
  }
  if (!figures.durable_seconds.empty()) {
    figures.bytes = BytesOfSaves(incarnations, window) /
                    static_cast<double>(figures.durable_seconds.size());
  }
  return figures;
}

Result<RecoveryFigures> ReadRecovery(
    const std::vector<IncarnationEvents>& incarnations, const Kill& kill) {
  const RecordEvent* const noticed = FirstAfter(
      incarnations, kLauncherWorker, kill.t_ns, [&](const auto& event) {
        return event.kind == RecordKind::kExited && event.about == kill.worker;
      });
  const RecordEvent* const began = FirstAfter(
      incarnations, kChiefWorker, kill.t_ns,
      [](const auto& event) { return event.kind == RecordKind::kStartTimes; });
  // Takes the chief's last step before it started again, not before the kill:
  // if another worker was killed, the chief may finish one more step.
  const int64_t began_ns = began == nullptr ? kill.t_ns : began->t_ns;
  const uint64_t last_step = LastStepBefore(incarnations, began_ns);
  const RecordEvent* const new_step =
      FirstAfter(incarnations, kChiefWorker, began_ns, [&](const auto& event) {
        return event.kind == RecordKind::kStep && event.step > last_step;
      });
  if (noticed == nullptr || began == nullptr || new_step == nullptr) {
    return NotFound(
        fmt::format("no step behind step {}, at which worker {} was killed",
                    last_step, kill.worker));
  }
  int64_t start_ns = 0;
  for (const RecordTime& part : began->parts) start_ns += part.took_ns;
  const int64_t restore_ns = PartOf(*began, "claim") + PartOf(*began, "load") +
                             PartOf(*began, "transfer");
  // `running` is at least the time at which the launcher detected the loss: a
  // surviving chief may have begun to rejoin before that time.
  const int64_t running = std::max(noticed->t_ns, began->t_ns - start_ns);
  const int64_t joined = std::max(running, began->t_ns - restore_ns);
  return RecoveryFigures{
      .detect = Seconds(noticed->t_ns - kill.t_ns),
      .respawn = Seconds(running - noticed->t_ns),
      .join = Seconds(joined - running),
      .restore = Seconds(began->t_ns - joined),
      .recompute = Seconds(new_step->t_ns - began->t_ns),
      .recomputed = StepsBetween(incarnations, began->t_ns, new_step->t_ns)};
}

std::optional<int64_t> TrainingBegan(
    const std::vector<IncarnationEvents>& incarnations) {
  const RecordEvent* const began = FirstAfter(
      incarnations, kChiefWorker, 0,
      [](const auto& event) { return event.kind == RecordKind::kStartTimes; });
  if (began == nullptr) return std::nullopt;
  return began->t_ns;
}

std::optional<int64_t> StepFinished(
    const std::vector<IncarnationEvents>& incarnations, uint64_t step) {
  std::optional<int64_t> last;
  for (const IncarnationEvents& incarnation : incarnations) {
    if (incarnation.worker != kChiefWorker) continue;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind != RecordKind::kStep || event.step != step) continue;
      last = std::max(last.value_or(event.t_ns), event.t_ns);
    }
  }
  return last;
}

}  // namespace gauntlet
