// Distribution of tensors over shards: a pure function that each rank computes
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
// are unique.
bool InNameOrder(std::span<const TensorView> tensors);

// Returns the tensor of that name; null if there is none. REQUIRES:
// InNameOrder.
const TensorView* FindTensor(std::span<const TensorView> tensors,
                             std::string_view name);

// Returns the indices of the tensors in byte order of their names. REQUIRES:
// the names are unique.
std::vector<size_t> NameOrder(std::span<const TensorView> tensors);

// Returns the shard of each tensor. Tensors are not split. Longest processing
// time first: takes the tensors by descending size (then by name). Puts each
// into the shard with the fewest bytes so far (then the lowest index). The
// largest shard is at most 4/3 of the optimum (Graham 1969). A shard may be
// empty. The result depends only on names and sizes, not on the order of the
// tensors. REQUIRES: shards >= 1, the names are unique.
std::vector<size_t> PartitionTensors(std::span<const TensorView> tensors,
                                     int shards);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_STATE_SHARD_PLAN_H_
