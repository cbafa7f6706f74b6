#include "harness/run/failure/remedy/notice_step.h"

#include "engine/text/units.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>

namespace gauntlet {

std::string WithoutNoticeGrace(const RunSetup& setup, std::string_view also) {
  return fmt::format(
      "set preemption.grace ({}) to 0s{}, as training continues after a notice "
      "while enough of this grace is left for a save",
      DurationToText(Duration(setup.notice_grace_ns)), also);
}

std::string StopAdvice(const Record& record, const RecordFault& notice,
                       uint64_t stopped, const StepRange& steps) {
  const bool is_possible = HasOwnStep(notice) && !notice.polled &&
                           record.setup.steps_per_execution == 1 &&
                           steps.first > 0 && steps.last < LastStepOf(record);
  if (!is_possible) return "";
  if (*notice.step == stopped) return StepAdvice(notice, steps);
  if (record.setup.notice_grace_ns == 0 || *notice.step > stopped) return "";
  const bool is_in_range =
      steps.first <= *notice.step && *notice.step <= steps.last;
  return WithoutNoticeGrace(
      record.setup, is_in_range ? "" : " and " + StepAdvice(notice, steps));
}

std::string SaveAtStopAdvice(const Record& record, const RecordFault& notice,
                             uint64_t stopped, uint64_t step) {
  const std::string moved =
      StopAdvice(record, notice, stopped, {.first = step, .last = step});
  return moved.empty() || notice.step != stopped
             ? moved
             : moved + ", as the job saves the step of the notice";
}

}  // namespace gauntlet
