#include "engine/summary/summary_writer.h"

#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

const char kFirst[] = "/runs/a/events.out.tfevents.1700000000.machine-a";

std::string RecordOf(std::string_view event) { return EventRecord(event); }

class SummaryWriterTest : public testing::Test {
 protected:
  Result<std::unique_ptr<SummaryWriter>> Open(uint64_t first_step) {
    return SummaryWriter::Open(world_.world, "/runs/a", first_step);
  }
  // Returns the records for version and session start, at the test world's
  // time.
  static std::string Head(uint64_t first_step) {
    return RecordOf(FileVersionEvent({.wall_seconds = 1.7e9, .step = 0})) +
           RecordOf(
               SessionStartEvent({.wall_seconds = 1.7e9, .step = first_step}));
  }
  static std::string Loss(uint64_t step, float value) {
    const Scalar scalar = {.tag = "loss", .value = value};
    return RecordOf(ScalarsEvent({.wall_seconds = 1.7e9, .step = step},
                                 std::span(&scalar, 1)));
  }
  static Status Put(SummaryWriter& writer, uint64_t step, float value) {
    const Scalar scalar = {.tag = "loss", .value = value};
    return writer.Write(step, std::span(&scalar, 1));
  }

  MemoryStorage storage_;
  TestWorld world_{storage_};
};

TEST_F(SummaryWriterTest, FileBeginsWithItsVersionAndASessionStart) {
  const auto writer = Open(7);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  EXPECT_EQ((*writer)->path(), kFirst);
  EXPECT_EQ(storage_.Bytes(kFirst), Head(7));
}

TEST_F(SummaryWriterTest, ScalarsAreAppended) {
  const auto writer = Open(0).value();
  EXPECT_TRUE(Put(*writer, 1, 0.5f).ok());
  EXPECT_TRUE(Put(*writer, 2, 0.25f).ok());
  EXPECT_EQ(storage_.Bytes(kFirst), Head(0) + Loss(1, 0.5f) + Loss(2, 0.25f));
}

TEST_F(SummaryWriterTest, EachIncarnationHasAFileOfItsOwnAndItsNameIsTheLast) {
  ASSERT_TRUE(Open(0).ok());
  ASSERT_TRUE(Open(5).ok());
  EXPECT_EQ(storage_.Bytes("/runs/a/events.out.tfevents.1700000001.machine-a"),
            Head(5));
  // The first file has a time in the future, as after a clock was set back.
  for (const char* name : {"events.out.tfevents.1900000000.elsewhere",
                           "events.out.tfevents.x", "events.out.tfevents."}) {
    ASSERT_TRUE(
        storage_
            .Open(std::string("/runs/a/") + name, OpenMode::kCreateExclusive)
            .ok());
  }
  EXPECT_EQ(Open(9).value()->path(),
            "/runs/a/events.out.tfevents.1900000001.machine-a");
}

TEST_F(SummaryWriterTest, FailedWriteLeavesWholeRecordsAndTheNextOneIsThere) {
  const auto writer = Open(0).value();
  EXPECT_TRUE(Put(*writer, 1, 0.5f).ok());
  storage_.gate = [](StorageCall operation, const std::string&) {
    return operation == StorageCall::kWrite ? ResourceExhausted("full")
                                            : OkStatus();
  };
  EXPECT_EQ(Put(*writer, 2, 0.5f).code(), Code::kResourceExhausted);
  storage_.gate = nullptr;
  EXPECT_TRUE(Put(*writer, 3, 0.5f).ok());
  EXPECT_EQ(storage_.Bytes(kFirst), Head(0) + Loss(1, 0.5f) + Loss(3, 0.5f));
}

TEST_F(SummaryWriterTest, FolderThatCannotBeMadeIsAnError) {
  storage_.gate = [](StorageCall operation, const std::string& path) {
    return operation == StorageCall::kCreate ? IoError(path) : OkStatus();
  };
  EXPECT_EQ(Open(0).status().code(), Code::kIoError);
}

}  // namespace
}  // namespace gauntlet
