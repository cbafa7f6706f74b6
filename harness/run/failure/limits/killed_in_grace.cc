#include "harness/run/failure/limits/killed_in_grace.h"

#include <algorithm>
#include <vector>

#include "engine/text/units.h"
#include "harness/record/fault_traits.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Executions that end after a notice: the one in progress, and the one in which
// the workers agree to stop.
constexpr int64_t kExecutionsAfterNotice = 2;

std::string LengthText(int64_t ns) { return DurationToText(Duration(ns)); }

std::string RoundedSeconds(int64_t ns) {
  return ns < 1'000'000'000
             ? fmt::format("{:.0f} ms", static_cast<double>(ns) / 1e6)
             : fmt::format("{:.1f} s", Seconds(ns));
}

// Adds the events of the worker up to its kill.
void AddWorkerEvents(const FaultOccurrence& notice, KilledInGrace& killed) {
  const RecordEvent* before = nullptr;  // the step before
  const std::vector<RecordEvent>& events = notice.incarnation->events;
  for (size_t i = 0; i < events.size(); ++i) {
    const RecordEvent& event = events[i];
    if (event.kind == RecordKind::kStep) {
      if (before != nullptr) {
        killed.longest_step_ns =
            std::max(killed.longest_step_ns, event.t_ns - before->t_ns);
      }
      before = &event;
      killed.step = event.step + 1;
    }
    if (i < notice.index) continue;
    if (event.kind == RecordKind::kNotice && !killed.read_after_ns) {
      killed.read_after_ns = event.t_ns - notice.event().t_ns;
    }
    if (event.kind == RecordKind::kStopAgreed) killed.has_agreed = true;
  }
}

int64_t LongestSave(const Record& record) {
  const std::vector<int64_t> durations = DurationsOfSaves(record);
  return durations.empty() ? 0 : durations.back();
}

// Returns "between steps", or "between executions of 8 steps": the times at
// which a worker reads a notice, and stops.
std::string BoundariesText(const RunSetup& setup) {
  return setup.steps_per_execution == 1
             ? "between steps"
             : fmt::format("between executions of {} steps",
                           setup.steps_per_execution);
}

// Returns when the worker reads a notice: "every preemption.poll_every (30s)".
std::string ReadingText(const RunSetup& setup, const KilledInGrace& killed) {
  return killed.notice->polled ? "every " + PollEveryText(setup)
                               : BoundariesText(setup);
}

// Returns the time for which the fault keeps a worker from agreeing on a stop;
// 0 if it does not, INT64_MAX if its effect has no end.
int64_t HindranceOf(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  if (traits.hinders == HinderedPart::kNone || traits.EndsProcesses()) return 0;
  const int64_t length_ns = traits.lasts ? fault.duration_ns : fault.latency_ns;
  return traits.lasts && length_ns == 0 ? INT64_MAX : length_ns;
}

// Sets the fault that hindered a worker longest between the notice and the
// kill.
void AddDelay(const Outline& outline, int64_t notice_ns, int64_t kill_ns,
              KilledInGrace& killed) {
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    const RecordFault& fault = *occurrence.fault;
    const int64_t fired_ns = occurrence.event().t_ns;
    const int64_t length_ns = HindranceOf(fault);
    const bool is_during = fired_ns <= kill_ns && length_ns > 0 &&
                           notice_ns - fired_ns < length_ns;
    if (fault.in_save || !is_during || length_ns <= killed.delay_ns) continue;
    killed.delay = &fault;
    killed.delay_ns = length_ns;
    killed.delayed = occurrence.incarnation->worker;
  }
}

// Returns "fault s (slow worker 1 at step.begin, step 9, latency 3s) delayed
// worker 1, and all workers must agree on the stop".
std::string DelayText(const KilledInGrace& killed) {
  return fmt::format(
      "fault {} ({}) delayed worker {}, and all workers must agree on the stop",
      killed.delay->id, killed.delay->summary, killed.delayed);
}

// Returns "; it did not save in the remaining 5.0 s, as …": the reason for
// which a worker that had read the notice was still training.
std::string UnsavedReasonText(const RunSetup& setup,
                              const KilledInGrace& killed) {
  const int64_t left_ns = killed.notice->grace_ns - *killed.read_after_ns;
  if (killed.has_agreed || left_ns <= 0) return "";
  const std::string why =
      killed.delay != nullptr ? DelayText(killed)
      : setup.notice_grace_ns > 0
          ? WhyTrainingContinuesText(setup)
          : fmt::format(
                "workers stop and save {}, and agree on the stop in "
                "one more",
                BoundariesText(setup));
  return fmt::format("; it did not save in the remaining {}, as {}",
                     RoundedSeconds(left_ns), why);
}

// Returns "read the notice after 2.0 s and was killed in step 13", and why it
// had not saved.
std::string CourseText(const RunSetup& setup, const KilledInGrace& killed) {
  const std::string where =
      killed.has_agreed ? "after it had agreed to stop, before it exited"
                        : fmt::format("in step {}", killed.step);
  if (!killed.read_after_ns) {
    return fmt::format(
        "was killed {} before it had read the notice, which it does {}", where,
        ReadingText(setup, killed));
  }
  return fmt::format(
      "read the notice after {}{} and was killed {}{}",
      RoundedSeconds(*killed.read_after_ns),
      killed.notice->polled
          ? fmt::format(" (it polls {})", ReadingText(setup, killed))
          : "",
      where, UnsavedReasonText(setup, killed));
}

// Returns true iff the worker polled for the notice too rarely.
bool PolledTooLate(const RunSetup& setup, const KilledInGrace& killed) {
  const RecordFault& notice = *killed.notice;
  if (!notice.polled) return false;
  return !killed.read_after_ns ||
         (*killed.read_after_ns > notice.grace_ns / 2 &&
          setup.poll_every_ns > notice.grace_ns / 10);
}

}  // namespace

std::optional<KilledInGrace> FindKilledInGrace(const Outline& outline) {
  for (const FaultOccurrence& notice : outline.occurrences) {
    const RecordEvent* const kill =
        GivesNotice(*notice.fault) ? KillAfterNotice(outline, notice) : nullptr;
    if (kill == nullptr) continue;
    KilledInGrace killed = {.notice = notice.fault,
                            .worker = notice.incarnation->worker,
                            .longest_save_ns = LongestSave(outline.record)};
    AddWorkerEvents(notice, killed);
    AddDelay(outline, notice.event().t_ns, kill->t_ns, killed);
    return killed;
  }
  return std::nullopt;
}

std::string PollEveryText(const RunSetup& setup) {
  return setup.poll_every_ns == 0
             ? "preemption.poll_every"
             : fmt::format("preemption.poll_every ({})",
                           LengthText(setup.poll_every_ns));
}

int64_t NeededGrace(const RunSetup& setup, const KilledInGrace& killed) {
  if (killed.longest_step_ns == 0) return 0;
  constexpr int64_t kSecond = 1'000'000'000;
  const auto steps = static_cast<int64_t>(setup.steps_per_execution);
  const int64_t needed_ns =
      kExecutionsAfterNotice * steps * killed.longest_step_ns +
      killed.longest_save_ns;
  const int64_t unit_ns = needed_ns < kSecond ? kSecond / 10 : kSecond;
  return (needed_ns + unit_ns - 1) / unit_ns * unit_ns;
}

std::string NeededGraceText(const RunSetup& setup, bool has_delays) {
  return fmt::format("the time of {} and a save{}, rounded up",
                     setup.steps_per_execution == 1
                         ? "two steps"
                         : fmt::format("two executions of {} steps",
                                       setup.steps_per_execution),
                     has_delays ? " with its delays" : "");
}

std::string KilledInGraceText(const Outline& outline,
                              const KilledInGrace& killed) {
  const RecordFault& notice = *killed.notice;
  const int64_t told_ns = outline.record.setup.notice_grace_ns;
  std::string text =
      fmt::format("fault {} grants worker {} {} from the notice to the kill",
                  notice.id, killed.worker, LengthText(notice.grace_ns));
  if (told_ns > notice.grace_ns) {
    text += fmt::format(", but the trainer was told {} (preemption.grace)",
                        LengthText(told_ns));
  }
  text += fmt::format("; worker {} {}", killed.worker,
                      CourseText(outline.record.setup, killed));
  if (killed.longest_step_ns > 0) {
    text += fmt::format("; a step took up to {}",
                        RoundedSeconds(killed.longest_step_ns));
  }
  if (killed.longest_save_ns > 0) {
    text += fmt::format(", a save up to {}",
                        RoundedSeconds(killed.longest_save_ns));
  }
  return text;
}

std::string KilledInGraceRemedy(const RunSetup& setup,
                                const KilledInGrace& killed) {
  const RecordFault& notice = *killed.notice;
  const std::string granted = LengthText(notice.grace_ns);
  const int64_t needed_ns = NeededGrace(setup, killed);
  const int64_t told_ns = setup.notice_grace_ns;
  if (PolledTooLate(setup, killed)) {
    return fmt::format("lower {} to {}, a tenth of the grace of fault {} ({})",
                       PollEveryText(setup), LengthText(notice.grace_ns / 10),
                       notice.id, granted);
  }
  if (killed.delay != nullptr) {
    const bool has_end = killed.delay_ns < INT64_MAX;
    return fmt::format(
        "remove fault {}, which delayed worker {}{}", killed.delay->id,
        killed.delayed,
        has_end ? fmt::format(", or raise the grace of fault {} ({}) to {} or "
                              "more",
                              notice.id, granted,
                              LengthText(needed_ns + killed.delay_ns))
                : "");
  }
  if (needed_ns > notice.grace_ns) {
    const std::string needed = LengthText(needed_ns);
    return fmt::format(
        "raise the grace of fault {} ({}) to {}, {}{}", notice.id, granted,
        needed, NeededGraceText(setup),
        told_ns > needed_ns
            ? fmt::format(", and lower preemption.grace ({}) to the same time",
                          LengthText(told_ns))
            : "");
  }
  if (told_ns > notice.grace_ns) {
    return fmt::format(
        "lower preemption.grace ({}) to the grace of fault {} ({})",
        LengthText(told_ns), notice.id, granted);
  }
  return fmt::format("raise the grace of fault {} ({})", notice.id, granted);
}

}  // namespace gauntlet
