// Named arrays, as stored in a checkpoint and covered by the state digest.
#ifndef GAUNTLET_ENGINE_TENSOR_H_
#define GAUNTLET_ENGINE_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

enum class DType : uint8_t { kF32, kU32, kI64, kU64 };

// Returns the bytes of one element: 4 or 8.
constexpr size_t DTypeBytes(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kU32 ? 4 : 8;
}

// A tensor whose bytes live elsewhere: little-endian, row-major, dense.
struct TensorView {
  std::string name;  // "dense0/kernel", "adam/m/dense0/kernel", "position/step"
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;  // {} is a scalar: one element
  std::span<const std::byte> bytes;
};

// Returns true iff `part` is not empty and lies in `whole`.
inline bool IsWithin(std::span<const std::byte> part,
                     std::span<const std::byte> whole) {
  const std::less_equal<const std::byte*> not_behind;
  return !part.empty() && not_behind(whole.data(), part.data()) &&
         not_behind(part.data() + part.size(), whole.data() + whole.size());
}

// A tensor that owns its bytes.
struct Tensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;
  std::vector<std::byte> bytes;
};

inline TensorView ViewOf(const Tensor& tensor) {
  return {.name = tensor.name,
          .dtype = tensor.dtype,
          .shape = tensor.shape,
          .bytes = tensor.bytes};
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TENSOR_H_
