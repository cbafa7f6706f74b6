// Named values of one result file: arrays, numbers, texts.
#ifndef GAUNTLET_HARNESS_RESULTS_TENSOR_LIST_H_
#define GAUNTLET_HARNESS_RESULTS_TENSOR_LIST_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/results/byte_source.h"
#include "harness/results/element_type.h"

namespace gauntlet {

struct ResultTensor {
  std::string name;  // "fc.weight", "optimizer.state[0].step"
  ElementType type;
  std::vector<uint64_t> shape;  // {}: a scalar, a text, or bytes
  // The elements in row-major order, as many as the shape says; of a text and
  // of bytes any number.
  Bytes bytes;

  bool IsSequence() const {
    return type.kind == ElementKind::kText || type.kind == ElementKind::kBytes;
  }
};

// Collects the values of a file, and bounds what they take: a file of a few
// bytes can refer to one value a million times.
class TensorList {
 public:
  explicit TensorList(uint64_t file_size);

  // A name that is there already gets "#2", "#3" put behind it. kDataLoss: the
  // values, or the memory that they take, are out of proportion to the file.
  // REQUIRES: the bytes are those of type and shape.
  Status Add(ResultTensor tensor);
  // Counts bytes that a value keeps in memory.
  Status ClaimMemory(uint64_t bytes);
  // A value whose bytes are kept in memory.
  Status AddHeld(std::string name, ElementType type,
                 std::vector<uint64_t> shape, std::string bytes);
  Status AddText(std::string name, std::string text);
  Status AddBytes(std::string name, Bytes bytes);
  Status AddInteger(std::string name, int64_t value);
  Status AddFloat(std::string name, double value);
  Status AddBool(std::string name, bool value);
  // A value without bytes: "none", "empty list", "empty dict".
  Status AddEmpty(std::string name, std::string_view type);

  // By name.
  std::vector<ResultTensor> Take();

 private:
  std::map<std::string, ResultTensor> tensors_;
  std::map<std::string, uint64_t> repeated_;
  uint64_t memory_left_;
  uint64_t bytes_left_;
};

// Name of a part: of "model" and "fc.weight" "model.fc.weight". A long key is
// cut, and gets its digest.
std::string NameOfKey(const std::string& parent, std::string_view key);
std::string NameOfItem(const std::string& parent, uint64_t index);

// The values of a JSON text under such names, but for those of ignored keys.
// kDataLoss: it is no JSON, or nested too deep.
Status AddJson(const std::string& name, std::string_view text,
               std::span<const std::string_view> ignored, TensorList& list);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_TENSOR_LIST_H_
