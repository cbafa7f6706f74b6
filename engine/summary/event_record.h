// The bytes of TensorBoard's event files.
//
// A file is a sequence of TFRecords (tensorflow/core/lib/io/record_writer.h).
// All integers are little-endian, and each checksum is a masked crc32c:
//
//   u64 length | u32 checksum of the length | data | u32 checksum of the data
//
// The data of each record is an Event in protobuf's wire format, with these
// fields (tensorflow/core/util/event.proto,
// tensorflow/core/framework/summary.proto):
//
//   Event       1 double wall_time, 2 int64 step, 3 string file_version,
//               5 Summary summary, 7 SessionLog session_log
//   Summary     1 repeated Value value
//   Value       1 string tag, 2 float simple_value
//   SessionLog  1 enum status (1 = START)
//
// The first event of a file has the file version. A SessionLog START makes
// readers discard the events of its step and of later steps in earlier files.
#ifndef GAUNTLET_ENGINE_SUMMARY_EVENT_RECORD_H_
#define GAUNTLET_ENGINE_SUMMARY_EVENT_RECORD_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gauntlet {

inline constexpr std::string_view kEventFileVersion = "brain.Event:2";

struct Scalar {
  std::string tag;
  float value = 0.0f;
};

// Time and step of an event.
struct EventTime {
  double wall_seconds = 0.0;  // since 1970
  uint64_t step = 0;
};

// Return encoded events.
std::string FileVersionEvent(const EventTime& time);
std::string SessionStartEvent(const EventTime& time);
std::string ScalarsEvent(const EventTime& time,
                         std::span<const Scalar> scalars);

// Returns the record that holds an event.
std::string EventRecord(std::string_view event);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_SUMMARY_EVENT_RECORD_H_
