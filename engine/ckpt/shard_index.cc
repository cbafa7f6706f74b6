#include "engine/ckpt/shard_index.h"

#include <cstdint>
#include <map>
#include <string_view>

#include "engine/job/json_text.h"

namespace gauntlet {

std::string EncodeShardIndex(std::span<const ShardFile> shards) {
  uint64_t total_bytes = 0;
  std::map<std::string_view, std::string_view> weight_map;
  for (const ShardFile& shard : shards) {
    total_bytes += shard.bytes;
    for (const std::string_view tensor : shard.tensors) {
      weight_map.emplace(tensor, shard.name);
    }
  }
  JsonText json;
  json.Raw("{\n  \"metadata\": {\n    \"total_size\": ")
      .Number(total_bytes)
      .Raw("\n  },\n  \"weight_map\": {");
  std::string_view before = "\n    ";
  for (const auto& [tensor, file] : weight_map) {
    json.Raw(before).String(tensor).Raw(": ").String(file);
    before = ",\n    ";
  }
  json.Raw(weight_map.empty() ? "}\n}\n" : "\n  }\n}\n");
  return json.Take();
}

}  // namespace gauntlet
