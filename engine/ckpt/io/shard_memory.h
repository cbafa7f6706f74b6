// Memory for the tensors of a shard whose bytes arrive in the order of the
// file.
#ifndef GAUNTLET_ENGINE_CKPT_IO_SHARD_MEMORY_H_
#define GAUNTLET_ENGINE_CKPT_IO_SHARD_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/format/safetensors.h"
#include "engine/tensor.h"

namespace gauntlet {

class ShardMemory {
 public:
  // No tensors.
  ShardMemory() = default;
  // Assigns memory to each tensor: the one that `places` returns or, if that is
  // empty, memory of its own. `entries` are in the order of the data.
  ShardMemory(std::vector<SafetensorsEntry> entries,
              const TensorPlaces& places);

  // Returns the memory of `size` bytes at offset `at` of the file, for reading
  // them directly; empty if they are not within one tensor.
  std::span<std::byte> PlaceOf(uint64_t at, size_t size) const;
  // Copies a block at offset `at` of the file to the tensors that its bytes
  // belong to. Ignores other bytes.
  void Copy(std::span<const std::byte> block, uint64_t at) const;

  // Returns the tensors, in the order of the data.
  std::vector<TensorView> TakeTensors() { return std::move(tensors_); }
  // Returns the memory of the tensors for which `places` returned none.
  std::unique_ptr<const std::byte[]> TakeBytes() { return std::move(bytes_); }

 private:
  // A part of the file, and the memory of its bytes.
  struct Part {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::span<std::byte> to;
  };

  // Returns the first part that ends after this offset of the file.
  std::vector<Part>::const_iterator FindPart(uint64_t at) const;

  std::vector<Part> parts_;  // one for each tensor, in order
  std::vector<TensorView> tensors_;
  std::unique_ptr<const std::byte[]> bytes_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_SHARD_MEMORY_H_
