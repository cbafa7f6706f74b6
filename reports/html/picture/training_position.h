// The training position of a run over time.
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

// Training from one start or resume on.
struct TrainingSegment {
  uint64_t generation = 0;
  // Last step that earlier segments had completed; up to there, steps are
  // recomputed.
  uint64_t recomputed_until = 0;
  std::vector<TrainingPoint> points;  // not empty; steps and times ascending
};

// A step counts from the first worker that completes it. Segments are in the
// order of their first points; those of a stale generation may overlap others.
std::vector<TrainingSegment> TrainingSegmentsOf(const Record& record);

// True iff an earlier segment had already completed the step of this kStep
// event.
bool IsRecomputed(const std::vector<TrainingSegment>& segments,
                  const RecordEvent& step);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_TRAINING_POSITION_H_
