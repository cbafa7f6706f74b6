#include "engine/cluster/frame_format.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint32_t kMagic = 0x324c4e47;  // "GNL2"

// The wire image of a header: naturally aligned, no padding.
struct WireHeader {
  uint32_t magic;
  uint8_t kind;
  uint8_t role;
  uint8_t phase;
  uint8_t reserved;
  uint32_t rank;
  uint32_t chunk;
  uint32_t requests;
  uint32_t reserved_too;
  uint64_t generation;
  uint64_t step;
  int64_t correct;
  int64_t rows;
  uint64_t payload_bytes;
};
static_assert(sizeof(WireHeader) == kFrameHeaderBytes);

// Calls take(item) for each item of a list.
template <typename Take>
Status ForItems(std::string_view list, const Take& take) {
  while (!list.empty()) {
    uint64_t size = 0;
    if (list.size() < sizeof(size)) return DataLoss("list: torn length");
    std::memcpy(&size, list.data(), sizeof(size));
    list.remove_prefix(sizeof(size));
    if (size > list.size()) {
      return DataLoss(fmt::format("list: expected an item of {} bytes, {} left",
                                  size, list.size()));
    }
    take(list.substr(0, size));
    list.remove_prefix(size);
  }
  return OkStatus();
}

template <typename Text>
Result<std::vector<Text>> ItemsOf(std::string_view list) {
  std::vector<Text> items;
  items.reserve(std::min<size_t>(list.size() / sizeof(uint64_t), 16));
  RETURN_IF_ERROR(
      ForItems(list, [&](std::string_view item) { items.emplace_back(item); }));
  return items;
}

template <typename Items>
std::string ListOf(const Items& items) {
  size_t total = 0;
  for (const std::string_view item : items) {
    total += sizeof(uint64_t) + item.size();
  }
  std::string bytes;
  bytes.reserve(total);
  for (const std::string_view item : items) AppendToList(item, bytes);
  return bytes;
}

}  // namespace

Frame EncodeFrame(const FrameHeader& header, std::string_view payload) {
  Frame frame;
  frame.reserve(kFrameHeaderBytes + payload.size());
  frame.resize(kFrameHeaderBytes);
  frame.append(payload);
  SetHeader(header, frame);
  return frame;
}

// Field by field: to read as a whole what was just written in parts would wait
// for the parts.
void SetHeader(const FrameHeader& header, Frame& frame) {
  const auto put = [to = frame.data()](size_t at, auto value) {
    std::memcpy(to + at, &value, sizeof(value));
  };
  put(offsetof(WireHeader, magic), kMagic);
  put(offsetof(WireHeader, kind), header.kind);
  put(offsetof(WireHeader, role), header.role);
  put(offsetof(WireHeader, phase), header.phase);
  put(offsetof(WireHeader, reserved), uint8_t{0});
  put(offsetof(WireHeader, rank), header.rank);
  put(offsetof(WireHeader, chunk), header.chunk);
  put(offsetof(WireHeader, requests), header.requests);
  put(offsetof(WireHeader, reserved_too), uint32_t{0});
  put(offsetof(WireHeader, generation), header.generation);
  put(offsetof(WireHeader, step), header.step);
  put(offsetof(WireHeader, correct), header.correct);
  put(offsetof(WireHeader, rows), header.rows);
  put(offsetof(WireHeader, payload_bytes),
      uint64_t{frame.size() - kFrameHeaderBytes});
}

std::span<float> FrameFloats(Frame& frame) {
  const size_t bytes = frame.size() - kFrameHeaderBytes;
  CHECK(bytes % sizeof(float) == 0, "a payload of whole floats");
  // Aligned: the header is of 64 bytes, and what is longer than a few bytes
  // lies on the heap.
  return {reinterpret_cast<float*>(frame.data() + kFrameHeaderBytes),
          bytes / sizeof(float)};
}

Result<FrameHeader> DecodeFrame(const Frame& frame) {
  if (frame.size() < kFrameHeaderBytes) {
    return DataLoss(fmt::format("frame: expected at least {} bytes, found {}",
                                kFrameHeaderBytes, frame.size()));
  }
  WireHeader wire;
  std::memcpy(&wire, frame.data(), kFrameHeaderBytes);
  const bool known = wire.magic == kMagic && wire.kind >= 1 &&
                     wire.kind <= 10 && wire.role <= 3 && wire.phase <= 2;
  if (!known || wire.payload_bytes != frame.size() - kFrameHeaderBytes) {
    return DataLoss(fmt::format(
        "frame: not one of ours (magic {:08x}, kind {}, payload {} of {})",
        wire.magic, wire.kind, frame.size() - kFrameHeaderBytes,
        wire.payload_bytes));
  }
  return FrameHeader{
      .kind = static_cast<FrameKind>(wire.kind),
      .role = static_cast<ChannelRole>(wire.role),
      .phase = static_cast<Phase>(wire.phase),
      .rank = wire.rank,
      .chunk = wire.chunk,
      .requests = wire.requests,
      .generation = wire.generation,
      .step = wire.step,
      .correct = wire.correct,
      .rows = wire.rows,
  };
}

std::string EncodeList(std::span<const std::string> items) {
  return ListOf(items);
}

std::string EncodeList(std::initializer_list<std::string_view> items) {
  return ListOf(items);
}

void AppendToList(std::string_view item, std::string& list) {
  const uint64_t size = item.size();
  list.append(reinterpret_cast<const char*>(&size), sizeof(size));
  list.append(item);
}

Result<std::vector<std::string>> DecodeList(std::string_view bytes) {
  return ItemsOf<std::string>(bytes);
}

Result<std::vector<std::string_view>> ViewList(std::string_view bytes) {
  return ItemsOf<std::string_view>(bytes);
}

Result<size_t> SizeOfList(std::string_view bytes) {
  size_t size = 0;
  RETURN_IF_ERROR(ForItems(bytes, [&](std::string_view) { ++size; }));
  return size;
}

}  // namespace gauntlet
