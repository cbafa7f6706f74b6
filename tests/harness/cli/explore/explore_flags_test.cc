#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/command_line.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

ExploreCommand Parsed(Words words) {
  words.insert(words.begin(), "explore");
  const Result<CommandLine> line = ParseCommandLine(words);
  EXPECT_TRUE(line.ok()) << line.status().ToString();
  if (!line.ok()) return {};
  return std::get<ExploreCommand>(line->command);
}

TEST(ExploreFlagsTest, NothingAtAllIsAMinuteOfPlansAndCrashStates) {
  const ExploreCommand command = Parsed({});
  EXPECT_EQ(command.mode, ExploreMode::kMixed);
  EXPECT_EQ(command.time, std::chrono::seconds(60));
  EXPECT_FALSE(command.time_given);
  EXPECT_EQ(Parsed({"--mode", "random"}).time, std::chrono::seconds(60));
  EXPECT_TRUE(Parsed({"--time", "60s"}).time_given);
  EXPECT_EQ(command.seed, 1u);
}

TEST(ExploreFlagsTest, LimitOfCasesTakesThePlaceOfTheMinute) {
  EXPECT_EQ(Parsed({"--cases", "100"}).time, std::nullopt);
  EXPECT_EQ(Parsed({"--case", "7"}).only_case, 7u);
  EXPECT_EQ(Parsed({"--mode", "nth"}).time, std::nullopt);
}

TEST(ExploreFlagsTest, PatternsPickKindsAndPoints) {
  const ExploreCommand command =
      Parsed({"--kinds", "torn_*,crash", "--points", "ckpt.rename*"});
  EXPECT_THAT(command.kinds,
              ElementsAre(FaultKind::kCrash, FaultKind::kTornWrite));
  EXPECT_THAT(command.points, ElementsAre(Point::kRename, Point::kRenamed));
}

TEST(ExploreFlagsTest, OldNameOfMode_IsReadWithANote) {
  const auto line = ParseCommandLine(Words{"explore", "--mode", "nth"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(std::get<ExploreCommand>(line->command).mode, ExploreMode::kSweep);
  EXPECT_THAT(line->notes,
              ElementsAre("--mode nth is deprecated and will be removed in the "
                          "next release: use sweep"));
}

TEST(ExploreFlagsTest, SynonymOfAFaultKind_IsReadAsOurWord_WithANote) {
  const auto line =
      ParseCommandLine(Words{"explore", "--kinds", "oom,ENOSPC,torn_*"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_THAT(std::get<ExploreCommand>(line->command).kinds,
              ElementsAre(FaultKind::kTornWrite, FaultKind::kErrno,
                          FaultKind::kOutOfMemory));
  EXPECT_THAT(
      line->notes,
      ElementsAre("--kinds: 'oom' is understood as out_of_memory",
                  "--kinds: 'ENOSPC' is understood as errno, with any error"));
}

TEST(ExploreFlagsTest, RandomSeedIsNotANumberYet) {
  EXPECT_EQ(Parsed({"--seed", "random"}).seed, std::nullopt);
}

TEST(ExploreFlagsTest, CrashStatesArePickedByDiskWindowAndSave) {
  const ExploreCommand command = Parsed(
      {"--mode", "crash-states", "--profiles", "weak,shared", "--windows",
       "recovery", "--save", "2", "--max-states", "64",
       "--verify-determinism-every", "3", "--cases", "10", "--out", "d"});
  EXPECT_THAT(
      command.crash_states.profiles,
      ElementsAre(DurabilityProfile::kWeak, DurabilityProfile::kShared));
  EXPECT_THAT(command.crash_states.windows,
              ElementsAre(CrashWindow::kRecovery));
  EXPECT_EQ(command.crash_states.save, 2u);
  EXPECT_EQ(command.crash_states.max_states, 64u);
}

TEST(ExploreFlagsTest, OneCrashStateIsNamedByItsIdAlone) {
  EXPECT_EQ(Parsed({"--mode", "crash-states", "--id", "ext4-save-1-2-x"})
                .crash_states.id,
            "ext4-save-1-2-x");
  EXPECT_THAT(Parsed({"--mode", "crash-states", "--windows", "rot"})
                  .crash_states.windows,
              ElementsAre(CrashWindow::kRot));
}

TEST(ExploreFlagsTest, ShardAndFirstCaseChooseCases) {
  const ExploreCommand command =
      Parsed({"--shard", "2/4", "--first-case", "1204"});
  EXPECT_EQ(command.shard.index, 2);
  EXPECT_EQ(command.shard.count, 4);
  EXPECT_EQ(command.first_case, 1204u);
  EXPECT_EQ(Parsed({"--mode", "sweep", "--shard", "1/2"}).shard.count, 2);
}

TEST(ExploreFlagsTest, Errors_StateTheExpectedValues) {
  const std::vector<std::pair<Words, std::string>> mistakes = {
      {{"--kinds", "crahs"},
       "a name or a pattern that one has (gauntlet list faults lists them)"},
      {{"--kinds", "latency"},
       "--kinds: unknown fault kind 'latency': use slow (a task "},
      {{"--kinds", "renamed_kind"}, "found 'renamed_kind'"},
      {{"--points", ""}, "a name or a pattern that one has"},
      {{"--points", "ckpt.*,"}, "a name or a pattern that one has"},
      {{"--time", "60"}, "a time such as 60s"},
      {{"--time", "0s"}, "a time such as 60s"},
      {{"--seed", "x"}, "expected random or a whole number from 0 to "},
      {{"--max-faults", "17"}, "a whole number"},
      {{"--mode", "both"}, "one of mixed, random, sweep, crash-states"},
      {{"--mode", "swep"}, "found 'swep'; did you mean sweep?"},
      {{"--mode", "nth", "--case", "1"}, "--mode mixed or random"},
      {{"--mode", "crash-states", "-j", "2"},
       "--jobs requires --mode mixed, random or sweep"},
      {{"--mode", "crash-states", "--kinds", "crash"},
       "requires --mode mixed, random or sweep"},
      {{"--mode", "crash-states", "--points", "step.end"}, "random or sweep"},
      {{"--mode", "crash-states", "--seed", "1"},
       "requires --mode mixed, random or sweep"},
      {{"--mode", "crash-states", "--max-faults", "3"}, "random or sweep"},
      {{"--mode", "crash-states", "--fail-on-missed-goals"},
       "requires --mode mixed, random or sweep"},
      {{"--mode", "crash-states", "--show-uncovered"},
       "requires --mode mixed, random or sweep"},
      {{"--profiles", "weak"}, "--profiles requires --mode crash-states"},
      {{"--mode", "nth", "--id", "x"}, "--id requires --mode crash-states"},
      {{"--mode", "crash-states", "--windows", "late"},
       "a name or a pattern that one has (save, recovery, claim, "
       "rejection, deletion, rot), found 'late'"},
      {{"a.yaml", "b.yaml"}, "unexpected argument"},
      {{"--mode", "crash-states", "--id", "x", "--profiles", "weak"},
       "--id cannot be combined with --profiles or --windows"},
      {{"--mode", "crash-states", "--id", "x", "--windows", "save"},
       "--id cannot be combined with --profiles or --windows"},
      {{"--mode", "crash-states", "--windows", "rot", "--profiles", "weak"},
       "--profiles: expected ext4 or none beside --windows rot"},
      {{""}, "BASE: expected a scenario file, found \"\""},
      {{"--mode", "nth", "--max-faults", "0"},
       "--max-faults: expected 1 or more with --mode sweep, found 0"},
      {{"--case", "5", "--cases", "9"},
       "--case cannot be combined with --cases"},
      {{"--trace"}, "--trace: expected --case N beside it"},
      {{"--shard", "5/4"}, "I/N with I from 1 to N"},
      {{"--shard", "1/4", "--seed", "random"},
       "--shard: expected --seed N, the same for all shards, found random"},
      {{"--shard", "1/4", "--case", "3"},
       "--shard cannot be combined with --case or --id"},
      {{"--mode", "crash-states", "--id", "x", "--shard", "1/4"},
       "--shard cannot be combined with --case or --id"},
      {{"--first-case", "-1"}, "a whole number"},
      {{"--first-case", "5", "--case", "9"},
       "--case cannot be combined with --first-case"},
      {{"--mode", "sweep", "--first-case", "5"},
       "--first-case requires --mode mixed or random"},
  };
  for (const auto& [arguments, expected] : mistakes) {
    Words words = arguments;
    words.insert(words.begin(), "explore");
    const Result<CommandLine> line = ParseCommandLine(words);
    ASSERT_FALSE(line.ok()) << expected;
    EXPECT_THAT(line.status().message(), HasSubstr(expected));
  }
}

}  // namespace
}  // namespace gauntlet
