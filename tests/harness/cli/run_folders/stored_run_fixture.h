// Fixture for tests that read stored results.
#ifndef GAUNTLET_TESTS_HARNESS_CLI_RUN_FOLDERS_STORED_RUN_FIXTURE_H_
#define GAUNTLET_TESTS_HARNESS_CLI_RUN_FOLDERS_STORED_RUN_FIXTURE_H_

#include <filesystem>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "harness/cli/command_line.h"
#include "harness/cli/record/judge_command.h"
#include "harness/cli/record/replay_command.h"
#include "harness/cli/record/show_command.h"
#include "harness/cli/report/report_command.h"
#include "harness/cli/run/run_command.h"
#include "harness/record/result/case_tries.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {

class StoredRunTest : public testing::Test {
 protected:
  // Runs the case `name` in the simulated world, without faults. Its scenario
  // expects `outcome`. Returns the run's folder.
  std::string RunCase(const std::string& name, const std::string& outcome) {
    const std::string file = scratch_ / (name + ".yaml");
    const std::string text =
        SmallScenario("expect: {outcome: " + outcome + "}\n", name);
    EXPECT_TRUE(WriteTextFile(file, text).ok());
    RunCommand command = {.paths = {file},
                          .world = WorldChoice::kSimulated,
                          .runs_directory = runs()};
    command.github = github_;
    RunScenarios(command, console_);
    return std::filesystem::canonical(runs() + "/latest").string();
  }
  // Changes the result of the run in `folder`: its first case now failed first
  // and then passed. The files of the second try are in their own folder.
  static void MakeFlaky(const std::string& folder, FlakyVerdict flaky) {
    RunResult result =
        *ReadResult(TextOf(folder + "/result.json"), "result.json").value;
    CaseResult failed = result.cases.at(0);
    failed.verdict.kind = VerdictKind::kFail;
    failed.verdict.reason = "it broke";
    CaseResult passed = result.cases.at(0);
    passed.directory = folder + "/" + FolderOfTry(failed.name, "sim", 2);
    std::filesystem::copy(failed.directory, passed.directory,
                          std::filesystem::copy_options::recursive);
    result.cases[0] = JoinTries({failed, passed}, flaky);
    ASSERT_TRUE(
        WriteTextFile(folder + "/result.json", ResultToJson(result)).ok());
  }
  // Runs a command as the program does. Output goes to out_ and err_.
  int Call(const std::vector<std::string>& words) {
    out_.str("");
    err_.str("");
    const Result<CommandLine> line = ParseCommandLine(words);
    if (!line.ok()) {
      err_ << ErrorLine(line.status()) << '\n';
      return 2;
    }
    const Command& command = line->command;
    if (const auto* report = std::get_if<ReportCommand>(&command)) {
      return RunReport(*report, console_);
    }
    if (const auto* show = std::get_if<ShowCommand>(&command)) {
      return RunShow(*show, console_);
    }
    if (const auto* judge = std::get_if<JudgeCommand>(&command)) {
      return RunJudge(*judge, console_);
    }
    return RunReplay(std::get<ReplayCommand>(command), console_);
  }
  int Report(std::vector<std::string> words) {
    words.insert(words.begin(), {"report", "--runs", runs()});
    return Call(words);
  }

  static TerminalStyle Plain() { return TerminalStyle(ColorChoice::kOff, {}); }
  std::string runs() const { return scratch_ / "runs"; }

  ScratchDirectory scratch_;
  bool github_ = false;  // passed to RunCase
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, Plain(), Plain()};
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_CLI_RUN_FOLDERS_STORED_RUN_FIXTURE_H_
