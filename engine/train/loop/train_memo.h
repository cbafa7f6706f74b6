// Memo of pure functions: a replica's pass, and the order of an epoch's
// samples. The key of a pass is a digest of all its input. For training
// samples, the digest covers only their numbers, because the job determines
// their contents.
//
// If the same job is trained repeatedly, only the first training computes
// passes and orders. A run whose parameters differ in a single bit has other
// keys, and computes its passes itself.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_TRAIN_MEMO_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_TRAIN_MEMO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/data/sample_order.h"
#include "engine/digest.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"

namespace gauntlet {

// Used by any number of trainings, one at a time.
class TrainMemo {
 public:
  // Drops all passes and orders when they would exceed the capacity.
  // KeptGradients and orders that a caller has received remain valid.
  explicit TrainMemo(size_t capacity_bytes = size_t{64} << 20)
      : capacity_bytes_(capacity_bytes) {}

  struct CachedPass {
    ReplicaResult result;
    // For a pass with gradients: the gradients, then the loss. For an
    // initialization: the parameters, then 0. Null for an evaluation.
    KeptGradients floats;
  };
  // Returns null if the key is unknown.
  const CachedPass* Find(const Digest& key) const;
  void Put(const Digest& key, CachedPass pass);

  SampleOrder OrderOf(uint64_t rng_key, uint64_t epoch, uint32_t samples);

  // Statistics: passes found, passes computed, and bytes of passes and orders.
  uint64_t found() const { return found_; }
  uint64_t computed() const { return computed_; }
  size_t bytes() const { return bytes_; }

 private:
  // Counts the bytes, and drops all passes and orders if the capacity would be
  // exceeded.
  void MakeRoom(size_t bytes);

  size_t capacity_bytes_;
  size_t bytes_ = 0;
  mutable uint64_t found_ = 0;
  uint64_t computed_ = 0;
  std::unordered_map<Digest, CachedPass, DigestHash> passes_;
  // By key, epoch and number of samples.
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>,
           std::shared_ptr<const std::vector<uint32_t>>>
      orders_;
};

// Returns the model, with a lookup in the memo before each pass. `identity` is
// a digest of all input of the model's passes other than their arguments:
// layers, shapes, kernels, and the training data. It must cover the data,
// because a key covers only the numbers of a batch's training samples.
//
// The kernels and the memo outlive the result.
std::unique_ptr<Model> WithMemo(std::unique_ptr<Model> model,
                                const Kernels& kernels, const Digest& identity,
                                TrainMemo& memo);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_TRAIN_MEMO_H_
