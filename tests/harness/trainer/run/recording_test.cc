// Places of a recorded run at which its controls may stop it.
#include "harness/trainer/run/recording.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::AnyOf;
using testing::IsEmpty;
using testing::SizeIs;

// Returns the quiet points of a run that performs the operations of
// `make_calls`.
template <class Calls>
std::vector<uint64_t> QuietPointsOf(size_t most, const Calls& make_calls) {
  WrittenLog written(2);
  make_calls(written);
  const Recording recording{
      .run = {}, .end = {}, .log = std::move(written.log())};
  return recording.QuietPoints(most);
}

// A save is seven operations. The longest pause is within the save, at the
// close of `weights`, which is no crash point.
constexpr uint64_t kSave = 7;
constexpr uint64_t kWithinSave = 3;
void SaveTwoFilesSixTimes(WrittenLog& log) {
  for (int step = 0; step < 6; ++step) {
    for (const std::string file : {"weights", "step"}) {
      log.Create(file + ".tmp");
      log.Write(file + ".tmp", "text");
      log.Rename(file + ".tmp", file);
      if (file == "weights") log.Close(file);
    }
  }
}

TEST(RecordingTest, QuietPointsComeBeforeAFileBegins_InTheMiddleHalf) {
  const auto points = QuietPointsOf(100, SaveTwoFilesSixTimes);
  EXPECT_THAT(points, SizeIs(6));
  for (const uint64_t point : points) {
    EXPECT_THAT(point % kSave, AnyOf(0U, kWithinSave));
    EXPECT_GT(point, kSave);
    EXPECT_LT(point, 5 * kSave);
  }
}

TEST(RecordingTest, QuietPointsAreFollowedByDifferentFiles) {
  const auto points = QuietPointsOf(2, SaveTwoFilesSixTimes);
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(points[0] % kSave, kWithinSave);
  EXPECT_EQ(points[1] % kSave, 0U);
}

TEST(RecordingTest, IfNoFileBegins_AnyPointIsQuiet) {
  EXPECT_THAT(QuietPointsOf(2,
                            [](WrittenLog& log) {
                              log.Create("a");
                              for (int i = 0; i < 7; ++i) log.Write("a", "x");
                            }),
              SizeIs(2));
  EXPECT_THAT(QuietPointsOf(2, [](WrittenLog& log) { log.Create("a"); }),
              IsEmpty());
}

}  // namespace
}  // namespace gauntlet
