#include "engine/ckpt/state/shard_plan.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>

#include "engine/check.h"

namespace gauntlet {

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
  const auto name_of = [&](size_t i) -> const std::string& {
    return tensors[i].name;
  };
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, name_of);
  const auto twice = std::ranges::adjacent_find(order, {}, name_of);
  CHECK(twice == order.end(), "two tensors are named " + name_of(*twice));
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
