// Folders of findings, and scripts that repeat them.
#include "harness/trainer/finding_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string WorkingDirectory() {
  return std::filesystem::current_path().string();
}

// A finding of a program that creates and writes the file `a`.
class FindingFolderTest : public testing::Test {
 protected:
  // Resuming prints the environment and the file.
  FindingFolderTest() {
    plan_.command = {"/bin/sh", "-c",
                     "echo $TMPDIR $PYTHONHASHSEED $KEPT $(pwd); cat {out}/a -",
                     "{out}"};
    written_.Create("a");
    written_.Write("a", "text");
  }

  // Writes the finding of a run with this fault. Returns its folder.
  std::string Write(CrashFault fault, const std::string& id) {
    const auto runs =
        TrainerRuns::Make(plan_, {.program = RUN_PROGRAM}, folder_.path());
    EXPECT_TRUE(runs.ok()) << runs.status().ToString();
    const auto run = runs->NewFolder("recording");
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    EXPECT_TRUE(WriteTextFile(run->out() / "a", "text").ok());
    const Recording recording{
        .run = *run, .end = {}, .log = std::move(written_.log())};
    const auto check = ResultCheck::Make(plan_, *runs, *run);
    EXPECT_TRUE(check.ok()) << check.status().ToString();
    const auto versions = CheckpointVersions::Of(recording.log, {});
    EXPECT_TRUE(versions.ok()) << versions.status().ToString();
    CrashTestResult result;
    result.trials = {
        {.id = id, .fault = fault, .operation = 2, .fault_operation = 2}};
    result.trials[0].different_files = {"a"};
    result.trials[0].in_place_files = {"a"};
    result.trials[0].made_again = made_again_;
    result.findings.resize(1);
    result.findings[0].verdict = verdict_;
    result.findings[0].title = "fails: at a";
    result.findings[0].reason =
        "cannot read " + folder_.path() + "/place/out/a";
    result.findings[0].trials = {0};
    const Status status = WriteFindings({.plan = plan_,
                                         .runs = *runs,
                                         .recording = recording,
                                         .check = *check,
                                         .versions = *versions},
                                        result, folder_.path());
    EXPECT_TRUE(status.ok()) << status.ToString();
    return folder_.path() + "/findings/1";
  }

  const Folder& folder() const { return folder_; }

  // Runs the finding's script. Returns its exit code, and writes its output to
  // output.txt.
  int RunScript(const std::string& finding) const {
    const std::string call =
        "sh " + finding + "/repro.sh > " + folder_.path() + "/output.txt 2>&1";
    return WEXITSTATUS(std::system(call.c_str()));
  }
  std::string Output() const {
    return ReadTextFile(folder_.path() + "/output.txt");
  }

  CrashTestPlan plan_;
  RecoveryVerdict verdict_ = RecoveryVerdict::kFails;
  std::vector<RemadeFile> made_again_;

 private:
  Folder folder_;
  WrittenLog written_{2};
};

TEST_F(FindingFolderTest, StateIsKept_AndScriptResumesAsTheTestDid) {
  const std::string finding = Write(CrashFault::kKill, "kill-2");
  EXPECT_EQ(ReadTextFile(finding + "/before/out/a"), "text");
  const std::string output = folder().path() + "/output.txt";
  const std::string call =
      "echo no input | TMPDIR=/none PYTHONHASHSEED=7 KEPT=kept sh " + finding +
      "/repro.sh > " + output;
  ASSERT_EQ(std::system(call.c_str()), 0);
  EXPECT_EQ(ReadTextFile(output), folder().path() + "/place/tmp 0 kept " +
                                      WorkingDirectory() + "\ntext");
  EXPECT_THAT(ReadTextFile(finding + "/repro.sh"),
              HasSubstr("\n# Variables that this script does not set are those "
                        "of its caller.\n"));
}

TEST_F(FindingFolderTest, ScriptNamesResultsThatDiverge) {
  verdict_ = RecoveryVerdict::kDiverged;
  plan_.command = {"/bin/sh", "-c", "printf TEXT >{out}/a", "{out}"};
  const std::string finding = Write(CrashFault::kKill, "kill-2");
  EXPECT_EQ(RunScript(finding), 1);
  const std::string reference = folder().path() + "/runs/recording/place/out";
  EXPECT_THAT(Output(), HasSubstr(folder().path() + "/place/out/a"));
  EXPECT_THAT(Output(), EndsWith("diverged: expected the results of the "
                                 "undisturbed run, " +
                                 reference + "\n"));
  ASSERT_TRUE(WriteTextFile(reference + "/a", "TEXT").ok());
  EXPECT_EQ(RunScript(finding), 0);
  EXPECT_EQ(Output(), "equal results: " + reference + "\n");
}

TEST_F(FindingFolderTest, ScriptComparesOutputOfTheResultCommand) {
  verdict_ = RecoveryVerdict::kDiverged;
  plan_.command = {"/bin/sh", "-c", "printf TEXT >{out}/a", "{out}"};
  plan_.result_command = "cat {out}/a";
  const std::string finding = Write(CrashFault::kKill, "kill-2");
  EXPECT_EQ(RunScript(finding), 1);
  const std::string reference = folder().path() + "/runs/recording/result.txt";
  EXPECT_THAT(Output(), EndsWith("undisturbed run, " + reference + "\n"));
  ASSERT_TRUE(WriteTextFile(reference, "TEXT").ok());
  EXPECT_EQ(RunScript(finding), 0);
}

TEST_F(FindingFolderTest, ScriptNamesLostWork) {
  verdict_ = RecoveryVerdict::kLostWork;
  plan_.command = {"/bin/sh", "-c", "echo from step 0", "{out}"};
  const std::string finding = Write(CrashFault::kKill, "kill-2");
  EXPECT_EQ(RunScript(finding), 1);
  EXPECT_EQ(Output(),
            "files left by the crash in " + folder().path() +
                "/place/out:\n./a\nfrom step 0\n"
                "look for the checkpoint or the step in the output above: this "
                "script cannot see which file the run read\n"
                "lost-work: cannot read " +
                folder().path() +
                "/place/out/a\n"
                "to judge a changed program: gauntlet run " +
                finding + "/scenario.yaml\n");
}

TEST_F(FindingFolderTest, ScriptSeesWhetherACheckpointIsMadeAgain) {
  verdict_ = RecoveryVerdict::kLostWork;
  made_again_ = {{.path = "a", .finished = 2}};
  plan_.command = {"/bin/sh", "-c", "[ -e /none ] || $MAKE", "{out}"};
  const std::string finding = Write(CrashFault::kKill, "kill-2");
  const std::string out = folder().path() + "/place/out";
  ASSERT_EQ(setenv("MAKE", ("cp " + out + "/a " + out + "/b").c_str(), 1), 0);
  EXPECT_EQ(RunScript(finding), 0);
  EXPECT_THAT(Output(), EndsWith("no work lost: a was not made again\n"));
  ASSERT_EQ(setenv("MAKE", ("touch " + out + "/a").c_str(), 1), 0);
  EXPECT_EQ(RunScript(finding), 1);
  EXPECT_THAT(Output(), HasSubstr("lost-work: "));
  unsetenv("MAKE");
}

TEST_F(FindingFolderTest, IssueNamesNoPathsOfThisMachine) {
  const std::string issue =
      ReadTextFile(Write(CrashFault::kKill, "kill-2") + "/issue.md");
  EXPECT_THAT(issue, HasSubstr("- Then: cannot read {out}/a.\n"));
  EXPECT_THAT(issue, Not(HasSubstr(folder().path())));
}

TEST_F(FindingFolderTest, IssueGivesAdvice) {
  EXPECT_THAT(ReadTextFile(Write(CrashFault::kKill, "kill-2") + "/issue.md"),
              HasSubstr("## Advice\n\n- a is written in place: write a "
                        "temporary file, fsync it, rename it to a, and fsync "
                        "the directory.\n\n## How often"));
}

TEST_F(FindingFolderTest, FaultIsRepeatedByCrashTestInTheSameDirectory) {
  plan_.options = {"--network", "shared"};
  EXPECT_THAT(ReadTextFile(Write(CrashFault::kPause, "pause-2") + "/repro.sh"),
              HasSubstr("\ncd " + WorkingDirectory() +
                        "\nexec gauntlet crash-test --network shared --only "
                        "pause-2 -- /bin/sh -c "));
}

TEST_F(FindingFolderTest, FaultOfScenarioIsRepeatedByTheScenario) {
  plan_.places = {{.name = "faults[0]"}};
  EXPECT_THAT(ReadTextFile(Write(CrashFault::kPause, "pause-2") + "/repro.sh"),
              HasSubstr("\ncd " + WorkingDirectory() +
                        "\nexec gauntlet run \"$here/scenario.yaml\"\n"));
}

}  // namespace
}  // namespace gauntlet
