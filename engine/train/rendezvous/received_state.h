// A state that arrives from another rank in chunks, encoded like a shard with
// all tensors (safetensors).
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RECEIVED_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RECEIVED_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/io/shard_memory.h"
#include "engine/status.h"
#include "engine/tensor.h"

namespace gauntlet {

class ReceivedState {
 public:
  // `places`: memory of the tensors, as for a load of a checkpoint.
  explicit ReceivedState(TensorPlaces places) : places_(std::move(places)) {}

  // Takes the next chunk of a state of `size` bytes. Chunks may have any size.
  // `size` is the same for all.
  void Take(std::span<const std::byte> chunk, uint64_t size);

  // Returns the tensors, in name order, once all chunks were taken. Their bytes
  // are valid as long as this object and the places. kDataLoss: the chunks are
  // not an encoded state; places may have been overwritten.
  Result<std::vector<TensorView>> Finish();

 private:
  // Takes a chunk that begins in the header.
  void TakeBeginning(std::span<const std::byte> chunk, uint64_t size);

  const TensorPlaces places_;
  std::vector<std::byte> beginning_;  // the chunks until the header is complete
  uint64_t taken_ = 0;                // bytes
  std::optional<Status> format_;      // nullopt: the header is not complete
  ShardMemory memory_;                // has no tensors until then
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RECEIVED_STATE_H_
