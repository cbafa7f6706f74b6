#include "chaos/crash/crash_state_list.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct Listed {
  std::vector<std::string> ids;
  CrashListCounts counts;
};

Listed List(WrittenLog& log, CrashListOptions options = {}) {
  CrashStateList list(log.log(), std::move(options));
  Listed listed;
  while (true) {
    const auto state = list.Next();
    EXPECT_TRUE(state.ok()) << state.status().ToString();
    if (!state.ok() || !*state) break;
    listed.ids.push_back(CrashStateId(**state));
  }
  listed.counts = list.counts();
  return listed;
}

CrashListOptions Only(CrashStateKind kind) { return {.kinds = {kind}}; }

ptrdiff_t Place(const Listed& listed, const std::string& id) {
  return std::ranges::find(listed.ids, id) - listed.ids.begin();
}

void SaveWithoutSync(WrittenLog& log, const std::string& name) {
  log.Create(name + ".tmp");
  log.Write(name + ".tmp", "data of " + name);
  log.Rename(name + ".tmp", name);
}

TEST(CrashStateListTest, OmitsKills_AfterOperationsWithoutEffectOnDirectory) {
  WrittenLog log;
  log.Create("a");
  log.Sync("a");
  log.Close("a");
  log.MakeDirectory("d");
  EXPECT_THAT(List(log, Only(CrashStateKind::kKill)).ids,
              ElementsAre("kill-0", "kill-1", "kill-4"));
}

TEST(CrashStateListTest, NoKillBetweenOperationsOfOneCall) {
  WrittenLog log;
  auto enter = log.Named(OperationKind::kMakeDirectory, "d");
  log.MakeDirectory("d");
  auto inside = log.Named(OperationKind::kMakeDirectory, "d/e");
  inside.file = log.log().AddFile({.device = 1, .inode = 99});
  inside.call = 1;
  inside.implied = true;
  log.Add(inside);
  EXPECT_THAT(List(log, Only(CrashStateKind::kKill)).ids,
              ElementsAre("kill-0", "kill-2"));
}

TEST(CrashStateListTest, FilesOfBeforeAreNoPoints) {
  WrittenLog log;
  auto before = log.Named(OperationKind::kMakeDirectory, "d");
  before.file = log.log().AddFile({.device = 1, .inode = 1});
  ASSERT_TRUE(log.log().Append(before).ok());
  ASSERT_TRUE(log.log().Append({.kind = OperationKind::kSyncFileSystem}).ok());
  log.Create("a");
  EXPECT_THAT(List(log, Only(CrashStateKind::kKill)).ids,
              ElementsAre("kill-2", "kill-3"));
}

TEST(CrashStateListTest, EqualDirectoriesComeOnce) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "same");
  log.Write("a", "same");
  const Listed listed = List(log, Only(CrashStateKind::kKill));
  EXPECT_THAT(listed.ids, ElementsAre("kill-0", "kill-1", "kill-2"));
  EXPECT_EQ(listed.counts.considered, 4);
  EXPECT_EQ(listed.counts.equal, 1);
}

TEST(CrashStateListTest, OmitsCrashPoints_OfOperationsLeftOut) {
  WrittenLog log;
  log.Create("a");
  log.Create("temporary");
  log.Write("temporary", "text");
  log.Unlink("temporary");
  log.Write("a", "text");
  CrashListOptions options{
      .kinds = {CrashStateKind::kKill, CrashStateKind::kTornWrite}};
  EXPECT_THAT(List(log, options).ids,
              UnorderedElementsAre("kill-0", "kill-1", "kill-2", "torn-2-2",
                                   "kill-3", "torn-4-2", "kill-5"));
  options.left_out = {2, 3, 4};
  EXPECT_THAT(List(log, options).ids,
              UnorderedElementsAre("kill-0", "kill-1", "torn-4-2", "kill-5"));
}

TEST(CrashStateListTest, KeepsFirstAndLastCrashOfEachState) {
  WrittenLog log;
  for (int i = 0; i < 10; ++i) {
    log.Create("a");
    log.Unlink("a");
  }
  CrashStateList list(log.log(), Only(CrashStateKind::kKill));
  std::optional<Digest> image;
  while (true) {
    const auto state = list.Next();
    ASSERT_TRUE(state.ok()) << state.status().ToString();
    if (!*state) break;
    if ((*state)->operations % 2 == 0) image = (*state)->image;
  }
  ASSERT_TRUE(image);
  std::vector<std::string> ids;
  for (const CrashState& state : list.StatesOf(*image))
    ids.push_back(CrashStateId(state));
  EXPECT_THAT(ids, ElementsAre("kill-0", "kill-20"));
}

// A script that writes a file in place: an empty file is left by a power loss
// after the first save, and by a kill in the second.
TEST(CrashStateListTest, ListsEqualDirectoriesOfSeveralFaults) {
  WrittenLog log;
  log.Create("a.tmp");
  log.Write("a.tmp", "one");
  log.Rename("a.tmp", "a");
  log.Truncate("a", 0);
  log.Write("a", "two");
  CrashStateList list(log.log(), {});
  std::map<std::string, Digest> images;
  while (true) {
    const auto state = list.Next();
    ASSERT_TRUE(state.ok()) << state.status().ToString();
    if (!*state) break;
    images[CrashStateId(**state)] = (*state)->image;
  }
  ASSERT_TRUE(images.contains("ext4-3-data0"));
  EXPECT_FALSE(images.contains("kill-4"));
  std::vector<std::string> ids;
  for (const CrashState& state : list.StatesOf(images["ext4-3-data0"]))
    ids.push_back(CrashStateId(state));
  ASSERT_GE(ids.size(), 2U);
  EXPECT_EQ(ids[0], "kill-4");
  EXPECT_EQ(ids[1], "ext4-3-data0");
  EXPECT_TRUE(list.StatesOf(DigestOf("of no directory")).empty());
}

TEST(CrashStateListTest, OrderOfTimesMakesDirectoriesDiffer) {
  WrittenLog log;
  log.Create("a");
  log.Create("b");
  log.Write("a", "same");
  log.Write("b", "same");
  log.Write("a", "same");
  EXPECT_THAT(List(log, Only(CrashStateKind::kKill)).ids, Contains("kill-5"));
}

TEST(CrashStateListTest, ModesAndHardLinksMakeDirectoriesDiffer) {
  WrittenLog log;
  log.Create("a");
  log.SetMode("a", 0600);
  log.Create("b");
  log.SetMode("b", 0600);
  log.Unlink("b");
  log.Link("a", "b");
  EXPECT_THAT(
      List(log, Only(CrashStateKind::kKill)).ids,
      ElementsAre("kill-0", "kill-1", "kill-2", "kill-3", "kill-4", "kill-6"));
}

TEST(CrashStateListTest, WritesAreTornInHalfAndAtBlocks) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", std::string(10'000, 'x'), 100);
  EXPECT_THAT(List(log, Only(CrashStateKind::kTornWrite)).ids,
              ElementsAre("torn-1-5000", "torn-1-3996", "torn-1-8092"));
}

TEST(CrashStateListTest, LongWriteIsTornAtRepresentatives) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", Sectors(8 * 101));
  const Listed listed = List(log, Only(CrashStateKind::kTornWrite));
  EXPECT_EQ(listed.ids.size(), 11);  // middle, both ends, 8 drawn
  EXPECT_THAT(listed.ids, Contains("torn-1-4096"));
  EXPECT_THAT(listed.ids, Contains("torn-1-409600"));
  EXPECT_EQ(listed.counts.torn_left_out, 90);
  EXPECT_EQ(
      List(log, {.kinds = {CrashStateKind::kTornWrite}, .seed = 1}).ids.size(),
      11);
}

TEST(CrashStateListTest, LikelyStatesComeFirst) {
  WrittenLog log;
  log.Enter("a", "old");
  log.SyncAll();
  SaveWithoutSync(log, "a");
  SaveWithoutSync(log, "b");
  const Listed listed = List(log);
  const auto last_likely =
      std::max({Place(listed, "kill-8"), Place(listed, "torn-6-4"),
                Place(listed, "ext4-8-data0")});
  const auto common = Place(listed, "weak-8-data0");
  EXPECT_LT(last_likely, common);
  EXPECT_LT(common, std::ssize(listed.ids))
      << testing::PrintToString(listed.ids);
}

TEST(CrashStateListTest, PointsOfWholeLogComeFirst) {
  WrittenLog log;
  for (int i = 0; i < 30; ++i) SaveWithoutSync(log, "a" + std::to_string(i));
  const Listed kills = List(log, Only(CrashStateKind::kKill));
  EXPECT_THAT(std::vector(kills.ids.begin(), kills.ids.begin() + 9),
              ElementsAre("kill-10", "kill-20", "kill-30", "kill-40", "kill-50",
                          "kill-60", "kill-70", "kill-80", "kill-0"));
  // Each point is listed only once.
  EXPECT_EQ(std::set(kills.ids.begin(), kills.ids.end()).size(),
            kills.ids.size());
}

TEST(CrashStateListTest, FirstTwoTimesComeBeforeAllOthers) {
  WrittenLog log;
  for (int i = 0; i < 6; ++i) SaveWithoutSync(log, "a" + std::to_string(i));
  const Listed listed = List(log);
  EXPECT_LT(Place(listed, "ext4-6-file2.s0"), Place(listed, "kill-8"));
  EXPECT_LT(Place(listed, "kill-18"), std::ssize(listed.ids));
}

TEST(CrashStateListTest, PowerLossesLeftOutAreEstimated) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", Sectors(8 * 4, 'A'));
  log.SyncAll();
  log.Write("a", Sectors(8 * 4, 'a'));
  const Listed listed = List(log, Only(CrashStateKind::kPowerLoss));
  EXPECT_LT(listed.ids.size(), 200);
  EXPECT_GT(listed.counts.power_losses_left_out, std::pow(16, 4));
}

TEST(CrashStateListTest, WritesThroughMappingsAreCounted) {
  WrittenLog log;
  log.Create("a");
  auto mapped = log.Named(OperationKind::kWrite, "a");
  mapped.by_mapping = true;
  log.Add(mapped);
  EXPECT_EQ(List(log).counts.mapped_writes, 1);
}

TEST(CrashStateListTest, LogThatDoesNotFitIsRefused) {
  WrittenLog log;
  log.Create("a");
  log.Rename("b", "c");
  CrashStateList list(log.log(), {});
  Status status;
  while (status.ok()) status = list.Next().status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_EQ(status.message(),
            "operation 2 (rename b to c): b is not there: record again");
}

}  // namespace
}  // namespace gauntlet
