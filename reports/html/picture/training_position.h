// Training position of a run over time.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_TRAINING_POSITION_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_TRAINING_POSITION_H_

#include <cstdint>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

struct TrainingPoint {
  int64_t t_ns = 0;
  uint64_t step = 0;
};

// Training from one start or resume onwards.
struct TrainingSegment {
  uint64_t generation = 0;
  // Last step that earlier segments had completed; the steps up to it are
  // recomputed.
  uint64_t recomputed_until = 0;
  std::vector<TrainingPoint> points;  // not empty; steps and times ascending
};

// Returns the segments of a run. A step counts as completed when the first
// worker completes it. Segments are in the order of their first points; those
// of stale workers may overlap others.
std::vector<TrainingSegment> TrainingSegmentsOf(const Record& record);

// Returns true iff an earlier segment had already completed the step of `step`,
// a kStep event.
bool IsRecomputed(const std::vector<TrainingSegment>& segments,
                  const RecordEvent& step);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_TRAINING_POSITION_H_
