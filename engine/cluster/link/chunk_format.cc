#include "engine/cluster/link/chunk_format.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "engine/check.h"
#include "engine/cluster/link/numbered_channel.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the tag byte of a field: its number and wire type, as in protobuf.
constexpr char TagOf(int field, int wire_type) {
  return static_cast<char>(field << 3 | wire_type);
}
constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

constexpr size_t kLengthBytes = 5;  // size of the longest varint of 32 bits
constexpr size_t kPaddingBytes = 11;
// Offset of the frame's body. The length at the beginning of the frame counts
// the bytes from here on.
constexpr size_t kBodyAt = 1 + kLengthBytes;

// Calls codec.Enum or codec.Fixed for each field of a Chunk that precedes the
// padding, with the field's number in link.proto. Writer and reader both use
// this function, so that the layout is described only here.
template <typename Header, typename Codec>
void ForFields(Header& header, Codec& codec) {
  codec.Enum(1, header.kind);
  codec.Enum(2, header.phase);
  codec.Fixed(3, header.rank);
  codec.Fixed(4, header.index);
  codec.Fixed(5, header.request_bits);
  codec.Fixed(6, header.generation);
  codec.Fixed(7, header.step);
  codec.Fixed(8, header.correct);
  codec.Fixed(9, header.samples);
}
constexpr int kChunkField = 7;  // number of Frame.chunk
constexpr int kPaddingField = 10;
constexpr int kPayloadField = 11;

class HeaderWriter {
 public:
  explicit HeaderWriter(char* to) : to_(to) {}

  template <typename T>
  void Enum(int field, const T& value) {
    PutTag(field, kVarint);
    *to_++ = static_cast<char>(value);
  }
  template <typename T>
  void Fixed(int field, const T& value) {
    PutTag(field, sizeof(T) == sizeof(uint64_t) ? kFixed64 : kFixed32);
    std::memcpy(to_, &value, sizeof value);
    to_ += sizeof value;
  }
  // Writes kLengthBytes bytes, even if the length needs fewer.
  void PutLength(int field, uint64_t length) {
    PutTag(field, kBytes);
    for (size_t i = 0; i < kLengthBytes; ++i) {
      const uint64_t more = i + 1 < kLengthBytes ? 0x80 : 0;
      *to_++ = static_cast<char>((length >> (7 * i) & 0x7f) | more);
    }
  }
  void PutPadding() {
    PutTag(kPaddingField, kBytes);
    *to_++ = static_cast<char>(kPaddingBytes);
    std::memset(to_, 0, kPaddingBytes);
    to_ += kPaddingBytes;
  }
  const char* end() const { return to_; }

 private:
  void PutTag(int field, int wire_type) { *to_++ = TagOf(field, wire_type); }

  char* to_;
};

// Reads the fields at the offsets where HeaderWriter writes them, and ignores
// tags.
class HeaderReader {
 public:
  explicit HeaderReader(const char* from) : from_(from) {}

  template <typename T>
  void Enum(int /*field*/, T& value) {
    static_assert(sizeof value == 1);
    Fixed(0, value);
  }
  template <typename T>
  void Fixed(int /*field*/, T& value) {
    std::memcpy(&value, from_ + 1, sizeof value);
    from_ += 1 + sizeof value;
  }

 private:
  const char* from_;
};

// Writes the header of a frame of `frame_bytes` bytes.
void WriteHeader(const ChunkHeader& header, size_t frame_bytes, char* to) {
  HeaderWriter writer(to);
  writer.PutLength(kChunkField, frame_bytes - kBodyAt);
  ForFields(header, writer);
  writer.PutPadding();
  writer.PutLength(kPayloadField, frame_bytes - kChunkHeaderBytes);
  CHECK(writer.end() == to + kChunkHeaderBytes, "a header of another size");
}

ChunkHeader ReadFields(const char* from) {
  ChunkHeader header;
  HeaderReader reader(from + kBodyAt);
  ForFields(header, reader);
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

Frame EncodeChunk(const ChunkHeader& header, std::string_view payload) {
  Frame frame;
  frame.reserve(kChunkHeaderBytes + payload.size() + kFrameNumberBytes);
  frame.resize(kChunkHeaderBytes);
  frame.append(payload);
  SetHeader(header, frame);
  return frame;
}

void SetHeader(const ChunkHeader& header, Frame& frame) {
  WriteHeader(header, frame.size(), frame.data());
}

std::span<float> FloatsOfChunk(Frame& frame) {
  const size_t bytes = frame.size() - kChunkHeaderBytes;
  CHECK(bytes % sizeof(float) == 0, "a payload of whole floats");
  // The floats are aligned. The header has 80 bytes, and a string of this
  // length is in heap memory, which is 16-byte aligned.
  return {reinterpret_cast<float*>(frame.data() + kChunkHeaderBytes),
          bytes / sizeof(float)};
}

Result<ChunkHeader> DecodeChunk(const Frame& frame) {
  if (frame.size() < kChunkHeaderBytes) {
    return DataLoss(fmt::format("frame: expected at least {} bytes, found {}",
                                kChunkHeaderBytes, frame.size()));
  }
  const ChunkHeader header = ReadFields(frame.data());
  const auto kind = static_cast<int>(header.kind);
  const auto phase = static_cast<int>(header.phase);
  char expected[kChunkHeaderBytes];
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
