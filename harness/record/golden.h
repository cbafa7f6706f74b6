// The reference trajectory: states and metrics of the undisturbed reference
// run.
#ifndef GAUNTLET_HARNESS_RECORD_GOLDEN_H_
#define GAUNTLET_HARNESS_RECORD_GOLDEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/record/event.h"

namespace gauntlet {

// State of the reference run at its start, or after a step, an evaluation or
// the end of an epoch.
struct GoldenEntry {
  RecordKind kind = RecordKind::kStep;
  uint64_t step = 0;
  RecordPhase phase = RecordPhase::kInEpoch;
  uint64_t epoch = 0;
  uint64_t position = 0;
  std::string digest;  // empty: not computed at this step
  uint32_t loss_bits = 0;
  int64_t count = 0;
  std::vector<uint32_t> samples;  // used by all replicas, ascending; or empty

  bool operator==(const GoldenEntry&) const = default;
};

struct GoldenEpoch {
  uint64_t epoch = 0;
  uint32_t loss_bits = 0;
  int64_t correct = 0;

  bool operator==(const GoldenEpoch&) const = default;
};

struct GoldenTrajectory {
  std::vector<GoldenEntry> entries;  // in the order of the run
  std::vector<GoldenEpoch> epochs;   // in the order of the run
  std::string final_digest;          // empty: the reference did not finish

  bool operator==(const GoldenTrajectory&) const = default;
};

// Returns the trajectory of a reference run, from the events of its only
// worker.
GoldenTrajectory GoldenOf(const IncarnationEvents& reference);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_GOLDEN_H_
