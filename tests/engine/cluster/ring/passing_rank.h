// One rank of an exchange that begins during a backward pass, in any world.
#ifndef GAUNTLET_TESTS_ENGINE_CLUSTER_RING_PASSING_RANK_H_
#define GAUNTLET_TESTS_ENGINE_CLUSTER_RING_PASSING_RANK_H_

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/cluster/ring/ring.h"
#include "tests/engine/cluster/ring/plain_sum.h"

namespace gauntlet {

// A rank whose last replica is computed during the exchange, layer by layer.
// The sum overwrites the first replica.
class PassingRank {
 public:
  // The pass computes with `kernels`, which may be the ring's. Gradients are
  // the first `gradients` floats of each array.
  PassingRank(World& world, Ring& ring, const Kernels& kernels, Arrays arrays,
              size_t gradients)
      : world_(world),
        ring_(ring),
        kernels_(kernels),
        arrays_(std::move(arrays)),
        values_(arrays_.back()),
        gradients_(gradients) {
    std::ranges::fill(arrays_.back(), std::numeric_limits<float>::quiet_NaN());
    views_.assign(arrays_.begin(), arrays_.end());
  }

  // Begins the exchange. Call Complete before the rank is destroyed.
  void Begin(Duration timeout) {
    task_ = world_.tasks.Spawn("exchange", [this, timeout] {
      status_ = Reduce(&pass_, timeout);
      ended_ = world_.clock.Now();
    });
  }

  // Computes the gradients [offset, end of the last layer).
  void ComputeFrom(size_t offset, Duration duration) {
    world_.clock.SleepUntil(world_.clock.Now() + duration);
    Put(offset, std::min(final_from_, gradients_));
    final_from_ = offset;
    progress_.SetFinalFrom(offset);
  }

  // Computes the rest; returns the result of the exchange.
  Status Complete(const Tally& tally, Duration duration) {
    world_.clock.SleepUntil(world_.clock.Now() + duration);
    Put(0, std::min(final_from_, gradients_));
    Put(gradients_, values_.size());
    tally_ = tally;
    completed_ = world_.clock.Now();
    progress_.Complete(completed_);
    task_->Join();
    return status_;
  }

  // To be called instead of Begin and Complete: computes the whole pass, and
  // makes the exchange after it.
  Status SumAfterPass(const Tally& tally, Duration timeout) {
    Put(0, values_.size());
    tally_ = tally;
    return Reduce(nullptr, timeout);
  }

  const std::vector<float>& sum() const { return arrays_.front(); }
  const Tally& tally() const { return tally_; }
  // Time from the end of the pass to the end of the exchange.
  Duration ended_after() const { return ended_ - completed_; }

 private:
  Status Reduce(const RunningPass* pass, Duration timeout) {
    return ring_.Reduce({.step = 1},
                        {.local = views_,
                         .total = arrays_.front(),
                         .last_to_first = gradients_,
                         .pass = pass},
                        tally_, timeout);
  }

  void Put(size_t begin, size_t end) {
    std::copy(values_.begin() + static_cast<ptrdiff_t>(begin),
              values_.begin() + static_cast<ptrdiff_t>(end),
              arrays_.back().begin() + static_cast<ptrdiff_t>(begin));
    kernels_.Scale(1.0f, std::span(arrays_.back()).subspan(begin, end - begin));
  }

  World& world_;
  Ring& ring_;
  const Kernels& kernels_;
  Arrays arrays_;
  const std::vector<float> values_;  // array of the last replica
  const size_t gradients_;
  size_t final_from_ = SIZE_MAX;
  std::vector<std::span<const float>> views_;
  const std::unique_ptr<Kernels> sums_ =
      Kernels::Create({.isa = Isa::kScalar}).value();
  PassProgress progress_{world_.tasks};
  const RunningPass pass_{.progress = progress_, .kernels = *sums_};
  std::unique_ptr<Task> task_;
  Tally tally_;
  Status status_;
  Time completed_{};
  Time ended_{};
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CLUSTER_RING_PASSING_RANK_H_
