#include "engine/ckpt/io/tensor_difference.h"

#include <algorithm>
#include <cstring>

#include "engine/ckpt/format/safetensors.h"
#include "engine/ckpt/state/shard_plan.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7f800000;

// Maps float bit patterns to integers that are ordered like the float values.
int64_t OnLine(uint32_t bits) {
  const int64_t magnitude = bits & ~kSign;
  return (bits & kSign) != 0 ? -magnitude - 1 : magnitude;
}

std::string Describe(const TensorView& tensor) {
  return fmt::format("{} [{}]", DTypeName(tensor.dtype),
                     fmt::join(tensor.shape, ", "));
}

uint64_t ElementAt(const TensorView& tensor, size_t index) {
  const size_t size = DTypeBytes(tensor.dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + index * size, size);
  return bits;
}

std::string Hex(uint64_t bits, DType dtype) {
  return fmt::format("{:0{}x}", bits, 2 * DTypeBytes(dtype));
}

TensorDifference OnlyIn(const std::string& name, std::string where) {
  return {.name = name,
          .kind = std::move(where),
          .first_hex = {},
          .second_hex = {},
          .ulps = {}};
}

}  // namespace

std::optional<uint64_t> UlpDistance(uint32_t first, uint32_t second) {
  const auto is_nan = [](uint32_t bits) { return (bits & ~kSign) > kInfinity; };
  if (is_nan(first) || is_nan(second)) return std::nullopt;
  const int64_t distance = OnLine(first) - OnLine(second);
  return static_cast<uint64_t>(distance < 0 ? -distance : distance);
}

std::optional<TensorDifference> CompareTensor(const TensorView& first,
                                              const TensorView& second) {
  TensorDifference difference{.name = first.name,
                              .kind = {},
                              .first_hex = {},
                              .second_hex = {},
                              .ulps = {}};
  if (first.dtype != second.dtype || first.shape != second.shape ||
      first.bytes.size() != second.bytes.size()) {
    difference.kind =
        fmt::format("{} against {}", Describe(first), Describe(second));
    return difference;
  }
  if (std::ranges::equal(first.bytes, second.bytes)) return std::nullopt;
  difference.elements = first.bytes.size() / DTypeBytes(first.dtype);
  for (size_t i = 0; i < difference.elements; ++i) {
    if (ElementAt(first, i) != ElementAt(second, i)) ++difference.differing;
  }
  const ElementDifference element = CompareElements(first, second, 1).front();
  difference.first_element = element.element;
  difference.first_hex = Hex(element.first_bits, first.dtype);
  difference.second_hex = Hex(element.second_bits, first.dtype);
  difference.ulps = element.ulps;
  return difference;
}

std::vector<ElementDifference> CompareElements(const TensorView& first,
                                               const TensorView& second,
                                               size_t max_elements) {
  std::vector<ElementDifference> differences;
  const size_t elements = first.bytes.size() / DTypeBytes(first.dtype);
  for (size_t i = 0; i < elements && differences.size() < max_elements; ++i) {
    const uint64_t a = ElementAt(first, i);
    const uint64_t b = ElementAt(second, i);
    if (a == b) continue;
    differences.push_back({.element = i, .first_bits = a, .second_bits = b});
    if (first.dtype == DType::kF32) {
      differences.back().ulps =
          UlpDistance(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
    }
  }
  return differences;
}

std::vector<TensorDifference> CompareTensors(
    std::span<const TensorView> first, std::span<const TensorView> second) {
  std::vector<TensorDifference> differences;
  for (const TensorView& tensor : first) {
    const TensorView* const other = FindTensor(second, tensor.name);
    if (other == nullptr) {
      differences.push_back(OnlyIn(tensor.name, "only in the first"));
    } else if (auto difference = CompareTensor(tensor, *other)) {
      differences.push_back(std::move(*difference));
    }
  }
  for (const TensorView& tensor : second) {
    if (FindTensor(first, tensor.name) == nullptr) {
      differences.push_back(OnlyIn(tensor.name, "only in the second"));
    }
  }
  std::ranges::sort(differences, {}, &TensorDifference::name);
  return differences;
}

}  // namespace gauntlet
