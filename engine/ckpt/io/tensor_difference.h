// Finds where two training states differ, and by how much.
#ifndef GAUNTLET_ENGINE_CKPT_IO_TENSOR_DIFFERENCE_H_
#define GAUNTLET_ENGINE_CKPT_IO_TENSOR_DIFFERENCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace gauntlet {

struct TensorDifference {
  std::string name;
  // Difference in type, shape or existence: "only in the first", "U32 [2]
  // against F32 [2]". If empty, the tensors differ in the elements below.
  std::string kind;
  uint64_t elements = 0;   // in the tensor
  uint64_t differing = 0;  // elements whose bits differ
  uint64_t first_element = 0;
  std::string first_hex;   // that element in the first tensor, "3f800000"
  std::string second_hex;  // that element in the second tensor
  // Distance between the two values in units of the last place (-0 and +0 are
  // one apart); nullopt for integers and NaNs.
  std::optional<uint64_t> ulps;
};

// Returns nullopt if the tensors are bitwise identical; their names are not
// compared. The result has the name of `first`.
std::optional<TensorDifference> CompareTensor(const TensorView& first,
                                              const TensorView& second);

// Compares tensors of the same name. Returns the differences by name; empty if
// all are bitwise identical. REQUIRES: InNameOrder (shard_plan.h).
std::vector<TensorDifference> CompareTensors(
    std::span<const TensorView> first, std::span<const TensorView> second);

// An element that differs.
struct ElementDifference {
  uint64_t element = 0;
  uint64_t first_bits = 0;
  uint64_t second_bits = 0;
  std::optional<uint64_t> ulps;  // as TensorDifference::ulps
};
// Returns the first `max_elements` elements that differ. REQUIRES: equal types
// and shapes.
std::vector<ElementDifference> CompareElements(const TensorView& first,
                                               const TensorView& second,
                                               size_t max_elements);

// Returns the distance of two float32 bit patterns, as TensorDifference::ulps.
std::optional<uint64_t> UlpDistance(uint32_t first, uint32_t second);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_TENSOR_DIFFERENCE_H_
