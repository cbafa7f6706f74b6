#include "engine/data/sample_order.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {

SampleOrder::SampleOrder(uint64_t rng_key, uint64_t epoch, uint32_t samples)
    : permutation_(numerics::MakePermutation(rng_key, epoch, samples)) {}

SampleOrder::SampleOrder(std::shared_ptr<const std::vector<uint32_t>> known)
    : permutation_{}, known_(std::move(known)) {}

uint32_t SampleOrder::ComputeSample(uint64_t position) const {
  CHECK(position < permutation_.rows,
        fmt::format("position {} of an epoch of {} samples", position,
                    permutation_.rows));
  return numerics::PermuteIndex(permutation_, static_cast<uint32_t>(position));
}

SampleRange ReplicaSamples(uint64_t position, uint64_t step_samples,
                           uint64_t batch, uint64_t replica) {
  const uint64_t before = std::min(step_samples, replica * batch);
  return {.first = position + before,
          .count = std::min(step_samples - before, batch)};
}

SampleRange EvaluationSamples(uint64_t samples, uint64_t replicas,
                              uint64_t replica) {
  CHECK(replica < replicas, fmt::format("replica {} of {}", replica, replicas));
  // The first (samples % replicas) replicas take one sample more than the
  // others.
  const uint64_t share = samples / replicas;
  const uint64_t more = samples % replicas;
  return {.first = replica * share + std::min(replica, more),
          .count = share + (replica < more ? 1 : 0)};
}

}  // namespace gauntlet
