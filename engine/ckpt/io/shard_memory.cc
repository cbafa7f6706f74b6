#include "engine/ckpt/io/shard_memory.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/large_array.h"

namespace gauntlet {

ShardMemory::ShardMemory(std::vector<SafetensorsEntry> entries,
                         const TensorPlaces& places) {
  parts_.reserve(entries.size());
  size_t without_place = 0;
  for (const SafetensorsEntry& entry : entries) {
    Part part{.begin = entry.begin, .end = entry.end, .to = {}};
    if (places) part.to = places(entry.tensor);
    if (part.to.empty()) without_place += entry.end - entry.begin;
    parts_.push_back(part);
  }
  auto memory = std::make_unique_for_overwrite<std::byte[]>(without_place);
  PreferHugePages(memory.get(), without_place);
  std::span<std::byte> rest(memory.get(), without_place);
  tensors_.reserve(entries.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const size_t size = part.end - part.begin;
    if (part.to.empty()) {
      part.to = rest.first(size);
      rest = rest.subspan(size);
    }
    CHECK(part.to.size() == size, "a place has the size of its tensor");
    entries[i].tensor.bytes = part.to;
    tensors_.push_back(std::move(entries[i].tensor));
  }
  bytes_ = std::move(memory);
}

std::vector<ShardMemory::Part>::const_iterator ShardMemory::FindPart(
    uint64_t at) const {
  return std::ranges::upper_bound(parts_, at, {}, &Part::end);
}

std::span<std::byte> ShardMemory::PlaceOf(uint64_t at, size_t size) const {
  const auto part = FindPart(at);
  if (part == parts_.end() || part->begin > at || part->end < at + size) {
    return {};
  }
  return part->to.subspan(at - part->begin, size);
}

void ShardMemory::Copy(std::span<const std::byte> block, uint64_t at) const {
  const uint64_t block_end = at + block.size();
  for (auto part = FindPart(at);
       part != parts_.end() && part->begin < block_end; ++part) {
    const uint64_t begin = std::max(at, part->begin);
    const uint64_t end = std::min(block_end, part->end);
    std::copy_n(block.data() + (begin - at), end - begin,
                part->to.data() + (begin - part->begin));
  }
}

}  // namespace gauntlet
