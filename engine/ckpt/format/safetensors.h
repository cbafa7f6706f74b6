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

// Returns the layout of a file of these tensors. REQUIRES: names are unique
// UTF-8 and none is "__metadata__"; each tensor has as many bytes as its dtype
// and shape imply.
SafetensorsLayout LayOutSafetensors(std::span<const TensorView> tensors,
                                    uint64_t step);

// Returns all bytes of a file with this layout, in order, as views. They are
// valid as long as both arguments exist.
std::vector<std::span<const std::byte>> PartsOf(
    const SafetensorsLayout& layout, std::span<const TensorView> tensors);

// A tensor of a file, without its bytes, and the range of these bytes in the
// file.
struct SafetensorsEntry {
  TensorView tensor;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Returns the size of the header of a file of `file_bytes` bytes, including the
// header's length field; the data follows the header. `beginning` has the first
// bytes of the file, at least the length field. kDataLoss: the file has no
// valid header.
Result<uint64_t> SafetensorsHeaderBytes(std::span<const std::byte> beginning,
                                        uint64_t file_bytes);

// Returns the tensors of a file of `file_bytes` bytes, in the order of the
// data. kDataLoss, with the reason, if header and size do not match the format
// exactly. REQUIRES: `beginning` contains the whole header, if there is one.
Result<std::vector<SafetensorsEntry>> ParseSafetensorsHeader(
    std::span<const std::byte> beginning, uint64_t file_bytes);

// As ParseSafetensorsHeader, for a whole file: returns views into it.
Result<std::vector<TensorView>> ParseSafetensors(
    std::span<const std::byte> file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_H_
