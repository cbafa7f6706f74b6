#include "engine/summary/event_record.h"

#include <bit>

#include "engine/summary/crc32c.h"

namespace gauntlet {
namespace {

std::string LittleEndian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(value >> 8 * i & 0xff));
  }
  return text;
}

// Encodes a message in protobuf's wire format, field by field.
class Message {
 public:
  Message& Double(uint32_t field, double value) {
    Key(field, kFixed64);
    bytes_ += LittleEndian(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }
  Message& Float(uint32_t field, float value) {
    Key(field, kFixed32);
    bytes_ += LittleEndian(std::bit_cast<uint32_t>(value), 4);
    return *this;
  }
  Message& Varint(uint32_t field, uint64_t value) {
    Key(field, kVarint);
    PutVarint(value);
    return *this;
  }
  Message& Bytes(uint32_t field, std::string_view value) {
    Key(field, kLengthDelimited);
    PutVarint(value.size());
    bytes_ += value;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType : uint32_t {
    kVarint = 0,
    kFixed64 = 1,
    kLengthDelimited = 2,
    kFixed32 = 5,
  };

  void Key(uint32_t field, WireType type) { PutVarint(field << 3 | type); }
  void PutVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<char>(value | 0x80));
    }
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

Message EventAt(const EventTime& time) {
  Message event;
  event.Double(1, time.wall_seconds).Varint(2, time.step);
  return event;
}

}  // namespace

std::string FileVersionEvent(const EventTime& time) {
  return EventAt(time).Bytes(3, kEventFileVersion).bytes();
}

std::string SessionStartEvent(const EventTime& time) {
  constexpr uint64_t kStart = 1;
  return EventAt(time).Bytes(7, Message().Varint(1, kStart).bytes()).bytes();
}

std::string ScalarsEvent(const EventTime& time,
                         std::span<const Scalar> scalars) {
  Message summary;
  for (const Scalar& scalar : scalars) {
    summary.Bytes(
        1, Message().Bytes(1, scalar.tag).Float(2, scalar.value).bytes());
  }
  return EventAt(time).Bytes(5, summary.bytes()).bytes();
}

std::string EventRecord(std::string_view event) {
  const std::string length = LittleEndian(event.size(), 8);
  return length + LittleEndian(MaskedCrc32c(length), 4) + std::string(event) +
         LittleEndian(MaskedCrc32c(event), 4);
}

}  // namespace gauntlet
