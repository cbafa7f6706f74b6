#include "engine/train/notice/stop_timing.h"

#include <algorithm>

namespace gauntlet {

StopAdvice StopTiming::Advise(Time now,
                              std::span<const Operation> ahead) const {
  if (!noticed_) return StopAdvice::kContinue;
  Duration on_the_way = kMargin;
  for (const Operation operation : ahead) {
    const auto& longest = longest_[static_cast<size_t>(operation)];
    if (!longest) return StopAdvice::kStop;
    on_the_way += *longest;
  }
  const Duration left = *noticed_ + grace_ - now;
  if (left <= on_the_way) return StopAdvice::kStop;
  if (!longest_save_) return StopAdvice::kSaveAndContinue;
  const Duration save = std::max(*longest_save_, last_save_so_far_);
  // Adds a half to each save: a save takes longer while other saves are in
  // flight.
  const Duration for_the_saves = saves_ * (save + save / 2);
  return left <= on_the_way + for_the_saves ? StopAdvice::kStop
                                            : StopAdvice::kContinue;
}

}  // namespace gauntlet
