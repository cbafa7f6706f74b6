// Total durations of a worker's steps and saves, by part.
#ifndef GAUNTLET_ENGINE_TRAIN_TIME_TOTALS_H_
#define GAUNTLET_ENGINE_TRAIN_TIME_TOTALS_H_

#include <cstdint>
#include <vector>

#include "engine/world/time_split.h"

namespace gauntlet {

// A save that has ended on this worker, committed or failed.
struct TimedSave {
  bool committed = false;
  uint64_t bytes = 0;                // written by this worker
  std::vector<PartTime> parts;       // of the time for which training waited
  std::vector<PartTime> background;  // of background tasks
};

struct TimeTotals {
  uint64_t steps = 0;
  std::vector<PartTime> step_parts;
  // Committed saves. The bytes and times below include failed saves.
  uint64_t saves = 0;
  uint64_t save_bytes = 0;
  std::vector<PartTime> save_parts;
  std::vector<PartTime> save_background;

  void AddStep(const std::vector<PartTime>& parts) {
    ++steps;
    AddTo(step_parts, parts);
  }
  void AddSave(const TimedSave& save) {
    if (save.committed) ++saves;
    save_bytes += save.bytes;
    AddTo(save_parts, save.parts);
    AddTo(save_background, save.background);
  }
  bool operator==(const TimeTotals&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_TIME_TOTALS_H_
