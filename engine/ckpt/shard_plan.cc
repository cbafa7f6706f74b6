#include "engine/ckpt/shard_plan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "engine/check.h"

namespace gauntlet {
namespace {

// Of two names whose beginnings differ, the smaller has the smaller one.
uint64_t BeginningOf(std::string_view name) {
  uint64_t beginning = 0;
  for (size_t i = 0; i < sizeof beginning; ++i) {
    beginning <<= 8;
    if (i < name.size()) beginning |= static_cast<uint8_t>(name[i]);
  }
  return beginning;
}

// Indices of the tensors, ascending by rank, then in byte order of their names.
// REQUIRES: the names of one rank differ.
template <typename Rank>
std::vector<size_t> OrderBy(std::span<const TensorView> tensors, Rank rank) {
  // Most names differ in how they begin.
  struct Key {
    uint64_t rank = 0;
    uint64_t beginning = 0;
    size_t index = 0;
  };
  std::vector<Key> keys(tensors.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = {.rank = rank(tensors[i]),
               .beginning = BeginningOf(tensors[i].name),
               .index = i};
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
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

std::vector<size_t> NameOrder(std::span<const TensorView> tensors) {
  if (InNameOrder(tensors)) {
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  }
  return OrderBy(tensors, [](const TensorView&) { return uint64_t{0}; });
}

std::vector<std::vector<size_t>> PartitionTensors(
    std::span<const TensorView> tensors, int shards) {
  CHECK(shards >= 1, "a checkpoint has at least one shard");
  // The largest first.
  const std::vector<size_t> order = OrderBy(
      tensors, [](const TensorView& tensor) { return ~tensor.bytes.size(); });
  std::vector<std::vector<size_t>> plan(static_cast<size_t>(shards));
  std::vector<uint64_t> bytes(plan.size(), 0);
  for (const size_t i : order) {
    const auto least =
        static_cast<size_t>(std::ranges::min_element(bytes) - bytes.begin());
    plan[least].push_back(i);
    bytes[least] += tensors[i].bytes.size();
  }
  for (std::vector<size_t>& shard : plan) std::ranges::sort(shard);
  return plan;
}

}  // namespace gauntlet
