// The byte format of a shard: safetensors, so that public tools open it.
//
//   u64 little-endian N | N bytes of JSON, padded with spaces | data
//
// The JSON is one object: tensor name -> {"dtype", "shape", "data_offsets":
// [begin, end)}, offsets from the start of the data; "__metadata__" maps
// strings to strings. Data is little-endian, row-major, without holes or
// overlaps.
//
// Written by this program: 8 + N is a multiple of 64, and tensors are in
// descending element size, then by name. So in a mapped file each tensor is
// aligned to its element size. Accepted: any order, if the ranges cover the
// data exactly. Dtypes other than F32, U32, I64 and U64 are rejected.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gauntlet {

inline constexpr size_t kSafetensorsLengthBytes = 8;
inline constexpr size_t kSafetensorsAlignment = 64;
// The safetensors format allows headers of 100 MB. This program writes headers
// of a few KiB, and accepts up to 1 MiB.
inline constexpr uint64_t kSafetensorsMaxHeader = uint64_t{1} << 20;
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_FORMAT_H_
