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
  // Elements in row-major order, as many as the shape has; for text and bytes
  // any number.
  Bytes bytes;

  bool IsSequence() const {
    return type.kind == ElementKind::kText || type.kind == ElementKind::kBytes;
  }
};

// Collects the values of a file and limits their memory: a file of a few bytes
// can refer to one value a million times.
class TensorList {
 public:
  explicit TensorList(uint64_t file_size);

  // Adds the value. If its name is already in use, appends "#2", "#3" to it.
  // kDataLoss: the bytes of all values, or the memory that they take, exceed
  // the limit for a file of this size. REQUIRES: the number of bytes matches
  // type and shape.
  Status Add(ResultTensor tensor);
  // Counts bytes that a value keeps in memory.
  Status ClaimMemory(uint64_t bytes);
  // Adds a value whose bytes are kept in memory.
  Status AddHeld(std::string name, ElementType type,
                 std::vector<uint64_t> shape, std::string bytes);
  Status AddText(std::string name, std::string text);
  Status AddBytes(std::string name, Bytes bytes);
  Status AddInteger(std::string name, int64_t value);
  Status AddFloat(std::string name, double value);
  Status AddBool(std::string name, bool value);
  // Adds a value without bytes: "none", "empty list" or "empty dict".
  Status AddEmpty(std::string name, std::string_view type);

  // Returns the tensors, ordered by name.
  std::vector<ResultTensor> Take();

 private:
  std::map<std::string, ResultTensor> tensors_;
  std::map<std::string, uint64_t> repeated_;
  uint64_t memory_left_;
  uint64_t bytes_left_;
};

// Returns the name of a part: "model.fc.weight" for "model" and "fc.weight". A
// long key is truncated, and its digest appended.
std::string NameOfKey(const std::string& parent, std::string_view key);
std::string NameOfItem(const std::string& parent, uint64_t index);

// Adds the values of a JSON text, named by their keys and indices, except those
// of ignored keys. kDataLoss: the text is not JSON, or nested too deep.
Status AddJson(const std::string& name, std::string_view text,
               std::span<const std::string_view> ignored, TensorList& list);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_TENSOR_LIST_H_
