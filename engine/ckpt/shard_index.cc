#include "engine/ckpt/shard_index.h"

#include <cstdint>
#include <map>

#include <nlohmann/json.hpp>

namespace gauntlet {

std::string EncodeShardIndex(std::span<const ShardFile> shards) {
  uint64_t total_bytes = 0;
  std::map<std::string, std::string> weight_map;
  for (const ShardFile& shard : shards) {
    total_bytes += shard.bytes;
    for (const std::string& tensor : shard.tensors) {
      weight_map.emplace(tensor, shard.name);
    }
  }
  nlohmann::ordered_json json;
  json["metadata"]["total_size"] = total_bytes;
  json["weight_map"] = weight_map;
  return json.dump(2) + "\n";
}

}  // namespace gauntlet
