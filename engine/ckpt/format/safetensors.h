// Reads and writes the bytes of safetensors_format.h.
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

// "F32", "U32", "I64", "U64".
std::string_view DTypeName(DType dtype);

// A file is `header` and then the tensors' bytes in that order.
struct SafetensorsLayout {
  std::string header;         // length, JSON and padding
  std::vector<size_t> order;  // indices of the tensors
};

// REQUIRES: names differ and are UTF-8, none is "__metadata__"; bytes are those
// of dtype and shape.
SafetensorsLayout LayOutSafetensors(std::span<const TensorView> tensors,
                                    uint64_t step);

// All bytes of such a file, in their order; as long as both arguments live.
std::vector<std::span<const std::byte>> PartsOf(
    const SafetensorsLayout& layout, std::span<const TensorView> tensors);

// Views into `file`, in the order of the data. kDataLoss says what is wrong for
// any bytes that are not exactly the format.
Result<std::vector<TensorView>> ParseSafetensors(
    std::span<const std::byte> file);
// Puts them behind views that are there; after an error some of them may be.
Status AddSafetensors(std::span<const std::byte> file,
                      std::vector<TensorView>& views);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_H_
