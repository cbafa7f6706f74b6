// Digest of a training state, by which two states are compared.
//
// Each tensor is divided into blocks of 64 KiB (the last one may be shorter),
// and each block has an XXH3-128. The digest of a state is the XXH3-128 of a
// list with one entry per tensor, in byte order of the names. An entry is, in
// little-endian:
//   u64 length of the name, the name, u8 dtype, u64 number of dimensions,
//   u64 each dimension, u64 bytes, then per block u64 high half, u64 low half.
// A float32 NaN counts as 0x7fc00000 whatever its payload; -0 and +0 differ.
#ifndef GAUNTLET_ENGINE_CKPT_STATE_STATE_DIGEST_H_
#define GAUNTLET_ENGINE_CKPT_STATE_STATE_DIGEST_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/digest.h"
#include "engine/tensor.h"

namespace gauntlet {

inline constexpr size_t kDigestBlockBytes = size_t{64} << 10;
constexpr size_t DigestBlocksOf(size_t bytes) {
  return (bytes + kDigestBlockBytes - 1) / kDigestBlockBytes;
}

// Returns the digest of a state. The order of `tensors` does not matter.
// REQUIRES: the names are unique, and each tensor has as many bytes as its
// dtype and shape imply.
Digest StateDigest(std::span<const TensorView> tensors);

// Returns the digests of a tensor's blocks, in order.
using BlockDigests = std::vector<Digest>;
BlockDigests BlockDigestsOf(const TensorView& tensor);

// Computes BlockDigestsOf a tensor whose bytes arrive in pieces. Buffers at
// most one block of bytes.
class BlockDigester {
 public:
  explicit BlockDigester(DType dtype) : dtype_(dtype) {}
  void Update(std::span<const std::byte> bytes);
  // Called once, after all bytes.
  BlockDigests Finish();

 private:
  void Add(std::span<const std::byte> block);

  DType dtype_;
  BlockDigests digests_;
  std::vector<std::byte> begun_;  // the incomplete block
};

// As StateDigest above, for tensors without bytes: `blocks` has the digests of
// each tensor's blocks. REQUIRES: the names are unique, and a tensor has as
// many blocks as its dtype and shape imply.
Digest StateDigest(std::span<const TensorView> tensors,
                   std::span<const BlockDigests> blocks);

// Computes the digest of one state repeatedly. Names and shapes of its tensors
// are encoded once, and reused while their sizes stay the same.
class StateDigester {
 public:
  // As StateDigest. If the newest values of a tensor are only on a device,
  // `elsewhere` has the digests of the tensor's blocks; for every other tensor,
  // `elsewhere` has an empty list. If all tensors are in host memory,
  // `elsewhere` may be empty. REQUIRES: the tensors are in name order; names
  // and types are the same in all calls; a tensor whose shape changes also
  // changes its size in bytes.
  Digest Compute(std::span<const TensorView> tensors,
                 std::span<const BlockDigests> elsewhere = {});

 private:
  struct Entry {
    size_t bytes = 0;
    size_t digests_at = 0;  // offset of its digests in list_
  };

  void Describe(std::span<const TensorView> tensors);

  std::string list_;
  std::vector<Entry> entries_;
};

struct TensorDigest {
  std::string name;
  Digest digest;  // of the tensor's entry in the list
};

// Returns the digest of each tensor, in name order, to find where two states
// differ.
std::vector<TensorDigest> TensorDigests(std::span<const TensorView> tensors);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_STATE_DIGEST_H_
