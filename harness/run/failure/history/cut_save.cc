#include "harness/run/failure/history/cut_save.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "engine/text/counted.h"
#include "engine/text/units.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/added_delays.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/causing_faults.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string MillisecondsText(int64_t ns) {
  return fmt::format("{:.{}f} ms", static_cast<double>(ns) / 1e6,
                     ns < 10'000'000 ? 1 : 0);
}

// Returns the median of the durations in ns. REQUIRES: they are in ascending
// order, and there is at least one.
int64_t MedianOf(const std::vector<int64_t>& durations) {
  const size_t count = durations.size();
  return (durations[(count - 1) / 2] + durations[count / 2]) / 2;
}

// Returns "; " and UsualSaveText. If only one save was acknowledged, returns
// "; the save of step 8 took 620 ms" for LastSaveBefore; "" if there was none.
std::string OtherSavesText(const Record& record, int64_t begin_ns) {
  if (const std::string usual = UsualSaveText(record); !usual.empty()) {
    return "; " + usual;
  }
  const std::optional<DoneSave> done = LastSaveBefore(record, begin_ns);
  if (!done) return "";
  return fmt::format("; the save of step {} took {}", done->step,
                     MillisecondsText(done->duration_ns));
}

// Returns "fault slowdisk (slow, 3s)". REQUIRES: delays is not empty.
std::string FaultsText(const std::vector<const RecordFault*>& delays) {
  std::vector<std::string> texts;
  texts.reserve(delays.size());
  for (const RecordFault* fault : delays) {
    const int64_t delay_ns = DelayOf(*fault);
    texts.push_back(fmt::format(
        "{} ({}{})", fault->id, fault->kind,
        delay_ns == 0 ? "" : ", " + DurationToText(Duration(delay_ns))));
  }
  return fmt::format("fault{} {}", texts.size() == 1 ? "" : "s",
                     fmt::join(texts, " and "));
}

// Returns "fault slowdisk (slow, 3s) delayed the save of step 8, which" or,
// without a delay, "the save of step 8".
std::string DelayedSaveText(const BegunSave& save,
                            const std::vector<const RecordFault*>& delays) {
  return delays.empty()
             ? SavesText({save.step})
             : fmt::format("{} delayed {}, which", FaultsText(delays),
                           SavesText({save.step}));
}

// Returns "fault slowdisk (slow, 3s) delayed the save of step 8, which was
// still being written when END; the 9 acknowledged saves took 17 ms (median)".
// If the save IsSlowAnyway, a fault that fired once is not the cause, and is
// named last: ", so even without fault slowdisk (slow, 3s) this save would have
// taken longer than 0.9 ms". The time is that from the begin of the save to
// `until_ns`.
std::string CutSaveText(const Record& record, const BegunSave& save,
                        int64_t until_ns, std::string_view end) {
  std::vector<const RecordFault*> causes = DelaysOf(record, save, until_ns);
  std::vector<const RecordFault*> others;
  if (IsSlowAnyway(record, save, until_ns)) {
    std::ranges::copy_if(causes, std::back_inserter(others),
                         &RecordFault::fires_once);
    std::erase_if(causes,
                  [](const RecordFault* fault) { return fault->fires_once(); });
  }
  return fmt::format(
      "{} was still being written when {}{}{}", DelayedSaveText(save, causes),
      end, OtherSavesText(record, save.begin_ns),
      others.empty() ? ""
                     : fmt::format(", so even without {} this save would have "
                                   "taken longer than {}",
                                   FaultsText(others),
                                   MillisecondsText(until_ns - save.begin_ns)));
}

// Returns "; it waited for the previous save: the save of step 5 took 115 ms",
// with the faults that delayed that save. Returns "" unless training reached
// the step of `save` while the previous save was in progress.
std::string WaitText(const Record& record, const BegunSave& save) {
  const std::optional<DoneSave> previous =
      LastSaveBefore(record, save.begin_ns);
  if (!previous) return "";
  const int64_t done_ns = previous->begin_ns + previous->duration_ns;
  const bool has_waited =
      FirstOf(record, [&](const RecordEvent& event) {
        return event.kind == RecordKind::kStep && event.step == save.step &&
               previous->begin_ns < event.t_ns && event.t_ns < done_ns;
      }) != nullptr;
  if (!has_waited) return "";
  const BegunSave begun = {.step = previous->step,
                           .begin_ns = previous->begin_ns};
  return fmt::format("; it waited for the previous save: {} took {}",
                     DelayedSaveText(begun, DelaysOf(record, begun, done_ns)),
                     MillisecondsText(previous->duration_ns));
}

// Returns the workers that got the notice and were killed when its grace period
// had passed.
std::set<uint64_t> WorkersKilledAfter(const Outline& outline,
                                      const RecordFault& notice) {
  std::set<uint64_t> workers;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (occurrence.fault != &notice) continue;
    const IncarnationEvents& process = *occurrence.incarnation;
    const int64_t from_ns = occurrence.event().t_ns + notice.grace_ns;
    const auto is_kill = [&](const RecordEvent& event) {
      return event.kind == RecordKind::kExited && event.t_ns >= from_ns &&
             event.about == process.worker &&
             event.incarnation == process.number &&
             event.reason == RecordReason::kSignal;
    };
    const bool is_killed = std::ranges::any_of(
        outline.record.launchers, [&](const LauncherRun& run) {
          return std::ranges::any_of(run.events, is_kill);
        });
    if (is_killed) workers.insert(static_cast<uint64_t>(process.worker));
  }
  return workers;
}

// Returns "workers 0 and 1 were killed because of fault n (preempt all …)"; if
// only one was, the text of EndWithFaultText.
std::string KilledAfterNoticeText(const Outline& outline,
                                  const ShortGrace& grace,
                                  const RecordEvent& kill) {
  const std::set<uint64_t> workers = WorkersKilledAfter(outline, *grace.notice);
  return workers.size() < 2
             ? EndWithFaultText(outline, kill, grace.span.since_ns)
             : fmt::format("{} were killed because of fault {} ({})",
                           NumberedText("worker", workers), grace.notice->id,
                           grace.notice->summary);
}

// Returns "1.0 s after the notice; the save had run for 999 ms".
std::string TimesOfKillText(const ShortGrace& grace) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto [since_ns, until_ns] = grace.span;
  const int64_t waited_ns = until_ns - since_ns;
  return fmt::format("{} after the notice; the save had run for {}",
                     waited_ns < kSecond
                         ? MillisecondsText(waited_ns)
                         : fmt::format("{:.1f} s", Seconds(waited_ns)),
                     MillisecondsText(until_ns - grace.save.begin_ns));
}

// Returns "; training continued for 4 steps after the notice, until the regular
// save of step 8 was due, as …" if the save began only then because of
// preemption.grace. Leaves out the middle if the save was not due. Otherwise
// returns "": without this setting, workers save after the execution in which
// they read the notice.
std::string MoreStepsText(const RunSetup& setup, const ShortGrace& grace) {
  if (grace.steps <= setup.steps_per_execution || setup.notice_grace_ns == 0) {
    return "";
  }
  const uint64_t interval = setup.save_interval_steps;
  const bool was_due = interval > 0 && grace.save.step % interval == 0;
  return fmt::format(
      "; training continued for {} after the notice{}, as {}",
      Counted(grace.steps, "step"),
      was_due ? fmt::format(", until the regular save of step {} was due",
                            grace.save.step)
              : "",
      WhyTrainingContinuesText(setup));
}

// Returns "; saves are due every 10 steps, so this one was for the stop" if the
// step of the save is none of these; else "".
std::string SaveOfStopText(const RunSetup& setup, const BegunSave& save) {
  const uint64_t interval = setup.save_interval_steps;
  if (interval == 0 || save.step % interval == 0) return "";
  return fmt::format("; saves are due every {}, so this one was for the stop",
                     Counted(interval, "step"));
}

// Returns why the save that the kill interrupted began then.
std::string WhyThisSaveText(const RunSetup& setup, const ShortGrace& grace) {
  return SaveOfStopText(setup, grace.save) + MoreStepsText(setup, grace);
}

// Returns the WhyThisSaveText of this save if a kill at the end of a grace
// period interrupted it; else "".
std::string WhyPendingSaveText(const Outline& outline, const BegunSave& save) {
  const std::optional<ShortGrace> grace = FindShortGrace(outline);
  return grace && grace->save.begin_ns == save.begin_ns &&
                 grace->save.step == save.step
             ? WhyThisSaveText(outline.record.setup, *grace)
             : "";
}

// Returns the number of steps that the worker completed after it had read the
// notice, before the save began.
uint64_t StepsBeforeSave(const FaultOccurrence& notice, const BegunSave& save) {
  const std::vector<RecordEvent>& events = notice.incarnation->events;
  const auto read = std::ranges::find(
      events.begin() + static_cast<std::ptrdiff_t>(notice.index), events.end(),
      RecordKind::kNotice, &RecordEvent::kind);
  return static_cast<uint64_t>(
      std::count_if(read, events.end(), [&](const RecordEvent& event) {
        return event.kind == RecordKind::kStep && event.t_ns <= save.begin_ns;
      }));
}

// Returns "; the launcher restarted the job: …" if it did so after the kill at
// `kill_ns`, although the scenario expects a clean stop; else "".
std::string RestartAfterKillText(const Outline& outline, int64_t kill_ns) {
  if (outline.record.expect.outcome != Outcome::kStopsCleanly) return "";
  const bool restarts = std::ranges::any_of(
      InterruptionsOf(outline), [kill_ns](const Interruption& one) {
        return one.reaction == Reaction::kRestartsJob &&
               one.from_ns < kill_ns && kill_ns <= one.reaction_ns;
      });
  return restarts
             ? "; the launcher restarted the job: a killed worker counts as a "
               "loss, so cluster.restart.max applies, not "
               "preemption.requeue"
             : "";
}

}  // namespace

std::vector<int64_t> DurationsOfSaves(const Record& record) {
  std::vector<int64_t> durations;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    std::map<uint64_t, int64_t> begun;  // times, by step
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kSaveBegin) begun[event.step] = event.t_ns;
      const auto begin = begun.find(event.step);
      if (event.kind == RecordKind::kSaveAcknowledged && begin != begun.end()) {
        durations.push_back(event.t_ns - begin->second);
      }
    }
  }
  std::ranges::sort(durations);
  return durations;
}

std::string UsualSaveText(const Record& record) {
  const std::vector<int64_t> durations = DurationsOfSaves(record);
  if (durations.size() < 2) return "";
  return fmt::format("the run's {} acknowledged saves took {} (median)",
                     durations.size(), MillisecondsText(MedianOf(durations)));
}

std::optional<DoneSave> LastSaveBefore(const Record& record, int64_t t_ns) {
  const RecordEvent* const done = NewestUntil(
      record, RecordKind::kSaveAcknowledged, std::nullopt, {.t_ns = t_ns});
  if (done == nullptr) return std::nullopt;
  const RecordEvent* const began =
      NewestUntil(record, RecordKind::kSaveBegin, done->step, *done);
  if (began == nullptr) return std::nullopt;
  return DoneSave{.step = done->step,
                  .begin_ns = began->t_ns,
                  .duration_ns = done->t_ns - began->t_ns};
}

bool IsSlowAnyway(const Record& record, const BegunSave& save,
                  int64_t until_ns) {
  const std::vector<int64_t> durations = DurationsOfSaves(record);
  const std::optional<DoneSave> before = LastSaveBefore(record, save.begin_ns);
  const int64_t usual_ns = durations.size() > 1 ? MedianOf(durations)
                           : before             ? before->duration_ns
                                                : 0;
  return usual_ns > 0 && usual_ns >= until_ns - save.begin_ns;
}

std::vector<const RecordFault*> DelaysOf(const Record& record,
                                         const BegunSave& save,
                                         int64_t until_ns) {
  const int64_t lasted_ns = until_ns - save.begin_ns;
  const bool is_slow_anyway = IsSlowAnyway(record, save, until_ns);
  return FaultsInSaves(
      record, save.begin_ns, until_ns, [&](const RecordFault& fault) {
        if (!TraitsOf(fault).DelaysTask()) return false;
        const int64_t delay_ns = DelayOf(fault);  // 0: without end
        const bool is_short = delay_ns > 0 && delay_ns < lasted_ns;
        // A fault that repeats may have delayed the other saves, too.
        return !is_slow_anyway || !is_short || !fault.fires_once();
      });
}

std::string PendingSaveText(const Outline& outline, const BegunSave& save,
                            const TimeSpan& span) {
  const Record& record = outline.record;
  const RecordEvent* const end = FirstEnd(record, save.begin_ns, span.until_ns);
  if (end == nullptr) return NotAcknowledgedText({save.step});
  const FaultOccurrence* const fault =
      ImmediateFaultOf(outline, *end, span.since_ns);
  const int64_t ended_ns = fault == nullptr ? end->t_ns : fault->event().t_ns;
  if (fault != nullptr && ended_ns < save.begin_ns) {
    return fmt::format("{} began only after fault {} ({}) had fired{}",
                       SavesText({save.step}), fault->fault->id,
                       fault->fault->summary, WaitText(record, save));
  }
  return CutSaveText(record, save, ended_ns,
                     fmt::format("{}, {} after the save began",
                                 EndWithFaultText(outline, *end, span.since_ns),
                                 MillisecondsText(ended_ns - save.begin_ns))) +
         WhyPendingSaveText(outline, save);
}

const FaultOccurrence* FirstNotice(const Outline& outline) {
  const auto found = std::ranges::find_if(
      outline.occurrences, [](const FaultOccurrence& occurrence) {
        return GivesNotice(*occurrence.fault);
      });
  return found == outline.occurrences.end() ? nullptr : &*found;
}

const RecordEvent* KillAfterNotice(const Outline& outline,
                                   const FaultOccurrence& notice) {
  const RecordEvent* const end =
      FirstEnd(outline.record, notice.event().t_ns, INT64_MAX);
  const bool is_kill = end != nullptr && end->reason == RecordReason::kSignal &&
                       end->about == notice.incarnation->worker &&
                       end->incarnation == notice.incarnation->number;
  return is_kill ? end : nullptr;
}

std::string WhyTrainingContinuesText(const RunSetup& setup) {
  return fmt::format(
      "a worker continues training while preemption.grace ({}) leaves enough "
      "time for a step and a save",
      DurationToText(Duration(setup.notice_grace_ns)));
}

std::optional<ShortGrace> FindShortGrace(const Outline& outline) {
  const Record& record = outline.record;
  for (const FaultOccurrence& notice : outline.occurrences) {
    if (!GivesNotice(*notice.fault)) continue;
    const RecordEvent* const kill = KillAfterNotice(outline, notice);
    if (kill == nullptr) continue;
    const std::vector<BegunSave> saves = SavesBegunBy(record, *kill);
    const auto last = std::ranges::max_element(saves, {}, &BegunSave::begin_ns);
    if (last == saves.end() || last->ending != SaveEnding::kPending) continue;
    return ShortGrace{
        .notice = notice.fault,
        .steps = StepsBeforeSave(notice, *last),
        .save = *last,
        .span = {.since_ns = notice.event().t_ns - 1, .until_ns = kill->t_ns}};
  }
  return std::nullopt;
}

std::string ExplainShortGrace(const Outline& outline) {
  const std::optional<ShortGrace> grace = FindShortGrace(outline);
  if (!grace) return "";
  const Record& record = outline.record;
  const BegunSave& save = grace->save;
  const auto [since_ns, until_ns] = grace->span;
  const RecordEvent* const kill = FirstEnd(record, since_ns, until_ns);
  if (kill == nullptr) return "";
  return CutSaveText(record, save, until_ns,
                     fmt::format("{}, {}",
                                 KilledAfterNoticeText(outline, *grace, *kill),
                                 TimesOfKillText(*grace))) +
         WhyThisSaveText(record.setup, *grace) +
         RestartAfterKillText(outline, until_ns);
}

}  // namespace gauntlet
