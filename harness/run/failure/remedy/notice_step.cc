#include "harness/run/failure/remedy/notice_step.h"

#include "harness/run/failure/remedy/permitted_values.h"

namespace gauntlet {

std::string StopAdvice(const Record& record, const RecordFault& notice,
                       uint64_t stopped, const StepRange& steps) {
  const bool stopped_in_own_step =
      HasOwnStep(notice) && !notice.polled && *notice.step == stopped;
  const bool is_possible = stopped_in_own_step &&
                           record.setup.steps_per_execution == 1 &&
                           steps.first > 0 && steps.last < LastStepOf(record);
  return is_possible ? StepAdvice(notice, steps) : "";
}

std::string SaveAtStopAdvice(const Record& record, const RecordFault& notice,
                             uint64_t stopped, uint64_t step) {
  const std::string moved =
      StopAdvice(record, notice, stopped, {.first = step, .last = step});
  return moved.empty() ? ""
                       : moved + ", as the job saves the step of the notice";
}

}  // namespace gauntlet
