#include "reports/html/picture/training_position.h"

#include <algorithm>
#include <map>

#include "reports/events/causes.h"

namespace gauntlet {
namespace {

class SegmentBuilder {
 public:
  void Add(const RecordEvent& event) {
    switch (event.kind) {
      case RecordKind::kInitialized:
      case RecordKind::kResumed:
      case RecordKind::kResumedFromMemory:
        return Begin(event);
      case RecordKind::kStep:
        return Advance(event);
      default:
        return;
    }
  }

  std::vector<TrainingSegment> Take() && { return std::move(segments_); }

 private:
  // Opens a segment, unless another worker of the generation has begun at the
  // same step.
  void Begin(const RecordEvent& event) {
    const auto open = open_.find(event.generation);
    const bool is_open =
        open != open_.end() &&
        segments_[open->second].points.back().step == event.step;
    if (!is_open) Open(event, event.step);
  }

  void Advance(const RecordEvent& event) {
    if (!open_.contains(event.generation)) {
      Open(event, event.step > 0 ? event.step - 1 : 0);
    }
    TrainingSegment& segment = segments_[open_.at(event.generation)];
    if (event.step <= segment.points.back().step) return;
    segment.points.push_back({.t_ns = event.t_ns, .step = event.step});
    best_ = std::max(best_, event.step);
  }

  void Open(const RecordEvent& event, uint64_t step) {
    open_[event.generation] = segments_.size();
    segments_.push_back({.generation = event.generation,
                         .recomputed_until = best_,
                         .points = {{.t_ns = event.t_ns, .step = step}}});
  }

  std::vector<TrainingSegment> segments_;
  std::map<uint64_t, size_t> open_;  // newest segment, by generation
  uint64_t best_ = 0;                // last step completed so far
};

}  // namespace

std::vector<TrainingSegment> TrainingSegmentsOf(const Record& record) {
  SegmentBuilder builder;
  for (const EventPlace& place : EventsByTime(record)) {
    builder.Add(EventAt(record, place));
  }
  return std::move(builder).Take();
}

bool IsRecomputed(const std::vector<TrainingSegment>& segments,
                  const RecordEvent& step) {
  const auto newest = std::find_if(
      segments.rbegin(), segments.rend(), [&](const TrainingSegment& segment) {
        return segment.generation == step.generation &&
               segment.points.front().t_ns <= step.t_ns;
      });
  return newest != segments.rend() && step.step <= newest->recomputed_until;
}

}  // namespace gauntlet
