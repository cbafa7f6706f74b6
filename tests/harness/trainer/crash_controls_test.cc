// Controls on small shell programs.
#include "harness/trainer/crash_controls.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class NoProgress final : public CrashTestProgress {
 public:
  void OnStage(std::string_view) override {}
  void OnTrial(const CrashTrial&, uint64_t) override {}
};

class CrashControlsTest : public testing::Test {
 protected:
  // Records the shell program, and runs its controls.
  Result<Controls> RunProgram(const std::string& program) {
    plan_.command = {"/bin/sh", "-c", program, "{out}"};
    ASSIGN_OR_RETURN(const TrainerRuns runs, MakeRuns());
    ASSIGN_OR_RETURN(const Recording recording, Record(runs, plan_));
    ASSIGN_OR_RETURN(ResultCheck check,
                     ResultCheck::Make(plan_, runs, recording.run));
    NoProgress progress;
    return RunControls(plan_, runs, recording, check, progress);
  }
  Controls ControlsOf(const std::string& program) {
    Result<Controls> controls = RunProgram(program);
    EXPECT_TRUE(controls.ok()) << controls.status().ToString();
    return controls.ok() ? std::move(*controls) : Controls();
  }
  Result<TrainerRuns> MakeRuns() const {
    return TrainerRuns::Make(plan_, {.program = RUN_PROGRAM}, folder_.path());
  }
  const std::string& folder() const { return folder_.path(); }

  CrashTestPlan plan_;

 private:
  Folder folder_;
};

// Returns whether each control holds.
std::vector<bool> Hold(const Controls& controls) {
  std::vector<bool> hold;
  for (const CrashControl& control : controls.controls)
    hold.push_back(control.holds);
  return hold;
}

TEST_F(CrashControlsTest, RepeatableProgramHoldsBoth) {
  const Controls controls =
      ControlsOf("echo 1 > {out}/a; echo 2 > {out}/b; echo 3 > {out}/c");
  EXPECT_THAT(Hold(controls), ElementsAre(true, true));
  EXPECT_EQ(controls.no_verdict, "");
  EXPECT_THAT(controls.differing_stops, IsEmpty());
  EXPECT_THAT(controls.left_out, IsEmpty());
  ASSERT_TRUE(controls.stop_and_resume);
  EXPECT_GT(controls.stop_and_resume->point, 0U);
}

TEST_F(CrashControlsTest, ResultsThatDifferInTheSecondRunPreventVerdicts) {
  const Controls controls =
      ControlsOf("cat /proc/sys/kernel/random/uuid > {out}/a");
  EXPECT_THAT(Hold(controls), testing::Contains(false));
  EXPECT_THAT(controls.no_verdict,
              StartsWith("two undisturbed runs end with different results: "));
}

TEST_F(CrashControlsTest, OneFileThatDiffersInTheSecondRunIsLeftOut) {
  const std::string program =
      "cat /proc/sys/kernel/random/uuid > {out}/a; echo 1 > {out}/b";
  const Controls controls = ControlsOf(program);
  EXPECT_EQ(controls.no_verdict, "");
  EXPECT_THAT(controls.left_out,
              ElementsAre("a: it differs in the second run"));
}

TEST_F(CrashControlsTest, FileThatThePlanNamesIsNotLeftOut) {
  plan_.results = {"*"};
  const Controls controls = ControlsOf(
      "cat /proc/sys/kernel/random/uuid > {out}/a; echo 1 > {out}/b");
  EXPECT_THAT(controls.no_verdict, HasSubstr("two undisturbed runs"));
  EXPECT_THAT(controls.left_out, IsEmpty());
}

TEST_F(CrashControlsTest, SecondRunThatFailsPreventsVerdicts) {
  const std::string mark = folder() + "/mark";
  const Controls controls =
      ControlsOf("test -e " + mark + " && { echo again; exit 3; }; : > " +
                 mark + "; echo 1 > {out}/a");
  EXPECT_EQ(controls.no_verdict,
            "a second run from the beginning fails: exit code 3: again");
}

TEST_F(CrashControlsTest, OtherResultAfterResumeIsNoReasonAgainstVerdicts) {
  const Controls controls = ControlsOf(
      "for i in 1 2 3; do echo $i >> {out}/a; done; echo 1 > {out}/b");
  EXPECT_THAT(Hold(controls), ElementsAre(true, false));
  EXPECT_THAT(controls.differing_stops, Not(IsEmpty()));
  EXPECT_THAT(controls.controls[1].text, StartsWith("after operation"));
  EXPECT_EQ(controls.no_verdict, "");
}

// Weights and step are renamed one after the other. The longest pause is
// between the two renames, so that the first stop comes within a save.
TEST_F(CrashControlsTest, StopWithinASave_DoesNotBlameEachResume) {
  const Controls controls = ControlsOf(
      "cd {out}; s=0; w=0; test -e s && s=$(cat s) && w=$(cat w);"
      "while test $s -lt 6; do s=$((s + 1)); w=$((w + s));"
      "  echo $w > w.tmp; mv w.tmp w; sleep 0.1; echo $s > s.tmp; mv s.tmp s;"
      "done");
  EXPECT_THAT(Hold(controls), ElementsAre(true, true));
  EXPECT_THAT(controls.differing_stops, IsEmpty());
  EXPECT_THAT(
      controls.controls[1].text,
      MatchesRegex("equal results after operation [0-9]+, not after operation "
                   "[0-9]+ \\(w: .*\\)"));
  ASSERT_TRUE(controls.stop_and_resume);
  EXPECT_TRUE(EndedWell(controls.stop_and_resume->end));
}

TEST_F(CrashControlsTest, LogThatDiffersAfterResumeIsLeftOut) {
  const Controls controls = ControlsOf(
      "echo 1 >> {out}/log; echo 1 > {out}/a;"
      "echo 2 >> {out}/log; echo 2 > {out}/b");
  EXPECT_THAT(controls.left_out,
              ElementsAre("log: it differs in the stop and resume"));
  EXPECT_THAT(controls.differing_stops, IsEmpty());
}

TEST_F(CrashControlsTest, ResumedRunMustPrintItsStepIfThereIsAnExpression) {
  plan_.resumed_step = *StepPattern::Parse("from step (\\d+)");
  const std::string saves =
      "echo 1 > {out}/a; echo 2 > {out}/b; echo 3 > {out}/c";
  EXPECT_THAT(
      RunProgram("test -e {out}/a && cat {out}/a; " + saves).status().message(),
      HasSubstr("--step-regex: expected an expression that a line of a "
                "resumed run matches"));
}

TEST_F(CrashControlsTest, FolderAfterKill_HasTheFilesAtTheKill) {
  WrittenLog written(2);
  written.Create("a");
  const uint64_t point = written.Write("a", "text");
  written.Unlink("a");
  const Recording recording{
      .run = {}, .end = {}, .log = std::move(written.log())};
  const auto runs = MakeRuns();
  ASSERT_TRUE(runs.ok()) << runs.status().ToString();
  const auto folder = FolderAfterKill(*runs, recording, point, "killed");
  ASSERT_TRUE(folder.ok()) << folder.status().ToString();
  EXPECT_EQ(ReadTextFile(folder->out() / "a"), "text");
}

TEST_F(CrashControlsTest, FailureIsTheEndAndTheLastLine) {
  const RunFolder run{.folder = folder()};
  ASSERT_TRUE(WriteTextFile(run.output(), "one\ntwo\n").ok());
  EXPECT_EQ(FailureOf({}, run), "");
  EXPECT_EQ(FailureOf({.exit_code = 2}, run), "exit code 2: two");
  EXPECT_EQ(FailureOf({.signal = 11}, run), "signal 11: two");
  EXPECT_EQ(FailureOf({.is_timed_out = true, .seconds = 3}, run),
            "it had not ended after 3 s");
}

}  // namespace
}  // namespace gauntlet
