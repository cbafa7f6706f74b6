#include "harness/record/golden.h"

#include <algorithm>

namespace gauntlet {

GoldenTrajectory GoldenOf(const IncarnationEvents& reference) {
  GoldenTrajectory golden;
  for (const RecordEvent& event : reference.events) {
    switch (event.kind) {
      case RecordKind::kInitialized:
      case RecordKind::kStep:
      case RecordKind::kEvaluated:
      case RecordKind::kEpochEnd: {
        GoldenEntry entry{.kind = event.kind,
                          .step = event.step,
                          .phase = event.phase,
                          .epoch = event.epoch,
                          .position = event.position,
                          .digest = event.digest,
                          .loss_bits = event.loss_bits,
                          .count = event.count,
                          .samples = event.samples};
        std::sort(entry.samples.begin(), entry.samples.end());
        golden.entries.push_back(std::move(entry));
        if (event.kind == RecordKind::kEpochEnd) {
          golden.epochs.push_back({.epoch = event.epoch,
                                   .loss_bits = event.loss_bits,
                                   .correct = event.count});
        }
        break;
      }
      case RecordKind::kFinished:
        golden.final_digest = event.digest;
        break;
      default:
        break;
    }
  }
  return golden;
}

}  // namespace gauntlet
