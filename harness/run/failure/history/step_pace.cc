#include "harness/run/failure/history/step_pace.h"

#include <algorithm>

#include "engine/text/units.h"
#include "harness/oracle/history/history.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Sets the last step of any worker, and its duration.
void FindLastStep(const Record& record, StepPace& pace) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    const RecordEvent* before = nullptr;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind != RecordKind::kStep) continue;
      if (before != nullptr && event.step > before->step &&
          event.t_ns > pace.reached_ns) {
        pace.reached = event.step;
        pace.reached_ns = event.t_ns;
        pace.step_ns = (event.t_ns - before->t_ns) /
                       static_cast<int64_t>(event.step - before->step);
      }
      before = &event;
    }
  }
}

bool HasDelay(const Outline& outline) {
  return std::ranges::any_of(outline.occurrences,
                             [](const FaultOccurrence& occurrence) {
                               return occurrence.traits.may_end_incarnation &&
                                      !occurrence.traits.EndsProcesses();
                             });
}

}  // namespace

int64_t StepPace::NeededNs() const {
  return reached_ns + static_cast<int64_t>(steps - reached) * step_ns;
}

std::optional<StepPace> PaceOfTimedOutRun(const Outline& outline) {
  const Record& record = outline.record;
  const int64_t limit_ns = record.setup.longest_run_ns;
  if (record.ending != RunEnding::kTimedOut || limit_ns == 0 ||
      record.golden.entries.empty() || HasDelay(outline)) {
    return std::nullopt;
  }
  StepPace pace = {.steps = LastStepOf(record)};
  FindLastStep(record, pace);
  if (pace.step_ns == 0 || pace.reached >= pace.steps) return std::nullopt;
  const RecordEvent* const start =
      FirstOf(record, [](const RecordEvent&) { return true; });
  pace.reached_ns -= start->t_ns;
  const bool went_on = limit_ns - pace.reached_ns <= 2 * pace.step_ns;
  if (!went_on || pace.NeededNs() <= limit_ns) return std::nullopt;
  return pace;
}

std::string PaceText(const StepPace& pace, int64_t limit_ns) {
  const bool never_fit =
      static_cast<int64_t>(pace.steps) * pace.step_ns > limit_ns;
  const std::string steps =
      never_fit
          ? fmt::format("{} steps", pace.steps)
          : fmt::format("step {} of {} was reached; the other {} steps",
                        pace.reached, pace.steps, pace.steps - pace.reached);
  return fmt::format("{} of {:.3f} s each do not fit into timeout.total ({})",
                     steps, Seconds(pace.step_ns),
                     DurationToText(Duration(limit_ns)));
}

}  // namespace gauntlet
