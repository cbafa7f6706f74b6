#include "harness/trainer/fault_runs.h"

#include <cerrno>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A program that saves four times: operations 1 to 3, 4 to 6 and so on create,
// write and rename ckpt-N.tmp.
class FaultRunsTest : public testing::Test {
 protected:
  FaultRunsTest() {
    for (const char* const name : {"ckpt-1", "ckpt-2", "ckpt-3", "ckpt-4"}) {
      const std::string temporary = std::string(name) + ".tmp";
      written_.Create(temporary);
      written_.Write(temporary, "text");
      written_.Rename(temporary, name);
    }
  }

  FilePatterns files() { return FilePatterns(written_.log()); }
  WrittenLog written_;
};

// Returns the ids of the runs with this fault.
std::vector<std::string> Ids(CrashFault fault, WrittenLog& written) {
  const Recording recording{
      .run = {}, .end = {}, .log = std::move(written.log())};
  CrashTestPlan plan;
  plan.faults = {fault};
  std::vector<std::string> ids;
  for (const FaultRun& run : ListFaultRuns(plan, recording))
    ids.push_back(FaultRunId(run));
  return ids;
}

TEST_F(FaultRunsTest, EachFaultHasItsInjection) {
  CrashTestPlan plan;
  plan.grace = std::chrono::seconds(7);
  plan.pause = std::chrono::seconds(3);
  struct Row {
    CrashFault fault;
    InjectionKind kind;
    int error;
    Duration duration;
  };
  for (const Row& row :
       {Row{CrashFault::kIoError, InjectionKind::kFail, EIO, Duration{}},
        Row{CrashFault::kSigterm, InjectionKind::kTerminate, 0, plan.grace},
        Row{CrashFault::kPause, InjectionKind::kPause, 0, plan.pause}}) {
    const auto run = FaultRunAt(plan, files(), row.fault, 5);
    ASSERT_TRUE(run) << CrashFaultName(row.fault);
    EXPECT_EQ(run->operation, 5U);
    ASSERT_EQ(run->injections.size(), 1U) << CrashFaultName(row.fault);
    EXPECT_EQ(run->injections[0].kind, row.kind) << CrashFaultName(row.fault);
    EXPECT_EQ(run->injections[0].error, row.error) << CrashFaultName(row.fault);
    EXPECT_EQ(run->injections[0].duration, row.duration)
        << CrashFaultName(row.fault);
    EXPECT_EQ(run->injections[0].at.occurrence, 2U);
  }
}

TEST_F(FaultRunsTest, FullDisk_FailsAllLaterOperationsThatNeedSpace) {
  const auto run = FaultRunAt({}, files(), CrashFault::kDiskFull, 5);
  ASSERT_TRUE(run);
  std::vector<std::pair<OperationKind, uint64_t>> from;
  for (const Injection& injection : run->injections) {
    EXPECT_EQ(injection.error, ENOSPC);
    EXPECT_TRUE(injection.repeats);
    from.emplace_back(*injection.at.kind, injection.at.occurrence);
  }
  // Two files were created, and one written, before operation 5.
  EXPECT_THAT(from, ElementsAre(Pair(OperationKind::kCreate, 3U),
                                Pair(OperationKind::kWrite, 2U),
                                Pair(OperationKind::kAllocate, 1U),
                                Pair(OperationKind::kMakeDirectory, 1U)));
}

TEST_F(FaultRunsTest, FaultThatCannotHappenHasNoRun) {
  // Operation 3 is a rename, by a process that is no rank.
  for (const CrashFault fault :
       {CrashFault::kDiskFull, CrashFault::kRankDeath, CrashFault::kKill,
        CrashFault::kTornWrite, CrashFault::kPowerLoss}) {
    EXPECT_FALSE(FaultRunAt({}, files(), fault, 3)) << CrashFaultName(fault);
  }
}

TEST_F(FaultRunsTest, FaultsComeAtFirstLastAndMiddleOperationOfEachKind) {
  EXPECT_THAT(Ids(CrashFault::kIoError, written_),
              ElementsAre("eio-1", "eio-2", "eio-3", "eio-10", "eio-11",
                          "eio-12", "eio-7", "eio-8", "eio-9"));
}

TEST_F(FaultRunsTest, FullDisk_OccursOnlyIfSpaceIsNeeded) {
  EXPECT_THAT(Ids(CrashFault::kDiskFull, written_),
              ElementsAre("enospc-1", "enospc-2", "enospc-10", "enospc-11",
                          "enospc-7", "enospc-8"));
}

// Writes a log in which each of the ranks syncs the file `a`.
void Sync(const std::vector<int32_t>& ranks, WrittenLog& written) {
  written.Create("a");
  for (const int32_t rank : ranks) {
    FileOperation sync = written.Named(OperationKind::kSyncFile, "a");
    sync.rank = rank;
    written.Add(sync);
  }
}

TEST(RankDeathTest, RankDiesAtEachOfItsOperations) {
  WrittenLog written;
  Sync({0, 1, 0, 0, 0}, written);
  EXPECT_THAT(Ids(CrashFault::kRankDeath, written),
              ElementsAre("rank-2", "rank-3", "rank-6", "rank-5", "rank-4"));
}

TEST(RankDeathTest, OnlyRankDoesNotDie) {
  WrittenLog written;
  Sync({0, 0}, written);
  EXPECT_THAT(Ids(CrashFault::kRankDeath, written), IsEmpty());
}

TEST(RankDeathTest, NoteIfOnlyOneRankWritesAndRankIsNamed) {
  for (const auto& [second_rank, names_faults, has_note] :
       {std::tuple(0, true, true), std::tuple(1, true, false),
        std::tuple(0, false, false)}) {
    WrittenLog written;
    Sync({0, second_rank}, written);
    const Recording recording{
        .run = {}, .end = {}, .log = std::move(written.log())};
    CrashTestPlan plan;
    plan.names_faults = names_faults;
    EXPECT_EQ(NoteOnRankDeath(plan, recording).starts_with("--faults rank: "),
              has_note)
        << second_rank << names_faults;
    plan.faults = {CrashFault::kKill};
    EXPECT_EQ(NoteOnRankDeath(plan, recording), "");
  }
}

TEST(FaultNamesTest, IdBeginsWithTheFaultOrTheProfile) {
  for (const auto& [id, fault] :
       {std::pair("kill-120", CrashFault::kKill),
        std::pair("enospc-31", CrashFault::kDiskFull),
        std::pair("ext4-2", CrashFault::kPowerLoss),
        std::pair("weak-3-data0", CrashFault::kPowerLoss)}) {
    EXPECT_EQ(FaultOfId(id), fault) << id;
  }
  for (const char* const id : {"", "kills-1", "-1"})
    EXPECT_EQ(FaultOfId(id), std::nullopt) << id;
}

TEST(FaultsToTryTest, KillsAreAlwaysTried_AndTheOneCrash) {
  CrashTestPlan plan;
  plan.faults = {CrashFault::kPause};
  EXPECT_THAT(FaultsToTry(plan),
              ElementsAre(CrashFault::kKill, CrashFault::kPause));
  plan.only = "eio-3";
  EXPECT_THAT(
      FaultsToTry(plan),
      ElementsAre(CrashFault::kKill, CrashFault::kIoError, CrashFault::kPause));
}

}  // namespace
}  // namespace gauntlet
