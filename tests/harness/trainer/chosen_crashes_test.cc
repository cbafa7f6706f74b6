// Crashes that a plan names, and findings as scenarios that name their crashes.
#include "harness/trainer/chosen_crashes.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/scenario.h"
#include "harness/trainer/finding_scenario.h"
#include "harness/trainer/trainer_case.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A log of a program that saves twice: it creates, writes and syncs a.tmp, and
// renames it to a-1 or a-2, as rank 0 and then as rank 1.
class ChosenCrashesTest : public testing::Test {
 protected:
  ChosenCrashesTest() : recording_(MakeRecording(folder_.path())) {}

  Result<std::vector<ChosenCrash>> Choose(const CrashTestPlan& plan) {
    const auto versions = CheckpointVersions::Of(recording_.log, {});
    EXPECT_TRUE(versions.ok()) << versions.status().message();
    return ChooseCrashes(plan, recording_, *versions);
  }
  Result<std::vector<ChosenCrash>> ChooseAt(CrashPlace place) {
    place.name = "faults[0]";
    return Choose({.command = {"a", "{out}"}, .places = {std::move(place)}});
  }
  std::vector<std::string> Ids(const Result<std::vector<ChosenCrash>>& chosen,
                               bool are_for_judging = false) {
    std::vector<std::string> ids;
    EXPECT_TRUE(chosen.ok()) << chosen.status().message();
    if (!chosen.ok()) return ids;
    for (const ChosenCrash& one : *chosen) {
      if (one.is_for_judging != are_for_judging) continue;
      ids.push_back(one.state ? CrashStateId(*one.state)
                              : FaultRunId(*one.fault));
    }
    return ids;
  }

  const Recording& recording() const { return recording_; }

 private:
  static Recording MakeRecording(const std::string& folder) {
    auto log = OperationLog::Create(folder, {"/out"}, {});
    EXPECT_TRUE(log.ok());
    Recording recording{.run = {}, .end = {}, .log = std::move(*log)};
    for (int rank = 0; rank < 2; ++rank) AddSave(rank, recording.log);
    return recording;
  }

  static void AddSave(int32_t rank, OperationLog& log) {
    const std::string text(100, static_cast<char>('a' + rank));
    const ByteReader reader = [&](uint64_t at, std::span<std::byte> into) {
      const auto part = std::as_bytes(std::span(text)).subspan(at);
      const size_t count = std::min(part.size(), into.size());
      std::ranges::copy(part.first(count), into.begin());
      return Result<size_t>(count);
    };
    const auto bytes = log.AppendBytes(reader, 0, text.size());
    ASSERT_TRUE(bytes.ok());
    const uint64_t file = log.AddFile({.device = 1, .inode = 10U + rank});
    const auto add = [&](FileOperation operation) {
      operation.rank = rank;
      operation.file = file;
      operation.call = log.operations().size() + 1;
      operation.begin = 2 * operation.call;
      operation.end = operation.begin + 1;
      if (operation.name.path.empty()) operation.name.path = "a.tmp";
      ASSERT_TRUE(log.Append(std::move(operation)).ok());
    };
    add({.kind = OperationKind::kCreate, .mode = 0644});
    add({.kind = OperationKind::kWrite,
         .length = bytes->length,
         .bytes = *bytes});
    add({.kind = OperationKind::kSyncFile});
    add({.kind = OperationKind::kRename,
         .to = {.path = "a-" + std::to_string(rank + 1)}});
  }

  const ScratchDirectory folder_;
  Recording recording_;
};

TEST_F(ChosenCrashesTest, KillIsAtOperation_WithKillsForJudging) {
  const auto chosen = ChooseAt(
      {.at = {.path = "a-*", .kind = OperationKind::kRename, .occurrence = 2}});
  EXPECT_THAT(Ids(chosen), ElementsAre("kill-8"));
  // The first save is complete after operation 4, so kill-4 examines it. The
  // second save needs no kill for judging: kill-8 itself examines it.
  EXPECT_THAT(Ids(chosen, true), testing::Contains("kill-4"));
  EXPECT_THAT(Ids(chosen, true), testing::Not(testing::Contains("kill-8")));
}

TEST_F(ChosenCrashesTest, RankAndKindTellOperationsApart) {
  EXPECT_THAT(
      Ids(ChooseAt({.at = {.kind = OperationKind::kSyncFile, .rank = 1}})),
      ElementsAre("kill-7"));
  EXPECT_THAT(
      Ids(ChooseAt({.fault = CrashFault::kRankDeath,
                    .at = {.kind = OperationKind::kRename, .rank = 1}})),
      ElementsAre("rank-8"));
  EXPECT_THAT(Ids(ChooseAt({.fault = CrashFault::kDiskFull,
                            .at = {.kind = OperationKind::kWrite}})),
              ElementsAre("enospc-2"));
}

TEST_F(ChosenCrashesTest, PowerLossAndTornWriteComeInAllTheirStates) {
  const auto power = ChooseAt({.fault = CrashFault::kPowerLoss,
                               .at = {.kind = OperationKind::kWrite},
                               .profile = DurabilityProfile::kExt4});
  const std::vector<std::string> ids = Ids(power);
  EXPECT_GT(ids.size(), 1U);
  for (const std::string& id : ids) EXPECT_THAT(id, HasSubstr("ext4-2"));
  const auto torn = ChooseAt(
      {.fault = CrashFault::kTornWrite, .at = {.kind = OperationKind::kWrite}});
  EXPECT_THAT(Ids(torn), ElementsAre("torn-1-50"));
}

TEST_F(ChosenCrashesTest, CrashesHaveTheIndexOfTheirPlace) {
  const auto chosen =
      Choose({.command = {"a", "{out}"},
              .places = {{.name = "faults[0]",
                          .fault = CrashFault::kPowerLoss,
                          .at = {.kind = OperationKind::kWrite}},
                         {.name = "faults[1]",
                          .fault = CrashFault::kDiskFull,
                          .at = {.kind = OperationKind::kWrite}}}});
  ASSERT_TRUE(chosen.ok()) << chosen.status().message();
  std::map<std::optional<size_t>, size_t> crashes;
  for (const ChosenCrash& one : *chosen) {
    ++crashes[one.place];
    EXPECT_EQ(one.place.has_value(), !one.is_for_judging);
  }
  EXPECT_GT(crashes[0], 1U);
  EXPECT_EQ(crashes[1], 1U);
  EXPECT_EQ(crashes.count(2), 0U);
}

TEST_F(ChosenCrashesTest, NamesOperationsThatDoNotExist) {
  EXPECT_EQ(ChooseAt({.at = {.path = "b*",
                             .kind = OperationKind::kRename,
                             .occurrence = 2}})
                .status()
                .message(),
            "faults[0].at: expected an operation of the recorded run, found "
            "none (rename on b*); the run changed a-*, a.tmp; set `file` to "
            "one of these paths below {out}");
  EXPECT_EQ(ChooseAt({.fault = CrashFault::kTornWrite,
                      .at = {.kind = OperationKind::kRename}})
                .status()
                .message(),
            "faults[0]: expected an operation that a crash can leave in more "
            "than one state, found rename on *");
  EXPECT_EQ(ChooseAt({.fault = CrashFault::kDiskFull,
                      .at = {.kind = OperationKind::kRename}})
                .status()
                .message(),
            "faults[0]: expected an operation that enospc can befall, found "
            "rename on *");
  for (const char* id : {"kill-9", "enospc-4", "nonsense"}) {
    EXPECT_EQ(Choose({.command = {"a"}, .only = id}).status().message(),
              "--only: expected the id of a crash of this program (kill-1 to "
              "kill-8, or another id in result.json of a test without --only), "
              "found " +
                  std::string(id));
  }
}

TEST_F(ChosenCrashesTest, IdIsFound) {
  for (const char* id : {"kill-6", "torn-5-50", "weak-6-data0"})
    EXPECT_THAT(Ids(Choose({.command = {"a"}, .only = id})), ElementsAre(id));
}

// The scenario of a finding names its crash.
TEST_F(ChosenCrashesTest, FindingBecomesScenario) {
  CrashTestPlan plan{.command = {"python3", "-c", "a = 1\nb = 'c'", "{out}"},
                     .resume_command = {"/bin/sh", "-c", "resume 'it' {out}"},
                     .results = {"final*"},
                     .grace = std::chrono::seconds(2)};
  plan.resumed_step = *StepPattern::Parse("step (\\d+)");
  const std::vector<std::pair<CrashFault, std::string>> trials = {
      {CrashFault::kKill, "kill-8"}, {CrashFault::kRankDeath, "rank-8"}};
  for (const auto& [fault, id] : trials) {
    CrashTrial trial{
        .id = id, .fault = fault, .operation = 8, .fault_operation = 8};
    const std::string text = ScenarioOfFinding(
        plan, recording().log, {.title = "fails: it's \"this\"", .trials = {0}},
        trial, 3);
    const LoadedFile loaded = LoadScenarios(text, "s.yaml");
    ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0].message << text;
    const Result<CrashTestPlan> again =
        PlanOfTrainer(*loaded.cases.at(0).trainer);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->command, plan.command);
    EXPECT_EQ(again->resume_command, plan.resume_command);
    EXPECT_EQ(again->results, plan.results);
    EXPECT_EQ(again->grace, plan.grace);
    EXPECT_EQ(again->resumed_step->text(), plan.resumed_step->text());
    EXPECT_THAT(Ids(Choose(*again)), ElementsAre(id));
  }
}

TEST_F(ChosenCrashesTest, OccurrenceBeyondTheLast_NamesTheRange) {
  EXPECT_EQ(
      ChooseAt({.at = {.path = "a.tmp",
                       .kind = OperationKind::kWrite,
                       .occurrence = 200}})
          .status()
          .message(),
      "faults[0].at.occurrence: expected 1 to 2, as the recorded run has 2 "
      "such operations (write on a.tmp), found 200");
  EXPECT_EQ(
      ChooseAt({.at = {.path = "a-2", .occurrence = 2}}).status().message(),
      "faults[0].at.occurrence: expected 1, as the recorded run has 1 such "
      "operation (an operation on a-2), found 2");
}

}  // namespace
}  // namespace gauntlet
