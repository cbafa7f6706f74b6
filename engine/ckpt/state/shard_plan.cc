#include "engine/ckpt/state/shard_plan.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>

#include "engine/check.h"

namespace gauntlet {
namespace {

// Returns the first eight bytes of a name as a number. If two such numbers
// differ, they have the order of the names.
uint64_t BeginningOf(std::string_view name) {
  static_assert(std::endian::native == std::endian::little,
                "the first character is the lowest byte");
  uint64_t beginning = 0;
  std::memcpy(&beginning, name.data(), std::min(name.size(), sizeof beginning));
  return __builtin_bswap64(beginning);
}

// REQUIRES: the names are unique.
std::vector<size_t> SortByName(std::span<const TensorView> tensors) {
  // Most names differ in their first eight bytes.
  struct Key {
    uint64_t beginning = 0;
    size_t index = 0;
  };
  std::vector<Key> keys(tensors.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = {.beginning = BeginningOf(tensors[i].name), .index = i};
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.beginning != b.beginning) return a.beginning < b.beginning;
    return tensors[a.index].name < tensors[b.index].name;
  });
  std::vector<size_t> order(keys.size());
  std::ranges::transform(keys, order.begin(), &Key::index);
  for (size_t i = 1; i < order.size(); ++i) {
    CHECK(tensors[order[i - 1]].name != tensors[order[i]].name,
          "two tensors are named " + tensors[order[i]].name);
  }
  return order;
}

}  // namespace

bool InNameOrder(std::span<const TensorView> tensors) {
  return std::ranges::adjacent_find(tensors, std::ranges::greater_equal(),
                                    &TensorView::name) == tensors.end();
}

const TensorView* FindTensor(std::span<const TensorView> tensors,
                             std::string_view name) {
  const auto found =
      std::ranges::lower_bound(tensors, name, {}, &TensorView::name);
  return found == tensors.end() || found->name != name ? nullptr : &*found;
}

std::vector<size_t> NameOrder(std::span<const TensorView> tensors) {
  if (!InNameOrder(tensors)) return SortByName(tensors);
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

std::vector<size_t> PartitionTensors(std::span<const TensorView> tensors,
                                     int shards) {
  CHECK(shards >= 1, "a checkpoint has at least one shard");
  std::vector<size_t> order = NameOrder(tensors);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](size_t i) { return tensors[i].bytes.size(); });
  std::vector<size_t> shard_of(tensors.size());
  std::vector<uint64_t> bytes(static_cast<size_t>(shards), 0);
  for (const size_t i : order) {
    const auto least = std::ranges::min_element(bytes);
    shard_of[i] = static_cast<size_t>(least - bytes.begin());
    *least += tensors[i].bytes.size();
  }
  return shard_of;
}

}  // namespace gauntlet
