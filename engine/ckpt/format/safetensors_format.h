// The byte format of a shard: safetensors, so that public tools open it.
//
//   u64 little-endian N | N bytes of JSON, padded with spaces | data
//
// The JSON is one object: tensor name -> {"dtype", "shape", "data_offsets":
// [begin, end)}, offsets from the start of the data; "__metadata__" maps
// strings to strings. Data is little-endian, row-major, without holes or
// overlaps.
//
// Written here: 8 + N is a multiple of 64 and tensors come in falling element
// size, then by name, so that each one is aligned to its elements in a mapped
// file. Read here: any order, as long as the ranges cover the data exactly;
// other dtypes than F32, U32, I64 and U64 are refused.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_FORMAT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gauntlet {

inline constexpr size_t kSafetensorsLengthBytes = 8;
inline constexpr size_t kSafetensorsAlignment = 64;
// The format allows 100 MB; a header of ours is a few KiB.
inline constexpr uint64_t kSafetensorsMaxHeader = uint64_t{1} << 20;
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_SAFETENSORS_FORMAT_H_
