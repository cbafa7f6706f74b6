// Remembers what a replica's pass came to, by a digest of all that went in (of
// training rows their numbers, as the job says what these hold), the order of
// an epoch's rows, and the digests of states.
//
// All are functions of their input. Where the same job is trained over and
// over, all but the first training would work out the same again. A run whose
// state differs in one bit has another digest, and computes: who writes to a
// state's arrays has to say so (TrainState::ArraysChanged).
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_TRAIN_MEMO_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_TRAIN_MEMO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/ckpt/state/known_states.h"
#include "engine/data/sample_order.h"
#include "engine/digest.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"

namespace gauntlet {

// Serves any trainings, one at a time.
class TrainMemo {
 public:
  // Forgets every pass and order when it would hold more than so many bytes of
  // them. Who was given one may hold it for longer.
  explicit TrainMemo(size_t capacity_bytes = size_t{64} << 20)
      : capacity_bytes_(capacity_bytes), states_(kStates) {}

  struct Pass {
    ReplicaResult result;
    // Null for an evaluation. Of initial parameters: those, and behind them 0.
    KeptGradients floats;
  };
  // Null: not known.
  const Pass* Find(const Digest& key) const;
  void Put(const Digest& key, Pass pass);

  SampleOrder OrderOf(uint64_t rng_key, uint64_t epoch, uint32_t rows);

  KnownStates& states() { return states_; }

  // Numbers of passes and orders, and their bytes.
  uint64_t found() const { return found_; }
  uint64_t computed() const { return computed_; }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kStates = size_t{1} << 16;

  // Forgets everything if so many more bytes are too many.
  void MakeRoom(size_t bytes);

  size_t capacity_bytes_;
  size_t bytes_ = 0;
  mutable uint64_t found_ = 0;
  uint64_t computed_ = 0;
  std::unordered_map<Digest, Pass, DigestHash> passes_;
  // By key, epoch and number of rows.
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>,
           std::shared_ptr<const std::vector<uint32_t>>>
      orders_;
  KnownStates states_;
};

// The model, asking the memo first. `identity` is a digest of all that its
// passes are a function of beside their arguments: its layers, its shapes, its
// kernels, and the training data, of which a batch says row numbers.
//
// The kernels and the memo outlive it.
std::unique_ptr<Model> WithMemo(std::unique_ptr<Model> model,
                                const Kernels& kernels, const Digest& identity,
                                TrainMemo& memo);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_TRAIN_MEMO_H_
