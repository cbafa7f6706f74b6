// Chunks that workers exchange: a header of fixed size, then a payload.
//
// A chunk is the Chunk of link.proto in one fixed layout: all fields are
// present, in order, and lengths take five bytes. So a chunk is written and
// read in place. The payload is 16-byte aligned. A frame is forwarded with a
// new header, without a copy of its payload. Every chunk states its generation,
// and a chunk of a step also the step's number and phase. So a chunk of another
// generation or step causes an error instead of a wrong sum.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_CHUNK_FORMAT_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_CHUNK_FORMAT_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/event_log.h"
#include "engine/world/network.h"

namespace gauntlet {

enum class ChunkKind : uint8_t {
  kPartial = 1,  // partial sum of an all-reduce, sent up the ranks
  kTotal = 2,    // total of an all-reduce, sent round the ring
  kGather = 3,   // texts that an all-gather has collected so far
  kState = 4,    // part of a state, sent round the ring
  kDevice = 5,   // array from a device, on a channel of its own
};

struct ChunkHeader {
  ChunkKind kind = ChunkKind::kPartial;
  Phase phase = Phase::kInEpoch;
  uint32_t rank = 0;
  uint32_t index = 0;  // number of the chunk in its array
  // Requests of the workers, combined with OR. Set only in the chunk that an
  // all-reduce sums last.
  uint32_t request_bits = 0;
  uint64_t generation = 0;
  uint64_t step = 0;
  // Sums over the workers. Set only in the chunk that an all-reduce sums last.
  // Exception: in a kState chunk, `samples` is the size of the state in bytes.
  int64_t correct = 0;
  int64_t samples = 0;
};

inline constexpr size_t kChunkHeaderBytes = 80;

Frame EncodeChunk(const ChunkHeader& header, std::string_view payload);
// kDataLoss if the frame is too short, of an unknown kind, or of another
// layout.
Result<ChunkHeader> DecodeChunk(const Frame& frame);
inline std::string_view ChunkPayload(const Frame& frame) {
  return std::string_view(frame).substr(kChunkHeaderBytes);
}
// Replaces the frame's header and keeps its payload in place. REQUIRES:
// EncodeChunk returned the frame, or DecodeChunk accepted it.
void SetHeader(const ChunkHeader& header, Frame& frame);
// Returns the payload as floats, which may be changed in place. REQUIRES:
// EncodeChunk returned the frame, or DecodeChunk accepted it; the payload
// consists of whole floats.
std::span<float> FloatsOfChunk(Frame& frame);

// Encodes a list of byte strings, each preceded by its length.
std::string EncodeList(std::span<const std::string> items);
std::string EncodeList(std::initializer_list<std::string_view> items);
Result<std::vector<std::string>> DecodeList(std::string_view bytes);
// As DecodeList, but the items are views into `bytes`.
Result<std::vector<std::string_view>> ViewList(std::string_view bytes);
// Appends an item to an encoded list.
void AppendToList(std::string_view item, std::string& list);
// Returns the number of items in an encoded list. Errors: as DecodeList's.
Result<size_t> SizeOfList(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_CHUNK_FORMAT_H_
