#include "engine/cluster/frame_format.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// One byte of a field's number and wire type, as protobuf writes them.
constexpr char TagOf(int field, int wire_type) {
  return static_cast<char>(field << 3 | wire_type);
}
constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

constexpr size_t kLengthBytes = 5;  // a varint of its greatest size
constexpr size_t kPaddingBytes = 11;
// Where what the frame's length counts begins.
constexpr size_t kBodyAt = 1 + kLengthBytes;

// Writes a header's fields one after another.
class HeaderWriter {
 public:
  explicit HeaderWriter(char* to) : to_(to) {}

  void PutTag(int field, int wire_type) { *to_++ = TagOf(field, wire_type); }
  void PutEnum(int field, uint8_t value) {
    PutTag(field, kVarint);
    *to_++ = static_cast<char>(value);
  }
  template <typename T>
  void PutFixed(int field, T value) {
    PutTag(field, sizeof(T) == sizeof(uint64_t) ? kFixed64 : kFixed32);
    std::memcpy(to_, &value, sizeof value);
    to_ += sizeof value;
  }
  // In all of its bytes, whatever the length.
  void PutLength(int field, uint64_t length) {
    PutTag(field, kBytes);
    for (size_t i = 0; i < kLengthBytes; ++i) {
      const uint64_t more = i + 1 < kLengthBytes ? 0x80 : 0;
      *to_++ = static_cast<char>((length >> (7 * i) & 0x7f) | more);
    }
  }
  void PutPadding(int field) {
    PutTag(field, kBytes);
    *to_++ = static_cast<char>(kPaddingBytes);
    std::memset(to_, 0, kPaddingBytes);
    to_ += kPaddingBytes;
  }
  const char* end() const { return to_; }

 private:
  char* to_;
};

// The header of a frame of so many bytes. Field numbers are link.proto's.
void WriteHeader(const FrameHeader& header, size_t frame_bytes, char* to) {
  HeaderWriter writer(to);
  writer.PutLength(7, frame_bytes - kBodyAt);  // Frame.chunk
  writer.PutEnum(1, static_cast<uint8_t>(header.kind));
  writer.PutEnum(2, static_cast<uint8_t>(header.phase));
  writer.PutFixed(3, header.rank);
  writer.PutFixed(4, header.chunk);
  writer.PutFixed(5, header.requests);
  writer.PutFixed(6, header.generation);
  writer.PutFixed(7, header.step);
  writer.PutFixed(8, header.correct);
  writer.PutFixed(9, header.rows);
  writer.PutPadding(10);
  writer.PutLength(11, frame_bytes - kFrameHeaderBytes);
  CHECK(writer.end() == to + kFrameHeaderBytes, "a header of another size");
}

// The values at the places where WriteHeader puts them.
FrameHeader ReadFields(const char* from) {
  const auto get = [from](size_t at, auto& value) {
    std::memcpy(&value, from + at, sizeof value);
  };
  FrameHeader header;
  get(7, header.kind);
  get(9, header.phase);
  get(11, header.rank);
  get(16, header.chunk);
  get(21, header.requests);
  get(26, header.generation);
  get(35, header.step);
  get(44, header.correct);
  get(53, header.rows);
  return header;
}

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

void SetHeader(const FrameHeader& header, Frame& frame) {
  WriteHeader(header, frame.size(), frame.data());
}

std::span<float> FrameFloats(Frame& frame) {
  const size_t bytes = frame.size() - kFrameHeaderBytes;
  CHECK(bytes % sizeof(float) == 0, "a payload of whole floats");
  // Aligned: the header is of 80 bytes, and what is longer than a few bytes
  // lies on the heap.
  return {reinterpret_cast<float*>(frame.data() + kFrameHeaderBytes),
          bytes / sizeof(float)};
}

Result<FrameHeader> DecodeFrame(const Frame& frame) {
  if (frame.size() < kFrameHeaderBytes) {
    return DataLoss(fmt::format("frame: expected at least {} bytes, found {}",
                                kFrameHeaderBytes, frame.size()));
  }
  const FrameHeader header = ReadFields(frame.data());
  const auto kind = static_cast<int>(header.kind);
  const auto phase = static_cast<int>(header.phase);
  char expected[kFrameHeaderBytes];
  WriteHeader(header, frame.size(), expected);
  const bool known = kind >= 1 && kind <= 5 && phase <= 2;
  if (!known || std::memcmp(expected, frame.data(), sizeof expected) != 0) {
    return DataLoss(
        fmt::format("frame: no chunk of this protocol (kind {}, {} bytes)",
                    kind, frame.size()));
  }
  return header;
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
