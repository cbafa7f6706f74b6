// Ranks of one program take turns with their files in the same order in each
// run, and one of them can be killed alone.
#include "chaos/trace/rank_turns.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/chaos/trace/traced_run.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct RankTurnsTest : TraceTest {};

// Returns one line per created file: "rank 0: create 0-1".
std::string FilesMade(const TracedRun& run) {
  std::string text;
  for (const FileOperation& operation : run.operations()) {
    if (operation.kind == OperationKind::kCreate)
      text += DescribeFileOperation(operation) + "\n";
  }
  return text;
}

std::string InTurn(int ranks, int rounds) {
  std::string text;
  for (int round = 1; round <= rounds; ++round) {
    for (int rank = 0; rank < ranks; ++rank)
      text += fmt::format("rank {0}: create {0}-{1}\n", rank, round);
  }
  return text;
}

TEST_F(RankTurnsTest, GivesSameOrderEachTime) {
  for (int i = 0; i < 5; ++i) {
    TracedRun run;
    run.options.ranks_take_turns = true;
    const TraceOutcome outcome = run.Run({"ranks", "{out}", "3", "sleeps"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(FilesMade(run), InTurn(3, 3)) << i;
    EXPECT_FALSE(Contains(outcome.notes, "polls"));
  }
}

TEST_F(RankTurnsTest, KeepsOrder_IfRanksPoll_AndReportsThePolling) {
  TracedRun run;
  run.options.ranks_take_turns = true;
  const TraceOutcome outcome = run.Run({"ranks", "{out}", "2", "polls"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(FilesMade(run), InTurn(2, 3));
  EXPECT_TRUE(Contains(outcome.notes, "rank 0 polls"));
}

// The other ranks continue up to the barrier at which they wait for the killed
// rank.
TEST_F(RankTurnsTest, KillsOneRank_AndLetsOthersContinue) {
  for (const InjectionKind kind :
       {InjectionKind::kKillBefore, InjectionKind::kKillAfter}) {
    TracedRun run;
    run.options.ranks_take_turns = true;
    run.options.injections = {
        {.at = {.kind = OperationKind::kWrite, .rank = 1, .occurrence = 2},
         .kind = kind,
         .scope = KillScope::kRank}};
    const TraceOutcome outcome = run.Run({"ranks", "{out}", "3", "sleeps"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_FALSE(outcome.is_killed);
    EXPECT_FALSE(Contains(outcome.notes, "polls"));
    ASSERT_EQ(outcome.injected.size(), 1U);
    EXPECT_EQ(outcome.injected[0].operation.rank, 1);
    EXPECT_EQ(FilesMade(run), InTurn(3, 2));
    EXPECT_EQ(std::filesystem::file_size(run.out() + "/1-2"),
              kind == InjectionKind::kKillAfter ? 4U : 0U);
    EXPECT_EQ(std::filesystem::file_size(run.out() + "/2-2"), 4U);
    run.ExpectReplayed();
  }
}

}  // namespace
}  // namespace gauntlet
