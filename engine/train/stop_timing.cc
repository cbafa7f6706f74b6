#include "engine/train/stop_timing.h"

namespace gauntlet {

StopAdvice StopTiming::Ask(Time now) const {
  if (!noticed_) return StopAdvice::kGoOn;
  // The request itself takes one more operation to reach the others.
  const Duration on_the_way = 2 * longest_operation_ + kMargin;
  const Duration left = *noticed_ + grace_ - now;
  if (left <= on_the_way) return StopAdvice::kStop;
  if (!longest_save_) return StopAdvice::kSaveAndGoOn;
  // Half as much again: a save beside others takes longer.
  const Duration for_the_save = *longest_save_ + *longest_save_ / 2;
  return left <= on_the_way + for_the_save ? StopAdvice::kStop
                                           : StopAdvice::kGoOn;
}

}  // namespace gauntlet
