#include "chaos/inject/faulty_storage.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/inject/recording_world.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kBlocks = "aaaabbbbccccdddd";
constexpr FileOffset kHalf{.value = 50, .unit = OffsetUnit::kPercent};

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Returns the text with a dot for each byte that nothing was written to.
std::string WithDots(std::string text) {
  std::replace(text.begin(), text.end(), '\0', '.');
  return text;
}

// Writes files as a checkpoint store does, through its fault points, under a
// plan of one fault.
class FaultyStorageTest : public ::testing::Test {
 protected:
  FaultyStorageTest() {
    for (const std::string directory : {"tmp", "dir"}) {
      CHECK(disk_.MakeDirectory(directory).ok(), directory);
    }
  }

  void Plan(FaultKind kind, const FaultSite& site,
            const FaultParameters& with = {}) {
    plan_.faults = {{.id = "f", .site = site, .kind = kind, .with = with}};
    incarnation_ =
        std::make_unique<RecordedIncarnation>(plan_, ProcessIdentity{}, fired_);
    storage_ = std::make_unique<FaultyStorage>(disk_, incarnation_->injector);
  }

  // Writes `blocks`, four bytes each, passing `point` before each block.
  Status WriteBlocks(File& file, std::string_view blocks,
                     Point point = Point::kShardWrite) {
    for (size_t offset = 0; offset < blocks.size(); offset += 4) {
      RETURN_IF_ERROR(incarnation_->injector.Hit(
          point,
          {.offset = offset, .size = blocks.size(), .block = offset / 4}));
      RETURN_IF_ERROR(file.WriteAt(offset, BytesOf(blocks.substr(offset, 4))));
    }
    return OkStatus();
  }

  // Opens, writes and syncs a file, with the fault points of a shard.
  Status WriteShard(const std::string& path) {
    RETURN_IF_ERROR(incarnation_->injector.Hit(Point::kShardOpen, {}));
    ASSIGN_OR_RETURN(const auto file,
                     storage_->Open(path, OpenMode::kCreateTruncate));
    RETURN_IF_ERROR(WriteBlocks(*file, kBlocks));
    RETURN_IF_ERROR(incarnation_->injector.Hit(Point::kShardSync, {}));
    return file->Sync();
  }

  // Calls WriteShard, and expects the process to die in it.
  void WriteShardUntilGone(const std::string& path) {
    EXPECT_THROW(WriteShard(path).ok(), ProcessGone);
  }

  std::string OnDisk(const std::string& path) {
    return disk_.Exists(path) ? WithDots(disk_.Bytes(path)) : "(none)";
  }
  std::string Durable(const std::string& path) {
    return WithDots(disk_.DurableBytes(path));
  }
  const Diary& diary() const { return incarnation_->diary; }
  bool HasFired() { return fired_.HasFired("f"); }

  FaultPlan plan_;
  FiredInMemory fired_;
  MemoryStorage disk_;
  std::unique_ptr<RecordedIncarnation> incarnation_;
  std::unique_ptr<FaultyStorage> storage_;
};

TEST_F(FaultyStorageTest, ForwardsEveryCall_IfNothingIsPlanned) {
  Plan(FaultKind::kCrash, {.point = Point::kFinish});
  EXPECT_TRUE(WriteShard("tmp/a").ok());
  EXPECT_EQ(Durable("tmp/a"), kBlocks);
  EXPECT_TRUE(storage_->Rename("tmp", "final").ok());
  EXPECT_EQ(*ReadFile(*storage_, "final/a", 100), kBlocks);
  EXPECT_TRUE(storage_->SyncDirectory("final").ok());
  EXPECT_THAT(disk_.synced_directories(), ElementsAre("final"));
  EXPECT_TRUE(storage_->Remove("final/a", FileKind::kFile).ok());
  EXPECT_EQ(storage_->Open("final/a", OpenMode::kRead).status().code(),
            Code::kNotFound);
  EXPECT_THAT(diary(), IsEmpty());
}

TEST_F(FaultyStorageTest, TornWriteLandsOnlyTheBlocksKeptThenTheProcessIsGone) {
  Plan(FaultKind::kTornWrite, {.point = Point::kShardWrite, .block = 1},
       {.blocks = 4, .keep = 0b1010});
  WriteShardUntilGone("a");
  EXPECT_EQ(OnDisk("a"), "aaaa.b.b");
  EXPECT_THAT(diary(), ElementsAre(HasSubstr("fault_fired f"), "crash 70"));
}

TEST_F(FaultyStorageTest, TornWriteBeforeALossOfPowerIsOnTheDisk) {
  Plan(FaultKind::kTornWrite, {.point = Point::kShardWrite},
       {.blocks = 2, .keep = 1, .then = AfterTear::kPowerLoss});
  WriteShardUntilGone("a");
  EXPECT_EQ(Durable("a"), "aa");
  EXPECT_EQ(diary().back(), "power loss");
}

TEST_F(FaultyStorageTest, TornWriteWithoutAnErrorDamagesTheFileSilently) {
  Plan(FaultKind::kTornWrite, {.point = Point::kShardWrite, .block = 2},
       {.blocks = 4, .keep = 0b0001, .then = AfterTear::kNothing});
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_EQ(Durable("a"), "aaaabbbbc...dddd");
  EXPECT_THAT(diary().back(), HasSubstr("damaged f at a"));
}

TEST_F(FaultyStorageTest, TornWrite_WaitsForFileWithEnoughBytes) {
  Plan(FaultKind::kTornWrite, {.point = Point::kSaveBegin},
       {.blocks = 8, .keep = 1, .then = AfterTear::kNothing});
  EXPECT_TRUE(incarnation_->injector.Hit(Point::kSaveBegin, {}).ok());
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_EQ(Durable("a"), kBlocks);
  EXPECT_FALSE(HasFired());
}

TEST_F(FaultyStorageTest, ShortWriteLandsInPartAndFails) {
  Plan(FaultKind::kShortWrite, {.point = Point::kShardWrite, .block = 1},
       {.bytes = 3});
  const Status status = WriteShard("dir/a");
  EXPECT_EQ(status.ToString(),
            "IO_ERROR: dir/a: write: injected: 3 of 4 bytes landed");
  EXPECT_EQ(OnDisk("dir/a"), "aaaabbb");
}

TEST_F(FaultyStorageTest, ErrorComesFromTheAnnouncedOperation) {
  struct ErrorCase {
    Point point;
    int error;
    Code code;
    std::string left;  // content left in the file
  };
  const std::vector<ErrorCase> cases = {
      {Point::kShardOpen, EMFILE, Code::kIoError, "(none)"},
      {Point::kShardWrite, ENOSPC, Code::kResourceExhausted, ""},
      {Point::kShardSync, EIO, Code::kIoError, std::string(kBlocks)},
  };
  for (const ErrorCase& c : cases) {
    disk_.SetContents({});
    fired_ = {};
    Plan(FaultKind::kErrno, {.point = c.point}, {.error = c.error});
    const Status status = WriteShard("a");
    EXPECT_EQ(status.code(), c.code) << PointName(c.point);
    EXPECT_THAT(status.message(), HasSubstr("a: ")) << PointName(c.point);
    EXPECT_EQ(OnDisk("a"), c.left) << PointName(c.point);
    EXPECT_TRUE(WriteShard("a").ok()) << "it comes once";
    EXPECT_EQ(Durable("a"), kBlocks);
  }
}

TEST_F(FaultyStorageTest, FaultFiredInEarlierIncarnation_DoesNotChangeSync) {
  Plan(FaultKind::kErrno,
       {.incarnation = kAnyIncarnation, .point = Point::kShardSync});
  EXPECT_TRUE(fired_.MarkFired("f"));
  EXPECT_TRUE(WriteShard("tmp/a").ok());
  EXPECT_EQ(Durable("tmp/a"), kBlocks);
}

TEST_F(FaultyStorageTest, PermanentError_FailsEveryWrite) {
  Plan(FaultKind::kErrno,
       {.point = Point::kShardWrite, .occurrence = 3, .block = kAnyBlock},
       {.times = FaultTimes::kAlways, .error = ENOSPC});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(WriteShard("a").code(), Code::kResourceExhausted);
    EXPECT_EQ(OnDisk("a"), i == 0 ? "aaaabbbb" : "");
  }
  EXPECT_THAT(diary(), ElementsAre(HasSubstr("fault_fired f"),
                                   HasSubstr("fault_fired_again f"),
                                   HasSubstr("fault_fired_again f")));
}

TEST_F(FaultyStorageTest, RenameRemoveAndDirectorySyncFailWithoutEffect) {
  disk_.SetBytes("a", "");
  Plan(FaultKind::kErrno, {.point = Point::kRename});
  EXPECT_TRUE(incarnation_->injector.Hit(Point::kRename, {}).ok());
  EXPECT_EQ(storage_->Rename("a", "b").code(), Code::kIoError);
  fired_ = {};
  Plan(FaultKind::kErrno, {.point = Point::kRetireRemove});
  EXPECT_TRUE(incarnation_->injector.Hit(Point::kRetireRemove, {}).ok());
  EXPECT_EQ(storage_->Remove("a", FileKind::kFile).code(), Code::kIoError);
  fired_ = {};
  Plan(FaultKind::kFsyncFails, {.point = Point::kParentSync});
  EXPECT_TRUE(incarnation_->injector.Hit(Point::kParentSync, {}).ok());
  EXPECT_EQ(storage_->SyncDirectory(".").code(), Code::kIoError);
  EXPECT_THAT(disk_.synced_directories(), IsEmpty());
  EXPECT_EQ(OnDisk("a"), "");
  EXPECT_TRUE(storage_->SyncDirectory(".").ok());
  EXPECT_THAT(disk_.synced_directories(), ElementsAre("."));
}

TEST_F(FaultyStorageTest, LaterSyncsOfFile_AreIneffectiveAfterFailedSync) {
  Plan(FaultKind::kFsyncFails, {.point = Point::kShardSync});
  ASSERT_TRUE(incarnation_->injector.Hit(Point::kShardSync, {}).ok());
  const auto file = *storage_->Open("tmp/a", OpenMode::kCreateTruncate);
  ASSERT_TRUE(WriteBlocks(*file, kBlocks).ok());
  EXPECT_EQ(file->Sync().code(), Code::kIoError);
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_TRUE(storage_->Rename("tmp", "final").ok());
  EXPECT_TRUE(file->Sync().ok());
  const auto again = *storage_->Open("final/a", OpenMode::kReadWrite);
  EXPECT_TRUE(again->Sync().ok());
  EXPECT_EQ(Durable("final/a"), "");
  EXPECT_TRUE(WriteShard("final/a").ok());
  EXPECT_EQ(Durable("final/a"), kBlocks) << "a file made anew is a good one";
}

TEST_F(FaultyStorageTest, DamageAtRestLetsTheSaveSucceed) {
  struct DamageCase {
    FaultKind kind;
    FaultParameters with;
    std::string left;
  };
  const std::vector<DamageCase> cases = {
      {FaultKind::kBitFlip,
       {.offset = {.value = 5}, .bit = 1},
       "aaaab`bbccccdddd"},
      {FaultKind::kBitFlip, {.offset = kHalf}, "aaaabbbbbcccdddd"},
      {FaultKind::kBitFlip,
       {.offset = {.value = 100, .unit = OffsetUnit::kPercent}},
       "aaaabbbbccccddde"},
      {FaultKind::kTruncate, {.offset = kHalf}, "aaaabbbb"},
      {FaultKind::kTruncate, {}, ""},
      {FaultKind::kDelete, {}, "(none)"},
  };
  for (const DamageCase& c : cases) {
    fired_ = {};
    Plan(c.kind, {.point = Point::kShardWrite, .block = 1}, c.with);
    EXPECT_TRUE(WriteShard("a").ok());
    EXPECT_EQ(OnDisk("a"), c.left);
    EXPECT_THAT(diary(), ElementsAre(HasSubstr("fault_fired f"),
                                     HasSubstr("damaged f at a")));
  }
}

TEST_F(FaultyStorageTest, DamageAtEveryHitIsDoneOnceToEachFile) {
  Plan(FaultKind::kBitFlip, {.point = Point::kShardWrite},
       {.times = FaultTimes::kAlways});
  for (const std::string path : {"a", "b"}) {
    EXPECT_TRUE(WriteShard(path).ok());
    EXPECT_EQ(OnDisk(path), "`aaabbbbccccdddd");
    EXPECT_THAT(diary().back(), HasSubstr("damaged f at " + path));
  }
}

TEST_F(FaultyStorageTest, DamageBeforeALoadIsDoneToTheNextFileRead) {
  for (const Point point : {Point::kLoadBegin, Point::kLoadRead}) {
    fired_ = {};
    disk_.SetBytes("a", std::string(kBlocks));
    Plan(FaultKind::kTruncate, {.point = point}, {.offset = kHalf});
    EXPECT_TRUE(incarnation_->injector.Hit(point, {}).ok());
    EXPECT_EQ(*ReadFile(*storage_, "a", 100), "aaaabbbb");
  }
}

TEST_F(FaultyStorageTest, DamageBeforeALoadIsDoneToNoFileAfterIt) {
  disk_.SetBytes("a", std::string(kBlocks));
  Plan(FaultKind::kDelete, {.point = Point::kLoadBegin});
  EXPECT_TRUE(incarnation_->injector.Hit(Point::kLoadBegin, {}).ok());
  EXPECT_TRUE(incarnation_->injector.Hit(Point::kLoadEnd, {}).ok());
  EXPECT_EQ(*ReadFile(*storage_, "a", 100), kBlocks);
  EXPECT_FALSE(HasFired());
}

TEST_F(FaultyStorageTest, ImpossibleDamage_DoesNotFire) {
  Plan(FaultKind::kBitFlip, {.point = Point::kShardWrite},
       {.offset = {.value = 1000}});
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_EQ(OnDisk("a"), kBlocks);
  EXPECT_FALSE(HasFired());
}

TEST_F(FaultyStorageTest, DamageBeyondEndOfFile_WaitsForLongerFile) {
  Plan(FaultKind::kBitFlip, {.point = Point::kShardWrite},
       {.offset = {.value = 5}});
  const auto small = *storage_->Open("small", OpenMode::kCreateTruncate);
  EXPECT_TRUE(WriteBlocks(*small, "aaaa").ok());
  EXPECT_TRUE(small->Sync().ok());
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_EQ(OnDisk("a"), "aaaabcbbccccdddd");
}

TEST_F(FaultyStorageTest, TwoFaultsOfOneWriteBothHappen) {
  const FaultSite site{.point = Point::kShardWrite,
                       .occurrence = 1,
                       .offset = FileOffset{.value = 6}};
  Plan(FaultKind::kSlow, site, {.latency = Duration(7)});
  plan_.faults.push_back({.id = "g", .site = site});
  plan_.faults.push_back({.id = "flip",
                          .site = {.point = Point::kShardWrite, .block = 1},
                          .kind = FaultKind::kBitFlip});
  incarnation_ =
      std::make_unique<RecordedIncarnation>(plan_, ProcessIdentity{}, fired_);
  storage_ = std::make_unique<FaultyStorage>(disk_, incarnation_->injector);
  WriteShardUntilGone("a");
  EXPECT_EQ(OnDisk("a"), "aaaabb");
  EXPECT_THAT(diary(), ElementsAre(HasSubstr("fault_fired f"), "sleep 7",
                                   HasSubstr("fault_fired g"), "crash 70"));
}

TEST_F(FaultyStorageTest, OffsetCutsTheWriteAtThatByte) {
  struct OffsetCase {
    FileOffset offset;
    std::string left;
  };
  const std::vector<OffsetCase> cases = {
      {{.value = 0}, ""},
      {{.value = 6}, "aaaabb"},
      {kHalf, "aaaabbbb"},
      {{.value = 100, .unit = OffsetUnit::kPercent}, std::string(kBlocks)},
  };
  for (const OffsetCase& c : cases) {
    fired_ = {};
    Plan(FaultKind::kCrash, {.point = Point::kShardWrite, .offset = c.offset});
    WriteShardUntilGone("a");
    EXPECT_EQ(OnDisk("a"), c.left);
  }
}

TEST_F(FaultyStorageTest, OffsetCountsOnceForEachFile) {
  for (const FileOffset offset : {FileOffset{}, FileOffset{8}, kHalf}) {
    fired_ = {};
    Plan(FaultKind::kErrno,
         {.point = Point::kShardWrite, .occurrence = 3, .offset = offset},
         {.error = ENOSPC});
    EXPECT_TRUE(WriteShard("a").ok());
    EXPECT_TRUE(WriteShard("b").ok());
    EXPECT_EQ(WriteShard("c").code(), Code::kResourceExhausted);
    EXPECT_EQ(OnDisk("c"), offset.value == 0 ? "" : "aaaabbbb");
  }
}

TEST_F(FaultyStorageTest, Block_SelectsAWriteOfEachFile) {
  Plan(FaultKind::kErrno,
       {.point = Point::kShardWrite, .occurrence = 2, .block = 2},
       {.error = ENOSPC});
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_EQ(WriteShard("b").code(), Code::kResourceExhausted);
  EXPECT_EQ(OnDisk("b"), "aaaabbbb");
}

TEST_F(FaultyStorageTest, Block_BehindTheEndOfTheFile_DoesNotFire) {
  Plan(FaultKind::kErrno, {.point = Point::kShardWrite, .block = 4});
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_FALSE(HasFired());
}

TEST_F(FaultyStorageTest, AnyBlock_CountsEachBlock) {
  Plan(FaultKind::kErrno,
       {.point = Point::kShardWrite, .occurrence = 6, .block = kAnyBlock},
       {.error = ENOSPC});
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_EQ(WriteShard("b").code(), Code::kResourceExhausted);
  EXPECT_EQ(OnDisk("b"), "aaaa");
}

TEST_F(FaultyStorageTest, OffsetIsIgnored_InFilesOfOtherPoints) {
  Plan(FaultKind::kCrash, {.point = Point::kManifestWrite, .offset = kHalf});
  EXPECT_TRUE(WriteShard("a").ok());
  EXPECT_FALSE(HasFired());
}

}  // namespace
}  // namespace gauntlet
