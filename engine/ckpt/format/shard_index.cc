#include "engine/ckpt/format/shard_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/job/json_text.h"

namespace gauntlet {

std::string EncodeShardIndex(std::span<const ShardFile> shards) {
  struct Entry {
    std::string_view tensor;
    size_t shard = 0;
  };
  uint64_t total_bytes = 0;
  std::vector<Entry> weight_map;
  std::vector<std::string> files;  // as JSON
  for (const ShardFile& shard : shards) {
    total_bytes += shard.bytes;
    for (const std::string& tensor : shard.tensors) {
      weight_map.push_back({.tensor = tensor, .shard = files.size()});
    }
    files.push_back(JsonText().String(shard.name).Take());
  }
  // If two shards list the same tensor, the index names the first of them.
  std::ranges::stable_sort(weight_map, {}, &Entry::tensor);
  weight_map.erase(std::unique(weight_map.begin(), weight_map.end(),
                               [](const Entry& one, const Entry& other) {
                                 return one.tensor == other.tensor;
                               }),
                   weight_map.end());
  JsonText json;
  json.Raw("{\n  \"metadata\": {\n    \"total_size\": ")
      .Number(total_bytes)
      .Raw("\n  },\n  \"weight_map\": {");
  std::string_view before = "\n    ";
  for (const auto& [tensor, shard] : weight_map) {
    json.Raw(before).String(tensor).Raw(": ").Raw(files[shard]);
    before = ",\n    ";
  }
  json.Raw(weight_map.empty() ? "}\n}\n" : "\n  }\n}\n");
  return json.Take();
}

}  // namespace gauntlet
