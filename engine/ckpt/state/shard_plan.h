// Which tensors go into which shard: a pure function that each rank evaluates
// for itself.
#ifndef GAUNTLET_ENGINE_CKPT_STATE_SHARD_PLAN_H_
#define GAUNTLET_ENGINE_CKPT_STATE_SHARD_PLAN_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/tensor.h"

namespace gauntlet {

// Returns true if the tensors are in byte order of their names and all names
// differ.
bool InNameOrder(std::span<const TensorView> tensors);

// The tensor of that name; null: there is none. REQUIRES: InNameOrder.
const TensorView* FindTensor(std::span<const TensorView> tensors,
                             std::string_view name);

// Indices of the tensors in byte order of their names. REQUIRES: names differ.
std::vector<size_t> NameOrder(std::span<const TensorView> tensors);

// Returns the shard of each tensor. Tensors stay whole. The largest comes first
// (then by name), and each goes into the shard with the fewest bytes so far
// (then the lowest index): longest processing time first, at most 4/3 of the
// best balance (Graham 1969). A shard may be empty. Depends on names and sizes
// only, not on the order of the tensors given.
// REQUIRES: shards >= 1, names differ.
std::vector<size_t> PartitionTensors(std::span<const TensorView> tensors,
                                     int shards);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_SHARD_PLAN_H_
