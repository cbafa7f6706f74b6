// The digest of a training state: what two states are compared by.
//
// Each tensor is cut into blocks of 64 KiB (the last one may be shorter), each
// block gives its XXH3-128. The digest of a state is the XXH3-128 of the list
// of its tensors in byte order of their names; an entry is, little-endian:
//   u64 length of the name, the name, u8 dtype, u64 number of dimensions,
//   u64 each dimension, u64 bytes, then per block u64 high half, u64 low half.
// float32 NaNs count as 0x7fc00000 whatever their payload; -0 and +0 differ.
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

// The order of the tensors does not matter. REQUIRES: the names are unique, and
// the bytes of each tensor are as many as its dtype and shape imply.
Digest StateDigest(std::span<const TensorView> tensors);

// Digests of a tensor's blocks, in their order.
using BlockDigests = std::vector<Digest>;
BlockDigests BlockDigestsOf(const TensorView& tensor);

// Computes the digest of one state repeatedly. The description of its tensors,
// names and shapes, is written once and kept while their sizes stay the same.
class StateDigester {
 public:
  // As StateDigest. REQUIRES: the tensors are in the order of their names; from
  // one call to the next names and types stay, and a shape changes only if the
  // size does. `elsewhere` has the digests of a tensor's blocks if its newest
  // values are elsewhere, and none if its bytes here are the newest; empty: all
  // bytes here are.
  Digest Compute(std::span<const TensorView> tensors,
                 std::span<const BlockDigests> elsewhere = {});

 private:
  struct Entry {
    size_t bytes = 0;
    size_t digests_at = 0;  // in the list
  };

  void Describe(std::span<const TensorView> tensors);

  std::string list_;
  std::vector<Entry> entries_;
};

struct TensorDigest {
  std::string name;
  Digest digest;  // of the tensor's entry in the list
};

// Digests by name, to find where two states differ.
std::vector<TensorDigest> TensorDigests(std::span<const TensorView> tensors);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_STATE_DIGEST_H_
