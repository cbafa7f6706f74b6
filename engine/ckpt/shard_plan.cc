#include "engine/ckpt/shard_plan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "engine/check.h"

namespace gauntlet {

bool InNameOrder(std::span<const TensorView> tensors) {
  return std::ranges::adjacent_find(tensors, std::ranges::greater_equal(),
                                    &TensorView::name) == tensors.end();
}

std::vector<size_t> NameOrder(std::span<const TensorView> tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (InNameOrder(tensors)) return order;
  const auto name_of = [&](size_t i) -> const std::string& {
    return tensors[i].name;
  };
  std::ranges::sort(order, {}, name_of);
  for (size_t i = 1; i < order.size(); ++i) {
    CHECK(tensors[order[i - 1]].name != tensors[order[i]].name,
          "two tensors are named " + tensors[order[i]].name);
  }
  return order;
}

std::vector<std::vector<size_t>> PartitionTensors(
    std::span<const TensorView> tensors, int shards) {
  CHECK(shards >= 1, "a checkpoint has at least one shard");
  std::vector<size_t> order = NameOrder(tensors);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](size_t i) { return tensors[i].bytes.size(); });
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
