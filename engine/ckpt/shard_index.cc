#include "engine/ckpt/shard_index.h"

#include <cstdint>
#include <iterator>
#include <map>

#include "engine/job/strict_json.h"
#include <fmt/format.h>

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
  std::string text = fmt::format(
      "{{\n  \"metadata\": {{\n    \"total_size\": {}\n  }},\n"
      "  \"weight_map\": {{",
      total_bytes);
  for (const auto& [tensor, file] : weight_map) {
    fmt::format_to(std::back_inserter(text), "{}\n    {}: {}",
                   text.back() == '{' ? "" : ",", JsonQuoted(tensor),
                   JsonQuoted(file));
  }
  text += weight_map.empty() ? "}\n}\n" : "\n  }\n}\n";
  return text;
}

}  // namespace gauntlet
