#include "harness/trainer/trainer_case.h"

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/trace/process/program_start.h"
#include "engine/real/posix/posix_status.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TrainerCaseTest, Reason_ExplainsUntriedCrashes) {
  CrashTestResult result;
  EXPECT_EQ(VerdictOnTrainer(result).kind, VerdictKind::kPass);
  const std::pair<TrialsEnd, std::string> cases[] = {
      {TrialsEnd::kLimit,
       "more crash states are left: time, or --trials, ran out"},
      {TrialsEnd::kInterrupted, "interrupted: more crash states are left"},
      {TrialsEnd::kError,
       "more crash states are left: an error ended the test"}};
  for (const auto& [end, reason] : cases) {
    result.trials_end = end;
    const Verdict verdict = VerdictOnTrainer(result);
    EXPECT_EQ(verdict.kind, VerdictKind::kError) << reason;
    EXPECT_EQ(verdict.reason, reason);
  }
}

TEST(TrainerCaseTest, Advice_NamesTheReportAndTheScript) {
  CrashTestResult result;
  EXPECT_EQ(AdviceOnTrainer(result, "/c"),
            "/c/report.html lists each crash that was tried");
  const std::string places =
      "to repeat the first finding, run sh /c/findings/1/repro.sh; "
      "/c/report.html lists each crash that was tried";
  result.trials = {{.fault = CrashFault::kPause}};
  result.findings = {{.trials = {0}}};
  EXPECT_EQ(AdviceOnTrainer(result, "/c"), places);
  result.trials.push_back({.in_place_files = {"ckpt"}});
  result.findings.push_back({.trials = {1}});
  result.findings.push_back({.trials = {1}});
  EXPECT_EQ(AdviceOnTrainer(result, "/c"),
            "ckpt is written in place: write a temporary file, fsync it, "
            "rename it to ckpt, and fsync the directory; " +
                places);
}

// Returns a result with two findings in 3 crash states of one fault. The fourth
// trial is a kill that only shows which checkpoints are complete.
CrashTestResult TwoFindings() {
  CrashTestResult result;
  result.trials.resize(4);
  result.trials[0].point = "power loss after a rename";
  result.trials[0].lost = {"write [0, 9) of a: lost",
                           "write [0, 9) of b: 4 of 9 bytes there",
                           "and 7 more"};
  result.trials[1].point = "power loss after a sync";
  result.trials[3].is_for_judging = true;
  result.verdicts = {{RecoveryVerdict::kDiverged, ""},
                     {RecoveryVerdict::kLostWork, ""},
                     {RecoveryVerdict::kLostWork, ""},
                     {}};
  result.findings = {{.verdict = RecoveryVerdict::kDiverged,
                      .title = "one",
                      .reason = "other results",
                      .trials = {0}},
                     {.verdict = RecoveryVerdict::kLostWork,
                      .title = "two",
                      .reason = "10 steps are recomputed",
                      .trials = {1, 2}}};
  return result;
}

TEST(TrainerCaseTest, EachFindingHasItsCauseAndItsEvents) {
  CrashTestResult result = TwoFindings();
  EXPECT_EQ(CauseOnTrainer(result),
            "diverged (1 of 3 crash states): other results; lost-work (2 of 3 "
            "crash states): 10 steps are recomputed");
  EXPECT_THAT(VerdictOnTrainer(result).timeline,
              ElementsAre("diverged: power loss after a rename",
                          "lost: write [0, 9) of a",
                          "lost in part: write [0, 9) of b: 4 of 9 bytes there",
                          "and 7 more", "lost-work: power loss after a sync"));
  result.findings.pop_back();
  EXPECT_EQ(CauseOnTrainer(result), "other results");
  EXPECT_EQ(VerdictOnTrainer(result).timeline[0], "power loss after a rename");
  result.findings.clear();
  EXPECT_EQ(CauseOnTrainer(result), "");
}

TEST(TrainerCaseTest, EachFaultHasItsEffect) {
  CrashTestResult result;
  result.trials = {{.point = "killed after a", .place = 0},
                   {.point = "killed after b", .place = 1},
                   {.point = "killed after c", .place = 2},
                   {.point = "killed after d", .is_for_judging = true},
                   {.point = "eio at e", .place = 3, .has_happened = false}};
  const CrashVerdict lost = {RecoveryVerdict::kLostWork, "from step 8"};
  result.verdicts = {
      lost,
      lost,
      {RecoveryVerdict::kRecovered, "equal results"},
      lost,
      {RecoveryVerdict::kResumePointUnknown, "other operations"}};
  result.findings = {{.verdict = RecoveryVerdict::kLostWork, .trials = {0, 1}}};
  EXPECT_THAT(
      VerdictOnTrainer(result).timeline,
      ElementsAre(
          "trainer.faults[0]: lost-work: killed after a; from step 8",
          "trainer.faults[1]: lost-work: killed after b; from step 8",
          "trainer.faults[2]: recovered: killed after c; equal results",
          "trainer.faults[3] did not fire: eio at e; other operations"));
}

TEST(TrainerCaseTest, CauseNamesFilesThatAreWrittenInPlace) {
  CrashTestResult result;
  result.trials = {{.fault = CrashFault::kTornWrite, .in_place_files = {"a"}}};
  result.findings = {{.reason = "the run fails", .trials = {0}}};
  EXPECT_EQ(CauseOnTrainer(result),
            "the run fails; a is written in place, so the crash left "
            "incomplete data");
}

TEST(TrainerCaseTest, CountsFaultsAndNotTheStatesThatTheyLeave) {
  CrashTestResult result = TwoFindings();
  const auto fired = [&](std::vector<std::optional<size_t>> places) {
    for (size_t i = 0; i < places.size(); ++i)
      result.trials[i].place = places[i];
    return VerdictOnTrainer(result).facts.faults_fired;
  };
  EXPECT_EQ(fired({0, 0, 0}), 1U);
  EXPECT_EQ(fired({0, 0, 1}), 2U);
  // No crash state of the second fault was tried.
  EXPECT_EQ(fired({0, 0, 2}), 2U);
  // One state of the first fault happened.
  result.trials[0].has_happened = false;
  EXPECT_EQ(fired({0, 0, 1}), 2U);
  EXPECT_EQ(fired({0, 1, 1}), 1U);
  result.trials[1].has_happened = result.trials[2].has_happened = false;
  EXPECT_EQ(fired({0, 1, 2}), 0U);
}

TEST(TrainerCaseTest, MissingFileIsToBeWhereRelativePathsStart) {
  const std::string advice = AdviceOnStartError(
      InvalidArgument(
          "python3 train.py: expected a run that ends with 0, found "
          "exit code 2: can't open file '/jobs/train.py': [Errno 2] "
          "No such file or directory"),
      "/jobs");
  EXPECT_THAT(advice, HasSubstr("relative paths start in /jobs, where gauntlet "
                                "runs, and {out} is empty"));
  EXPECT_EQ(AdviceOnStartError(InvalidArgument("found exit code 3"), "/jobs"),
            "");
}

TEST(TrainerCaseTest, ProgramThatCannotBeStarted_IsToBeNamedOrExecutable) {
  const std::string expected =
      "in trainer.command, name a program that exists: a bare name is looked "
      "up in PATH, a relative path starts in /jobs, where gauntlet runs, and "
      "the interpreter of a script (#!) must exist too";
  const Status not_found =
      StartedProgram::Start({.arguments = {"no-such-program"}}, FilterScope())
          .status();
  EXPECT_EQ(AdviceOnStartError(not_found, "/jobs"), expected)
      << not_found.message();
  EXPECT_EQ(AdviceOnStartError(PosixError(ENOENT, "./train", "exec"), "/jobs"),
            expected);
  EXPECT_EQ(AdviceOnStartError(PosixError(EACCES, "./train", "exec"), "/jobs"),
            "make the program executable (chmod +x), or name its interpreter "
            "before it in trainer.command");
}

}  // namespace
}  // namespace gauntlet
