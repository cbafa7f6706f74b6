#include "engine/summary/event_record.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/summary/crc32c.h"

namespace gauntlet {
namespace {

// Beginning of every event here: time 1.5 s and step 300, as a fixed64 and a
// varint.
const std::string kTime("\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x10\xac\x02", 12);
constexpr EventTime kAt = {.wall_seconds = 1.5, .step = 300};

TEST(EventRecordTest, FileVersionIsFieldThree) {
  EXPECT_EQ(FileVersionEvent(kAt), kTime + "\x1a\x0d" + "brain.Event:2");
}

TEST(EventRecordTest, SessionStartIsStatusOneInFieldSeven) {
  EXPECT_EQ(SessionStartEvent(kAt), kTime + "\x3a\x02\x08\x01");
}

TEST(EventRecordTest, ScalarsAreValuesOfTheSummary) {
  const std::vector<Scalar> scalars = {{.tag = "a", .value = 1.0f},
                                       {.tag = "bc", .value = -2.0f}};
  const std::string first = std::string("\x0a\x01\x61\x15\x00\x00\x80\x3f", 8);
  const std::string second =
      std::string("\x0a\x02\x62\x63\x15\x00\x00\x00\xc0", 9);
  EXPECT_EQ(ScalarsEvent(kAt, scalars),
            kTime + "\x2a\x15" + "\x0a\x08" + first + "\x0a\x09" + second);
}

TEST(EventRecordTest, RecordHasItsLengthAndBothChecksums) {
  const std::string record = EventRecord("hello");
  ASSERT_EQ(record.size(), 8u + 4 + 5 + 4);
  const std::string length("\x05\x00\x00\x00\x00\x00\x00\x00", 8);
  EXPECT_EQ(record.substr(0, 8), length);
  EXPECT_EQ(record.substr(12, 5), "hello");
  const auto number_at = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(record[at + i]);
    }
    return value;
  };
  EXPECT_EQ(number_at(8), MaskedCrc32c(length));
  EXPECT_EQ(number_at(17), MaskedCrc32c("hello"));
}

}  // namespace
}  // namespace gauntlet
