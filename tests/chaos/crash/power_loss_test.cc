// The rules of unsynced_changes.h, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

constexpr auto kExt4 = DurabilityProfile::kExt4;
constexpr auto kWeak = DurabilityProfile::kWeak;

std::set<std::string> At(WrittenLog& log, DurabilityProfile profile,
                         uint64_t point) {
  return log.PowerLosses(profile, point, point);
}

TEST(Ext4PowerLossTest, NewFileIsFoundEmptyShortOrAbsent) {
  WrittenLog log;
  log.Create("a");
  const std::string text(8192, 'x');
  const uint64_t end = log.Write("a", text);
  EXPECT_THAT(At(log, kExt4, end),
              UnorderedElementsAre("", "a=\n", "a=" + text + "\n",
                                   "a=" + text.substr(0, 4096) + "\n"));
}

TEST(Ext4PowerLossTest, SyncKeepsDataAndAllEarlierNames) {
  WrittenLog log;
  log.Create("other");
  log.Create("a");
  log.Write("a", "text");
  EXPECT_THAT(At(log, kExt4, log.Sync("a")), ElementsAre("a=text\nother=\n"));
}

TEST(Ext4PowerLossTest, SyncOfDataCommitsNamesToo) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  EXPECT_THAT(At(log, kExt4, log.SyncAs(OperationKind::kSyncData, "a")),
              ElementsAre("a=text\n"));
}

TEST(Ext4PowerLossTest, SyncDoesNotCoverWriteThatOverlapsIt) {
  WrittenLog log;
  log.Create("a");
  const uint64_t before = log.SyncDirectory(".");
  log.Write("a", "text");
  log.BeginEarlier(before);
  const uint64_t end = log.Sync("a");
  EXPECT_THAT(At(log, kExt4, end), UnorderedElementsAre("a=\n", "a=text\n"));
}

TEST(Ext4PowerLossTest, ImpliedSyncCoversItsWrite) {
  WrittenLog log;
  log.Create("a");
  const uint64_t write = log.Write("a", "text");
  auto sync = log.Named(OperationKind::kSyncData, "a");
  sync.implied = true;
  sync.call = write;
  log.BeginEarlier(write - 1);
  EXPECT_THAT(At(log, kExt4, log.Add(sync)), ElementsAre("a=text\n"));
}

TEST(Ext4PowerLossTest, SyncRangeForcesNothing) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  EXPECT_THAT(At(log, kExt4, log.SyncAs(OperationKind::kSyncRange, "a")),
              UnorderedElementsAre("", "a=\n", "a=text\n"));
}

TEST(Ext4PowerLossTest, SyncOfDirectoryKeepsNamesNotData) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  EXPECT_THAT(At(log, kExt4, log.SyncDirectory(".")),
              UnorderedElementsAre("a=\n", "a=text\n"));
}

TEST(Ext4PowerLossTest, SyncOfFileSystemKeepsAll) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  log.MakeDirectory("d");
  EXPECT_THAT(At(log, kExt4, log.SyncAll()), ElementsAre("a=text\nd/\n"));
}

TEST(Ext4PowerLossTest, NamesAreLostFromNewestOn) {
  WrittenLog log;
  log.MakeDirectory("a");
  log.MakeDirectory("b");
  EXPECT_THAT(At(log, kExt4, log.MakeDirectory("c")),
              UnorderedElementsAre("", "a/\n", "a/\nb/\n", "a/\nb/\nc/\n"));
}

TEST(Ext4PowerLossTest, RenameToNewNameMayComeWithoutData) {
  WrittenLog log;
  log.Create("a.tmp");
  log.Write("a.tmp", "new");
  const uint64_t end = log.Rename("a.tmp", "a");
  EXPECT_THAT(At(log, kExt4, end), Contains("a=\n"));
}

TEST(Ext4PowerLossTest, RenameOntoFileBringsItsData) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old");
  log.Sync("a");
  log.Create("a.tmp");
  log.Write("a.tmp", "new");
  const uint64_t end = log.Rename("a.tmp", "a");
  EXPECT_THAT(At(log, kExt4, end),
              UnorderedElementsAre("a=old\n", "a=old\na.tmp=\n",
                                   "a=old\na.tmp=new\n", "a=new\n"));
}

TEST(Ext4PowerLossTest, WriteAfterRenameOntoFileIsNotHurried) {
  WrittenLog log;
  log.Create("a");
  log.Create("b");
  log.Rename("b", "a");
  EXPECT_THAT(At(log, kExt4, log.Write("a", "text")), Contains("a=\n"));
}

TEST(Ext4PowerLossTest, ExchangeAndLinkDoNotHurryData) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old");
  log.Sync("a");
  log.Create("b");
  log.Write("b", "new");
  EXPECT_THAT(At(log, kExt4, log.Exchange("b", "a")), Contains("a=\nb=old\n"));
  log.Link("a", "c");
  EXPECT_THAT(At(log, kExt4, log.Unlink("a")), Contains("b=old\nc=\n"));
}

TEST(Ext4PowerLossTest, EmptiedFileIsOldOrPrefixOfNew) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old text");
  log.Sync("a");
  log.Truncate("a", 0);
  const uint64_t end = log.Write("a", "new");
  EXPECT_THAT(At(log, kExt4, end),
              UnorderedElementsAre("a=old text\n", "a=\n", "a=new\n"));
}

TEST(Ext4PowerLossTest, TruncationTakesItsPlaceAmongNames) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old");
  log.Sync("a");
  log.Truncate("a", 0);
  EXPECT_THAT(At(log, kExt4, log.MakeDirectory("d")),
              UnorderedElementsAre("a=old\n", "a=\n", "a=\nd/\n"));
}

TEST(Ext4PowerLossTest, CloseOfEmptiedFileOrdersItsDataBeforeLaterNames) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old");
  log.Sync("a");
  log.Truncate("a", 0);
  log.Write("a", "new");
  log.Close("a");
  EXPECT_THAT(
      At(log, kExt4, log.MakeDirectory("d")),
      UnorderedElementsAre("a=old\n", "a=\n", "a=new\n", "a=new\nd/\n"));
}

TEST(Ext4PowerLossTest, CloseOfNewFileHurriesNothing) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "new");
  log.Close("a");
  EXPECT_THAT(At(log, kExt4, log.MakeDirectory("d")), Contains("a=\nd/\n"));
}

TEST(Ext4PowerLossTest, AppendedBytesNeedJournalBeforeThem) {
  WrittenLog log;
  log.Create("a");
  log.MakeDirectory("d");
  // The journal commits the length of `a` after `d`.
  EXPECT_THAT(At(log, kExt4, log.Write("a", "text")),
              UnorderedElementsAre("", "a=\n", "a=\nd/\n", "a=text\nd/\n"));
}

TEST(Ext4PowerLossTest, OverwrittenBlocksSurviveEachOnItsOwn) {
  WrittenLog log;
  const std::string old_text = Sectors(16, 'A');
  const std::string new_text = Sectors(16, 'a');
  log.Create("a");
  log.Write("a", old_text);
  log.Sync("a");
  const auto images = At(log, kExt4, log.Write("a", new_text));
  EXPECT_EQ(images.size(), 16 * 16);
  EXPECT_THAT(
      images,
      IsSupersetOf(
          {"a=" + old_text + "\n", "a=" + new_text + "\n",
           "a=" + old_text.substr(0, 4096) + new_text.substr(4096) + "\n",
           "a=" + new_text.substr(0, 512) + old_text.substr(512) + "\n",
           "a=" + old_text.substr(0, 512) + new_text.substr(512) + "\n"}));
}

TEST(Ext4PowerLossTest, BlockAtOldEndIsNewInLongerFile) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old");
  log.Sync("a");
  EXPECT_THAT(At(log, kExt4, log.Write("a", "newer")),
              UnorderedElementsAre("a=old\n", "a=new\n", "a=newer\n"));
}

TEST(Ext4PowerLossTest, OverwriteNeedsNoJournal) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old");
  log.Sync("a");
  log.MakeDirectory("d");
  EXPECT_THAT(
      At(log, kExt4, log.Write("a", "new")),
      UnorderedElementsAre("a=old\n", "a=new\n", "a=old\nd/\n", "a=new\nd/\n"));
}

TEST(Ext4PowerLossTest, AllocatedBlocksAreFilledWholeOrNot) {
  WrittenLog log;
  log.Create("a");
  log.Reshape(OperationKind::kAllocate, "a", 0, 4096);
  log.Sync("a");
  const std::string zeros(4096, '\0');
  const std::string text = Sectors(8);
  EXPECT_THAT(At(log, kExt4, log.Write("a", text)),
              UnorderedElementsAre("a=" + zeros + "\n", "a=" + text + "\n"));
}

TEST(Ext4PowerLossTest, ChangeOfShapeComesWithBytesBeforeIt) {
  WrittenLog log;
  log.Create("a");
  log.SyncAll();
  log.Write("a", "abcdef");
  EXPECT_THAT(At(log, kExt4, log.Truncate("a", 3)),
              UnorderedElementsAre("a=\n", "a=abc\n"));
}

TEST(Ext4PowerLossTest, EnteredFileHasItsBytes) {
  WrittenLog log;
  EXPECT_THAT(At(log, kExt4, log.Enter("a", "text")),
              UnorderedElementsAre("", "a=text\n"));
}

TEST(Ext4PowerLossTest, LeavingAndLinksAreChangesOfNames) {
  WrittenLog log;
  log.MakeDirectory("d");
  log.Symlink("d/l", "../x");
  log.SyncAll();
  EXPECT_THAT(At(log, kExt4, log.Leave("d")),
              UnorderedElementsAre("", "d/\nd/l -> ../x\n"));
}

TEST(Ext4PowerLossTest, WriteToRemovedFileChangesNothing) {
  WrittenLog log;
  log.Create("a");
  auto write = log.Named(OperationKind::kWrite, "a");
  log.Unlink("a");
  log.SyncAll();
  for (const auto profile : {kExt4, kWeak})
    EXPECT_THAT(At(log, profile, log.Add(write)), ElementsAre(""));
}

TEST(Ext4PowerLossTest, ModesSurviveInOrder) {
  WrittenLog log;
  log.Create("a");
  log.SyncAll();
  log.SetMode("a", 0600);
  log.MakeDirectory("d");
  EXPECT_TRUE(log.StatusOf("ext4-4-from3").ok());
  EXPECT_THAT(log.StatusOf("ext4-4-lost3").message(),
              HasSubstr("from one on only"));
}

TEST(WeakPowerLossTest, SyncOfFileKeepsDataNotName) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  EXPECT_THAT(At(log, kWeak, log.Sync("a")),
              UnorderedElementsAre("", "a=text\n"));
}

TEST(WeakPowerLossTest, SyncOfDirectory_MakesMovesIntoItDurable) {
  WrittenLog log;
  log.MakeDirectory("d");
  log.MakeDirectory("e");
  log.MakeDirectory("e/a");
  log.Rename("e/a", "d/a");
  // The move of `e/a` is durable, but the names `d` and `e` in the root are not
  // synced.
  EXPECT_THAT(At(log, kWeak, log.SyncDirectory("d")),
              UnorderedElementsAre("", "d/\nd/a/\n", "e/\n", "d/\nd/a/\ne/\n"));
}

TEST(WeakPowerLossTest, AnySubsetOfNamesSurvives) {
  WrittenLog log;
  log.MakeDirectory("a");
  log.MakeDirectory("b");
  EXPECT_THAT(At(log, kWeak, log.MakeDirectory("c")),
              UnorderedElementsAre("", "a/\n", "b/\n", "c/\n", "a/\nb/\n",
                                   "a/\nc/\n", "b/\nc/\n", "a/\nb/\nc/\n"));
}

TEST(WeakPowerLossTest, RenameOntoFileMayComeWithoutData) {
  WrittenLog log;
  log.Create("a");
  log.Create("a.tmp");
  log.SyncAll();
  log.Write("a.tmp", "new");
  EXPECT_THAT(At(log, kWeak, log.Rename("a.tmp", "a")),
              IsSupersetOf({"a=\n", "a=\na.tmp=\n", "a=new\n"}));
}

TEST(WeakPowerLossTest, LengthMayComeWithoutBytesAndBytesWithoutLength) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "old");
  log.SyncAll();
  EXPECT_THAT(At(log, kWeak, log.Write("a", "longer")),
              IsSupersetOf({"a=old" + std::string(3, '\0') + "\n",
                            std::string("a=lon\n")}));
}

TEST(WeakPowerLossTest, ChangeOfShapeIsDurableAtOnce) {
  WrittenLog log;
  log.Create("a");
  log.SyncAll();
  log.Write("a", "abcd");
  EXPECT_THAT(At(log, kWeak, log.Reshape(OperationKind::kZeroRange, "a", 0, 2)),
              ElementsAre(std::string("a=\0\0cd\n", 7)));
}

TEST(WeakPowerLossTest, EnteredBytesAreUnsynced) {
  WrittenLog log;
  EXPECT_THAT(At(log, kWeak, log.Enter("a", "text")),
              IsSupersetOf({"", "a=\n", "a=text\n"}));
}

}  // namespace
}  // namespace gauntlet
