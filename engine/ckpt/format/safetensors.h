// Encodes and decodes the format of safetensors_format.h.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "engine/tensor.h"

namespace gauntlet {

// Returns "F32", "U32", "I64" or "U64".
std::string_view DTypeName(DType dtype);

// A file: `header`, then the bytes of the tensors in `order`.
struct SafetensorsLayout {
  std::string header;         // length, JSON and padding
  std::vector<size_t> order;  // indices of the tensors
};

// REQUIRES: names are unique UTF-8 and none is "__metadata__"; the bytes of
// each tensor are as many as its dtype and shape imply.
SafetensorsLayout LayOutSafetensors(std::span<const TensorView> tensors,
                                    uint64_t step);

// Returns all bytes of such a file, in order; valid as long as both arguments.
std::vector<std::span<const std::byte>> PartsOf(
    const SafetensorsLayout& layout, std::span<const TensorView> tensors);

// Returns views into `file`, in the order of the data. kDataLoss, with the
// reason, for any bytes that do not match the format exactly.
Result<std::vector<TensorView>> ParseSafetensors(
    std::span<const std::byte> file);
// As ParseSafetensors, but appends to `views`. After an error some of the views
// may have been appended.
Status AddSafetensors(std::span<const std::byte> file,
                      std::vector<TensorView>& views);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_H_
