#include "harness/run/failure/history/cut_save.h"

#include <algorithm>

#include "engine/text/units.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
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

// Returns "; the save of step 8 took 620 ms" for LastSaveBefore; "" if there
// was none.
std::string SaveBeforeText(const Record& record, int64_t begin_ns) {
  const std::optional<DoneSave> done = LastSaveBefore(record, begin_ns);
  if (!done) return "";
  return fmt::format("; the save of step {} took {}", done->step,
                     MillisecondsText(done->duration_ns));
}

// Returns "fault slowdisk (slow, 3s) delayed the save of step 8, which" or,
// without a delay, "the save of step 8".
std::string DelayedSaveText(const BegunSave& save,
                            const std::vector<const RecordFault*>& delays) {
  if (delays.empty()) return SavesText({save.step});
  std::vector<std::string> texts;
  texts.reserve(delays.size());
  for (const RecordFault* fault : delays) {
    const int64_t delay_ns = DelayOf(*fault);
    texts.push_back(fmt::format(
        "{} ({}{})", fault->id, fault->kind,
        delay_ns == 0 ? "" : ", " + DurationToText(Duration(delay_ns))));
  }
  return fmt::format("fault{} {} delayed {}, which",
                     texts.size() == 1 ? "" : "s", fmt::join(texts, " and "),
                     SavesText({save.step}));
}

// Returns "; the launcher restarted the job: …" if it did after the kill at
// that time, although the scenario expects a clean stop; else "".
std::string RestartAfterKillText(const Outline& outline, int64_t kill_ns) {
  if (outline.record.expect.outcome != Outcome::kStopsCleanly) return "";
  const bool restarts = std::ranges::any_of(
      InterruptionsOf(outline), [kill_ns](const Interruption& one) {
        return one.reaction == Reaction::kRestartsJob &&
               one.from_ns < kill_ns && kill_ns <= one.reaction_ns;
      });
  return restarts ? "; the launcher restarted the job: a killed worker is a "
                    "loss, which cluster.restart.max limits; "
                    "preemption.requeue limits only new starts of the "
                    "launcher"
                  : "";
}

}  // namespace

std::optional<DoneSave> LastSaveBefore(const Record& record, int64_t t_ns) {
  const RecordEvent* const done = NewestUntil(
      record, RecordKind::kSaveAcknowledged, std::nullopt, {.t_ns = t_ns});
  if (done == nullptr) return std::nullopt;
  const RecordEvent* const began =
      NewestUntil(record, RecordKind::kSaveBegin, done->step, *done);
  if (began == nullptr) return std::nullopt;
  return DoneSave{.step = done->step, .duration_ns = done->t_ns - began->t_ns};
}

bool IsSlowAnyway(const Record& record, const BegunSave& save,
                  int64_t until_ns) {
  const std::optional<DoneSave> before = LastSaveBefore(record, save.begin_ns);
  return before && before->duration_ns >= until_ns - save.begin_ns;
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
        const bool is_once = !fault.always && fault.hits == 1;
        const bool is_short = delay_ns > 0 && delay_ns < lasted_ns;
        // A fault that repeats may have delayed the save before it, too.
        return !is_slow_anyway || !is_short || !is_once;
      });
}

std::string PendingSaveText(const Outline& outline, const BegunSave& save,
                            const TimeSpan& span) {
  const Record& record = outline.record;
  const RecordEvent* const end = FirstEnd(record, save.begin_ns, span.until_ns);
  if (end == nullptr) return NotAcknowledgedText({save.step});
  return fmt::format("{} was still being written when {}, {} after it began{}",
                     DelayedSaveText(save, DelaysOf(record, save, end->t_ns)),
                     EndWithFaultText(outline, *end, span.since_ns),
                     MillisecondsText(end->t_ns - save.begin_ns),
                     SaveBeforeText(record, save.begin_ns));
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

std::optional<ShortGrace> FindShortGrace(const Outline& outline) {
  const Record& record = outline.record;
  for (const FaultOccurrence& notice : outline.occurrences) {
    if (!notice.traits.gives_notice || notice.fault->grace_ns == 0) continue;
    const RecordEvent* const kill = KillAfterNotice(outline, notice);
    if (kill == nullptr) continue;
    const std::vector<BegunSave> saves = SavesBegunBy(record, *kill);
    const auto last = std::ranges::max_element(saves, {}, &BegunSave::begin_ns);
    if (last == saves.end() || last->ending != SaveEnding::kPending) continue;
    return ShortGrace{
        .notice = notice.fault,
        .save = *last,
        .span = {.since_ns = notice.event().t_ns - 1, .until_ns = kill->t_ns}};
  }
  return std::nullopt;
}

std::string ExplainShortGrace(const Outline& outline) {
  const std::optional<ShortGrace> grace = FindShortGrace(outline);
  return grace ? PendingSaveText(outline, grace->save, grace->span) +
                     RestartAfterKillText(outline, grace->span.until_ns)
               : "";
}

}  // namespace gauntlet
