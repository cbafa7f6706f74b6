// Whole crash tests of small shell programs.
#include "harness/trainer/crash_test.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;

class NoProgress final : public CrashTestProgress {
 public:
  void OnStage(std::string_view) override {}
  void OnTrial(const CrashTrial&, uint64_t) override {}
};

// Writes a program like RUN_PROGRAM to the folder, except that its probe for
// namespaces fails. Returns the path.
std::string ProgramWithoutNamespaces(const Folder& folder) {
  std::string path = folder.path() + "/program.sh";
  EXPECT_TRUE(WriteTextFile(path,
                            "#!/bin/sh\n"
                            "case $2 in */probe)\n"
                            "  echo namespaces are not permitted >&2; exit 1;;"
                            "\nesac\n"
                            "exec " RUN_PROGRAM " \"$@\"\n")
                  .ok());
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(CrashTestTest, OneNoteStatesTheEffectsOfMissingNamespaces) {
  const Folder folder;
  std::filesystem::create_directories(folder.path() + "/test");
  const CrashTestPlan plan{
      .command = {"/bin/sh", "-c", "echo 1 > {out}/a; echo 2 > {out}/b",
                  "{out}"},
      .most_trials = 1};
  NoProgress progress;
  const Result<CrashTestResult> result =
      RunCrashTest(plan, {.program = ProgramWithoutNamespaces(folder)},
                   folder.path() + "/test", progress);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_THAT(result->notes,
              Contains(AllOf(HasSubstr("namespaces are not permitted"),
                             HasSubstr("one trial at a time"),
                             HasSubstr("fork server off")))
                  .Times(1));
  EXPECT_THAT(result->notes,
              Contains(AnyOf(HasSubstr("namespaces"), HasSubstr("fork server")))
                  .Times(1));
}

TEST(CrashTestTest, NoVerdictNamesTheFailureOfTheResumeCommand) {
  const struct {
    std::vector<std::string> resume_command;
    std::string expected;
  } kCases[] = {
      {{"/bin/sh", "-c", "echo first; echo no such program >&2; exit 2"},
       "no run resumed from a checkpoint: the command of --resume failed: "
       "exit code 2: no such program"},
      {{},
       "no run resumed from a checkpoint: is an option of the program missing, "
       "or --resume COMMAND?"},
  };
  for (const auto& [resume_command, expected] : kCases) {
    const Folder folder;
    std::filesystem::create_directories(folder.path() + "/test");
    const CrashTestPlan plan{
        .command = {"/bin/sh", "-c", "echo 1 > {out}/a; echo 2 > {out}/b",
                    "{out}"},
        .resume_command = resume_command,
        .faults = {CrashFault::kKill}};
    NoProgress progress;
    const Result<CrashTestResult> result = RunCrashTest(
        plan, {.program = RUN_PROGRAM}, folder.path() + "/test", progress);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result->no_verdict, expected);
  }
}

TEST(CrashTestTest, RunBeyondTheTrialLimit_NamesTheLimit) {
  const Folder folder;
  std::filesystem::create_directories(folder.path() + "/test");
  NoProgress progress;
  const Result<CrashTestResult> result =
      RunCrashTest({.command = {"sleep", "1000", "{out}"},
                    .trial_limit = std::chrono::milliseconds(1)},
                   {.program = RUN_PROGRAM}, folder.path() + "/test", progress);
  EXPECT_EQ(result.status().message(),
            "sleep 1000 '{out}': expected a run that ends within 1ms, found "
            "one that had not ended: raise --trial-limit, or test fewer steps");
}

TEST(CrashTestTest, NoteIfTheProgramHasNoRanksToKill) {
  const Folder folder;
  std::filesystem::create_directories(folder.path() + "/test");
  const CrashTestPlan plan{
      .command = {"/bin/sh", "-c", "echo 1 > {out}/a; echo 2 > {out}/b",
                  "{out}"},
      .faults = {CrashFault::kRankDeath},
      .names_faults = true,
      .most_trials = 1};
  NoProgress progress;
  const Result<CrashTestResult> result = RunCrashTest(
      plan, {.program = RUN_PROGRAM}, folder.path() + "/test", progress);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_THAT(result->notes,
              Contains(HasSubstr("--faults rank: not tried")).Times(1));
}

}  // namespace
}  // namespace gauntlet
