// Explains a save that was still being written when a process ended.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CUT_SAVE_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CUT_SAVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/oracle/history/outline.h"
#include "harness/run/failure/history/begun_saves.h"

namespace gauntlet {

// A part of a run.
struct TimeSpan {
  int64_t since_ns = 0;
  int64_t until_ns = 0;
};

// Returns true iff the save would have been pending at `until_ns` even without
// faults: saves usually took at least as long as this one had lasted. The usual
// duration is the median of the acknowledged saves (UsualSaveText) or, if only
// one was acknowledged, that of the previous save.
bool IsSlowAnyway(const Record& record, const BegunSave& save,
                  int64_t until_ns);

// Returns the faults that delayed the save until `until_ns`, in the order of
// their ids. If IsSlowAnyway, leaves out each fault that fires only once and
// whose delay is shorter than the save had lasted: the save would have been
// pending without this fault, too.
std::vector<const RecordFault*> DelaysOf(const Record& record,
                                         const BegunSave& save,
                                         int64_t until_ns);

// Returns the last save that was acknowledged by `t_ns`; nullopt if there was
// none.
struct DoneSave {
  uint64_t step = 0;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;  // until its acknowledgement
};
std::optional<DoneSave> LastSaveBefore(const Record& record, int64_t t_ns);

// Returns the durations of all acknowledged saves in ns, in ascending order.
std::vector<int64_t> DurationsOfSaves(const Record& record);

// Returns "the run's 9 acknowledged saves took 17 ms (median)"; "" if fewer
// than two were acknowledged.
std::string UsualSaveText(const Record& record);

// Returns "fault slowdisk (slow, 3s) delayed the save of step 12, which was
// still being written when worker 2 was killed because of fault k (…), 575 ms
// after the save began; the run's 9 acknowledged saves took 430 ms (median)".
// If the save IsSlowAnyway, names the faults that fire only once last: ", so
// even without fault slowdisk (slow, 3s) this save would have taken longer than
// 575 ms". The text names the first end of a process from the begin of the save
// to the end of the span, and the newest fault in the span. The duration ends
// at the fault of ImmediateFaultOf, if there is one. If this fault fired before
// the save began, returns "the save of step 12 began only after fault k (…) had
// fired", with the previous save if this save waited for it: "; it waited for
// the previous save: fault slowdisk (slow, 3s) delayed the save of step 8,
// which took 620 ms". If the end is a kill at the end of a grace period, adds
// why this save began then: for the stop, or later because of
// preemption.grace. REQUIRES: the save was pending at the end of the span.
std::string PendingSaveText(const Outline& outline, const BegunSave& save,
                            const TimeSpan& span);

// Returns the first fault that gave a notice of a preemption; null if none did.
const FaultOccurrence* FirstNotice(const Outline& outline);

// Returns the kill of the process that got the notice; null if it ended
// otherwise.
const RecordEvent* KillAfterNotice(const Outline& outline,
                                   const FaultOccurrence& notice);

// Returns "a worker continues training while preemption.grace (10s) leaves
// enough time for a step and a save". REQUIRES: setup.notice_grace_ns > 0.
std::string WhyTrainingContinuesText(const RunSetup& setup);

// A save for which the grace period of a preemption notice was too short.
struct ShortGrace {
  const RecordFault* notice = nullptr;
  uint64_t steps = 0;  // completed after the worker had read the notice
  BegunSave save;
  TimeSpan span;  // from the notice to the kill
};

// Returns nullopt if no worker was killed at the end of a grace period while a
// save was pending.
std::optional<ShortGrace> FindShortGrace(const Outline& outline);

// Returns "the save of step 7 was still being written when workers 0 and 1 were
// killed because of fault n (…), 1.0 s after the notice; the save had run for
// 999 ms", with the delays and other saves of PendingSaveText; "" if there is
// no such save. Adds why this save began then, as PendingSaveText does. If the
// job was expected to stop, adds why it was restarted.
std::string ExplainShortGrace(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CUT_SAVE_H_
