// model.safetensors.index.json: maps each tensor to its shard, in the form that
// public tools read:
//   {"metadata": {"total_size": bytes of all shards},
//    "weight_map": {tensor: file}}
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_SHARD_INDEX_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_SHARD_INDEX_H_

#include <span>
#include <string>

#include "engine/ckpt/format/checkpoint.h"

namespace gauntlet {

// Returns the text of the index, with tensors in byte order of their names.
std::string EncodeShardIndex(std::span<const ShardFile> shards);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_SHARD_INDEX_H_
