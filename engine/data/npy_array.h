// The .npy format of NumPy
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
//
//   "\x93NUMPY" | u8 major, minor | header length, little-endian (u16 in 1.0,
//   u32 in 2.0) | header | data
//
// The header is a Python dict of three keys, padded with spaces and ended by a
// line feed: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 28, 28), }
// Supported here: versions 1.0 and 2.0, types |u1 <i4 <i8 <f4, C order.
#ifndef GAUNTLET_ENGINE_DATA_NPY_ARRAY_H_
#define GAUNTLET_ENGINE_DATA_NPY_ARRAY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

enum class NpyType : uint8_t { kU1, kI4, kI8, kF4 };

// Returns "|u1", "<i4", "<i8" or "<f4".
std::string_view NpyTypeName(NpyType type);
size_t NpyTypeBytes(NpyType type);

struct NpyArray {
  NpyType type = NpyType::kU1;
  std::vector<uint64_t> shape;
  uint64_t elements = 0;  // the product of the shape
  // Offsets in the file, in bytes.
  uint64_t type_offset = 0;
  uint64_t shape_offset = 0;
  uint64_t data_offset = 0;
};

// Parses the header, and checks that the data is exactly as long as type and
// shape require. kInvalidArgument: malformed; the message has path, offset,
// what was expected and what was found.
Result<NpyArray> ParseNpy(std::string_view path, std::string_view file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_NPY_ARRAY_H_
