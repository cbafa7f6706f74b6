// A training job whose state has a given size.
#ifndef GAUNTLET_HARNESS_BENCH_STATE_JOB_H_
#define GAUNTLET_HARNESS_BENCH_STATE_JOB_H_

#include <cstdint>

#include "engine/job/job.h"

namespace gauntlet {

inline constexpr uint64_t kLeastStateBytes = 100'000;
inline constexpr uint64_t kMostStateBytes = 50'000'000'000;

// Returns a job of three dense layers on the generated digits, trained by Adam.
// Weights and Adam's moments have about `bytes` bytes together. REQUIRES: bytes
// from kLeastStateBytes to kMostStateBytes.
JobSpec StateJob(uint64_t bytes, int replicas);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_STATE_JOB_H_
