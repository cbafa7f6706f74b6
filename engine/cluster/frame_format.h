// Chunks that workers exchange: a header of fixed size, then a payload.
//
// A frame of this kind is the Chunk of link.proto in one layout, written and
// read where it lies: all fields are there, in order, and lengths take five
// bytes. So the payload begins at a multiple of 16 bytes, and a frame goes on
// under another header without a copy. Every chunk carries the generation, and
// those of a step its number and phase, so that a chunk of another membership
// or another step is an error instead of a wrong sum.
#ifndef GAUNTLET_ENGINE_CLUSTER_FRAME_FORMAT_H_
#define GAUNTLET_ENGINE_CLUSTER_FRAME_FORMAT_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/event_log.h"
#include "engine/world/network.h"

namespace gauntlet {

enum class FrameKind : uint8_t {
  kPartial = 1,  // a chunk of an all-reduce on its way up the ranks
  kTotal = 2,    // a finished chunk on its way round
  kGather = 3,   // an all-gather's list so far
  kState = 4,    // a chunk of a state on its way round
  kDevice = 5,   // an array from a device, on a channel of its own
};

struct FrameHeader {
  FrameKind kind = FrameKind::kPartial;
  Phase phase = Phase::kInEpoch;
  uint32_t rank = 0;
  uint32_t chunk = 0;
  uint32_t requests = 0;  // bits that are or-ed over the workers
  uint64_t generation = 0;
  uint64_t step = 0;
  int64_t correct = 0;  // summed over the workers, on chunk 0
  int64_t rows = 0;
};

inline constexpr size_t kFrameHeaderBytes = 80;

Frame EncodeFrame(const FrameHeader& header, std::string_view payload);
// kDataLoss for a frame that is too short, of an unknown kind, or not in the
// layout above.
Result<FrameHeader> DecodeFrame(const Frame& frame);
inline std::string_view FramePayload(const Frame& frame) {
  return std::string_view(frame).substr(kFrameHeaderBytes);
}
// The frame's payload under another header: what came in goes on as it lies.
// REQUIRES: a frame, decoded or encoded.
void SetHeader(const FrameHeader& header, Frame& frame);
// The payload, to be computed with. REQUIRES: a frame, decoded or encoded, of
// whole floats.
std::span<float> FrameFloats(Frame& frame);

// A list of byte strings, each with its length in front.
std::string EncodeList(std::span<const std::string> items);
std::string EncodeList(std::initializer_list<std::string_view> items);
Result<std::vector<std::string>> DecodeList(std::string_view bytes);
// The same items, as they lie in `bytes`. Errors as of DecodeList.
Result<std::vector<std::string_view>> ViewList(std::string_view bytes);
// The same list with one item more.
void AppendToList(std::string_view item, std::string& list);
// How many items it has. Errors as of DecodeList.
Result<size_t> SizeOfList(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_FRAME_FORMAT_H_
