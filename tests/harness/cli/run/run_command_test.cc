#include "harness/cli/run/run_command.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/host/real_host.h"
#include "harness/cli/run_folders/old_runs.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>
#include <sys/resource.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RunCommandTest : public testing::Test {
 protected:
  RunCommandTest() {
    command_.world = WorldChoice::kSimulated;
    command_.runs_directory = (folder() / "runs").string();
  }
  fs::path folder() const { return scratch_.path(); }
  // Writes a scenario of that name to a folder, and returns its path.
  std::string Write(const std::string& where, const std::string& name,
                    const std::string& outcome = "completes") {
    fs::create_directories(folder() / where);
    const fs::path file = folder() / where / (name + ".yaml");
    EXPECT_TRUE(
        WriteTextFile(
            file, SmallScenario("expect: {outcome: " + outcome + "}\n", name))
            .ok());
    return (folder() / where).string();
  }

  // Returns the record of a simulated case of the last run.
  std::string RecordOf(const std::string& name) const {
    return ReadTextFile(folder() / "runs/latest" / (name + ".sim") /
                        "record.jsonl");
  }

  size_t CountRuns() const {
    size_t folders = 0;
    for (const auto& entry : fs::directory_iterator(folder() / "runs")) {
      const bool hidden = entry.path().filename().string().starts_with('.');
      if (entry.is_directory() && !entry.is_symlink() && !hidden) ++folders;
    }
    return folders;
  }

  ScratchDirectory scratch_;
  RunCommand command_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(RunCommandTest, FileWithSeveralPathsRunsOnce) {
  const std::string file = Write("d1", "a") + "/a.yaml";
  fs::create_directory_symlink("d1", folder() / "link");
  command_.paths = {file, (folder() / "link/a.yaml").string(),
                    fs::proximate(file).string()};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 case in "));
}

TEST_F(RunCommandTest, TwoCasesOfOneNameAreRefusedAndNamed) {
  command_.paths = {Write("d1", "a"), Write("d2", "a")};
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("two cases have the name a, expected one: "));
  EXPECT_THAT(err_.str(), HasSubstr("/d1/a.yaml:2 and "));
  EXPECT_FALSE(fs::exists(folder() / "runs"));
}

TEST_F(RunCommandTest, InterruptBeforeTheFirstCaseLeavesNoFolder) {
  command_.paths = {Write("d1", "a")};
  const auto run_interrupted = [this] {
    InstallSignalHandlers();
    raise(SIGINT);
    const int code = RunScenarios(command_, console_);
    std::cerr << err_.str();
    std::exit(code);
  };
  EXPECT_EXIT(run_interrupted(), testing::ExitedWithCode(130),
              "interrupted before the first case; nothing was written");
  EXPECT_FALSE(fs::exists(folder() / "runs"));
}

// The larger limit has room for the record, but not for report.html.
TEST_F(RunCommandTest, MissingReport_NamesTheRecordsOnlyIfTheyAreThere) {
  command_.paths = {Write("d1", "a")};
  const auto run_with_limit = [this](rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_FSIZE, &small);
    const int code = RunScenarios(command_, console_);
    std::cerr << err_.str();
    std::_Exit(code);
  };
  EXPECT_EXIT(run_with_limit(28'000), testing::ExitedWithCode(3),
              "has no report.html, summary.md: .* own limit\\). Its records "
              "are there: gauntlet judge .* computes the verdicts again; or "
              "raise the limit on file sizes .ulimit -f. and repeat the run: "
              "gauntlet run ");
  EXPECT_EXIT(run_with_limit(1'000), testing::ExitedWithCode(3),
              "has no result.json, junit.xml, report.html, summary.md: .* own "
              "limit\\); raise the limit on file sizes .ulimit -f. and repeat "
              "the run: gauntlet run ");
}

TEST_F(RunCommandTest, UnreadableData_IsReportedAtItsLine) {
  const std::string file = (folder() / "d.yaml").string();
  ASSERT_TRUE(WriteTextFile(file,
                            "schema: gauntlet/v2\nname: d\njob:\n  data: "
                            "{kind: npy, path: /none/there}\nexpect: "
                            "{outcome: completes}\n")
                  .ok());
  command_.paths = {file};
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(), StartsWith(file + ":4:9: error: case d: job: "));
  EXPECT_THAT(err_.str(),
              EndsWith("\n  4 |   data: {kind: npy, path: /none/there}\n"
                       "    |         ^\n"));
}

TEST_F(RunCommandTest, List_PrintsCasesWithoutRunningThem) {
  command_.paths = {Write("d1", "a"), Write("d2", "b")};
  command_.lists = true;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("sim  a  "));
  EXPECT_THAT(out_.str(), HasSubstr("/d2/b.yaml:2"));
  EXPECT_THAT(out_.str(), HasSubstr("2 cases\n"));
  EXPECT_FALSE(fs::exists(folder() / "runs"));
  out_.str("");
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\"schema\":\"gauntlet.cases/v1\""));
}

TEST_F(RunCommandTest, ListEscapesLabels) {
  const fs::path file = folder() / "a.yaml";
  ASSERT_TRUE(
      WriteTextFile(file, SmallScenario("labels: [\"a\\u202e\\e[31m\"]\n"
                                        "expect: {outcome: completes}\n"))
          .ok());
  command_.paths = {file.string()};
  command_.lists = true;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("  [a\\xe2\\x80\\xae\\x1b[31m]\n"));
}

TEST_F(RunCommandTest, NothingSelectedMayPass) {
  command_.paths = {Write("d1", "a")};
  command_.labels = {"slow or not not slow"};
  EXPECT_EQ(RunScenarios(command_, console_), 4);
  command_.nothing_selected = NothingSelected::kPasses;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_EQ(CountRuns(), 1u);
  command_.labels = {"slow and"};
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("gauntlet run: --label: expected a label at "
                        "character 9"));
}

TEST_F(RunCommandTest, RunOfNoCase_KeepsLatestAndTheLastFailures) {
  command_.paths = {Write("d1", "a", "recovers")};
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  const fs::path latest = folder() / "runs/latest";
  const fs::path failed = fs::read_symlink(latest);
  RunCommand none = command_;
  none.names = {"nope"};
  none.nothing_selected = NothingSelected::kPasses;
  EXPECT_EQ(RunScenarios(none, console_), 0) << err_.str();
  EXPECT_EQ(fs::read_symlink(latest), failed);
  command_.last_failed = true;
  EXPECT_EQ(RunScenarios(command_, console_), 1) << err_.str();
  // CI jobs copy the result of a shard from `latest`, so an empty shard must
  // not leave that of an earlier run there.
  none.shard = {.index = 2, .count = 2};
  EXPECT_EQ(RunScenarios(none, console_), 0) << err_.str();
  EXPECT_FALSE(fs::exists(latest / "a.sim"));
  EXPECT_TRUE(fs::exists(latest / "result.json"));
}

TEST_F(RunCommandTest, ShardRepeatsNoWarningOfAnotherShard) {
  command_.lists = true;
  for (const char* name : {"a", "b"}) {
    const fs::path file = folder() / (std::string(name) + ".yaml");
    const std::string rest =
        "faults: [{at: {worker: 0, step: 6}, do: sigkill}]\n"
        "expect: {outcome: recovers}\n";
    ASSERT_TRUE(WriteTextFile(file, SmallScenario(rest, name)).ok());
    command_.paths.push_back(file);
  }
  command_.shard = {.index = 2, .count = 2};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(err_.str(), Not(HasSubstr("a.yaml")));
  EXPECT_THAT(err_.str(), HasSubstr("b.yaml:"));
  EXPECT_THAT(err_.str(), HasSubstr("warning: "));
}

// A test runner numbers its shards from 0, and expects the status file.
TEST_F(RunCommandTest, TakesTheShardOfATestRunner) {
  Write("d", "a");
  Write("d", "b");
  command_.paths = {Write("d", "c")};
  command_.lists = true;
  const std::string status = folder() / "status";
  setenv("TEST_TOTAL_SHARDS", "2", 1);
  setenv("TEST_SHARD_INDEX", "1", 1);
  setenv("TEST_SHARD_STATUS_FILE", status.c_str(), 1);
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("sim  b"));
  EXPECT_THAT(out_.str(), HasSubstr("1 case\n"));
  EXPECT_TRUE(fs::exists(status));
  setenv("TEST_SHARD_INDEX", "2", 1);
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected TEST_TOTAL_SHARDS from 1 and "
                                    "TEST_SHARD_INDEX from 0 below it"));
  for (const char* name :
       {"TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE"}) {
    unsetenv(name);
  }
}

TEST_F(RunCommandTest, LeavesAReportOfEachCase) {
  command_.paths = {Write("d1", "a", "recovers")};
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  const std::string report =
      ReadTextFile(folder() / "runs" / "latest" / "report.html");
  EXPECT_THAT(report, HasSubstr("<svg"));
  EXPECT_THAT(report,
              HasSubstr("gauntlet run " + command_.paths[0] + " --world sim"));
  EXPECT_THAT(report, HasSubstr("expected recovers, found completes"));
  EXPECT_THAT(report, HasSubstr("<p>Save it as <code>a.yaml</code> and run "));
  EXPECT_THAT(report, HasSubstr("\nexpect: {outcome: recovers"));
  const std::regex line(
      "\n\n  report    /.*/runs/[^/]*/report[.]html\n\n1 case");
  EXPECT_TRUE(std::regex_search(out_.str(), line)) << out_.str();
}

// The scenario sets no capacity, so its simulated disk never fills up.
TEST_F(RunCommandTest, DiskWithoutALimitHasNoNumberOfFreeBytes) {
  const fs::path file = folder() / "full.yaml";
  ASSERT_TRUE(WriteTextFile(file, SmallScenario(R"(faults:
  - id: full
    at: {worker: 0, point: ckpt.shard.write}
    do: errno
    with: {error: ENOSPC}
expect: {outcome: recovers}
)",
                                                "full"))
                  .ok());
  command_.paths = {file.string()};
  EXPECT_EQ(RunScenarios(command_, console_), 1) << err_.str();
  const std::string record = RecordOf("full");
  EXPECT_TRUE(std::regex_search(
      record, std::regex("injected ENOSPC [(]needs [0-9.]* KiB[)]")))
      << record;
}

TEST_F(RunCommandTest, AdviceOnAFailedSaveFollowsItsError) {
  for (const auto& [error, advice] :
       {std::pair("ENOSPC", ". Make room, then run the same command again: "),
        std::pair("EIO",
                  ". Check the disk, or choose another one, then run "
                  "the same command again: ")}) {
    const fs::path file = folder() / "failing.yaml";
    const std::string faults = fmt::format(
        "faults:\n"
        "  - id: failing\n"
        "    at: {{worker: 0, point: ckpt.shard.write, incarnation: any}}\n"
        "    do: errno\n"
        "    with: {{error: {}, repeat: always}}\n"
        "expect: {{outcome: completes}}\n",
        error);
    ASSERT_TRUE(WriteTextFile(file, SmallScenario(faults, "failing")).ok());
    command_.paths = {file.string()};
    out_.str("");
    EXPECT_EQ(RunScenarios(command_, console_), 1) << err_.str();
    EXPECT_THAT(RecordOf("failing"), HasSubstr(advice));
    EXPECT_THAT(out_.str(), Not(HasSubstr(advice)));
  }
}

TEST_F(RunCommandTest, NamesTheReport_IfAllPassed) {
  command_.paths = {Write("d1", "a")};
  EXPECT_EQ(RunScenarios(command_, console_), 0);
  EXPECT_THAT(out_.str(), HasSubstr("report.html\n\n1 case in"));
}

// A run is stored, together with its scenarios, in .gauntlet in the folder in
// which it was started.
TEST_F(RunCommandTest, SkipsHiddenFiles) {
  const std::string where = Write("d1", "a");
  Write("d1/.gauntlet/runs/latest", "a");
  Write("d1/inner", ".b");
  command_.paths = {where};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 scenario, 1 case, "));
  out_.str("");
  command_.paths = {where + "/.gauntlet"};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 scenario, 1 case, ")) << "if it is told";
}

TEST_F(RunCommandTest, SkipsItsOwnFolderOfRuns) {
  Write("d1", "a");
  command_.paths = {folder().string()};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  // If the command names the folder of a run, its scenarios are not skipped.
  command_.paths = {(folder() / "runs" / "latest").string()};
  command_.lists = true;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
}

// Three runs complete, although the scenario expects them to recover.
TEST_F(RunCommandTest, OneFailureOfManyRepeatsIsAFailure) {
  command_.paths = {Write("d1", "a", "recovers"), Write("d1", "b")};
  command_.repeat = 3;
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  command_.last_failed = true;
  for (const int repeat : {1, 2}) {
    command_.repeat = repeat;
    out_.str("");
    EXPECT_EQ(RunScenarios(command_, console_), 1) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr(repeat == 1 ? "2 scenarios, 1 case, "
                                                  : "2 scenarios, 2 cases, "));
  }
}

TEST_F(RunCommandTest, CasesNotRunAfterTheMaximumOfFailuresStayOpen) {
  for (const char* name : {"a", "b", "c"}) Write("d1", name, "recovers");
  command_.paths = {Write("d1", "d")};
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  command_.last_failed = true;
  command_.max_failures = 1;
  for (int i = 0; i < 2; ++i) {
    out_.str("");
    EXPECT_EQ(RunScenarios(command_, console_), 1) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr("4 scenarios, 3 cases, "));
    EXPECT_THAT(out_.str(), HasSubstr("1 failed, 2 not run"));
  }
}

TEST_F(RunCommandTest, LastFailedTakesUpARunThatWasKilled) {
  command_.paths = {Write("d1", "a", "fails")};
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  const fs::path runs = folder() / "runs";
  const fs::path earlier = fs::read_symlink(runs / "latest");
  Write("d1", "a");
  for (const char* name : {"b", "c"}) Write("d1", name);
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  const fs::path killed = fs::read_symlink(runs / "latest");
  fs::rename(runs / killed / "result.json", runs / killed / "unfinished.json");
  fs::remove(runs / killed / "b.sim/record.jsonl");
  fs::remove(runs / "latest");
  fs::create_directory_symlink(earlier, runs / "latest");
  command_.last_failed = true;
  out_.str("");
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("3 scenarios, 1 case, "));
  EXPECT_THAT(out_.str(), HasSubstr("PASS         sim  b "));
  EXPECT_EQ(err_.str(), "gauntlet run: note: run " + killed.string() +
                            " has no result.json (killed, or no space left): "
                            "1 of its 3 cases has no record and counts as not "
                            "run\n");
  EXPECT_FALSE(fs::exists(runs / "latest/unfinished.json"));
}

TEST_F(RunCommandTest, RunThatIsStillWritten_WasNotKilled) {
  command_.paths = {Write("d1", "a", "recovers")};
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  const fs::path other = folder() / "runs/20990101T000000-1";
  fs::create_directories(other);
  ASSERT_TRUE(WriteTextFile(other / "unfinished.json", "{}").ok());
  command_.last_failed = true;
  {
    const RunLock lock(other);
    EXPECT_EQ(RunScenarios(command_, console_), 1) << err_.str();
  }
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--last-failed: "));
}

TEST_F(RunCommandTest, LastFailed_NamesTheRunWhoseResultWasDeleted) {
  command_.paths = {Write("d1", "a", "recovers")};
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  const fs::path run = fs::canonical(folder() / "runs/latest");
  fs::remove(run / "result.json");
  command_.last_failed = true;
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("--last-failed: the verdicts of run " +
                        run.filename().string() +
                        " are missing: its result.json was deleted; gauntlet "
                        "judge "));
}

TEST_F(RunCommandTest, LastFailedIsNamed_WhenItLeavesNothing) {
  command_.paths = {Write("d1", "a"), Write("d1", "b")};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  command_.last_failed = true;
  EXPECT_EQ(RunScenarios(command_, console_), 4);
  EXPECT_EQ(err_.str(),
            "gauntlet run: nothing selected of 2 cases; --last-failed: none of "
            "them failed in the last run\n");
}

TEST_F(RunCommandTest, LastFailed_NamesTheWorldOfTheFailures) {
  command_.paths = {Write("d1", "a", "recovers")};
  EXPECT_EQ(RunScenarios(command_, console_), 1) << err_.str();
  command_.last_failed = true;
  command_.world = WorldChoice::kReal;
  EXPECT_EQ(RunScenarios(command_, console_), 4);
  EXPECT_THAT(err_.str(), EndsWith("--last-failed: cases failed or did not run "
                                   "in the other world only (--world sim)\n"));
}

TEST_F(RunCommandTest, CountsCasesAsTheListDoes) {
  command_.paths = {Write("d1", "a"), Write("d1", "b")};
  command_.world = WorldChoice::kBoth;
  command_.repeat = 3;
  command_.lists = true;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\n12 cases\n"));
  command_.names = {"none"};
  EXPECT_EQ(RunScenarios(command_, console_), 4);
  EXPECT_EQ(err_.str(),
            "gauntlet run: nothing selected of 12 cases; -k: no case has "
            "'none' in its name\n");
  err_.str("");
  command_.names = {"none", "such"};
  EXPECT_EQ(RunScenarios(command_, console_), 4);
  EXPECT_THAT(err_.str(), HasSubstr("-k: no case has 'none' or 'such' in its "
                                    "name\n"));
  err_.str("");
  command_.labels = {"none-such"};
  EXPECT_EQ(RunScenarios(command_, console_), 4);
  EXPECT_THAT(err_.str(), HasSubstr("12 cases; no case has the label "
                                    "'none-such'"));
}

TEST_F(RunCommandTest, CaseWhoseNameHasOneOfTheTextsIsSelected) {
  command_.paths = {Write("d1", "apple"), Write("d1", "berry"),
                    Write("d1", "cherry")};
  command_.lists = true;
  command_.names = {"app", "cherry"};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("apple"), HasSubstr("cherry"),
                    Not(HasSubstr("berry")), HasSubstr("\n2 cases\n")));
}

TEST_F(RunCommandTest, FolderWithoutScenariosIsNamed) {
  fs::create_directories(folder() / "empty");
  command_.paths = {(folder() / "empty").string()};
  EXPECT_EQ(RunScenarios(command_, console_), 4);
  EXPECT_EQ(err_.str(),
            "gauntlet run: nothing selected of 0 cases: no file that ends in "
            ".yaml or .yml in " +
                command_.paths[0] + "\n");
}

TEST_F(RunCommandTest, NamesTheOptionOfAPathThatIsNoFolder) {
  command_.paths = {Write("d1", "a")};
  command_.runs_directory = command_.paths[0] + "/a.yaml";
  EXPECT_EQ(RunScenarios(command_, console_), 2);
  EXPECT_THAT(err_.str(),
              AllOf(StartsWith("gauntlet run: " + command_.runs_directory),
                    EndsWith("; choose another folder with --runs DIR\n")));
}

TEST_F(RunCommandTest, RefusesAPathThatIsNoFolderAndNoScenario) {
  for (const char* path : {"/dev/null", "/proc/self/stat", ""}) {
    command_.paths = {path};
    err_.str("");
    EXPECT_EQ(RunScenarios(command_, console_), 2) << path;
    EXPECT_THAT(err_.str(), HasSubstr(": expected a folder, or a file that "
                                      "ends in .yaml or .yml\n"));
  }
}

TEST_F(RunCommandTest, FileThatIsGivenTwiceIsRunOnce) {
  const std::string where = Write("d1", "a");
  command_.paths = {where, where + "/../d1/a.yaml"};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 scenario, 1 case, "));
}

TEST_F(RunCommandTest, DeviceFlagAppliesToAllWorkers) {
  command_.paths = {Write("d1", "a")};
  command_.device = DeviceKind::kEmulated;
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(ReadTextFile(folder() / "runs/latest/a.sim/scenario.yaml"),
              HasSubstr("device: emulated"));
  command_.device = DeviceKind::kCuda;
  out_.str("");
  RunScenarios(command_, console_);
  EXPECT_THAT(out_.str(), HasSubstr("needs a GPU, and the simulated world"));
}

TEST_F(RunCommandTest, RunHasAFolderOfItsOwnEvenInTheSameSecond) {
  command_.paths = {Write("d1", "a")};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  }
  EXPECT_EQ(CountRuns(), 3u);
}

TEST_F(RunCommandTest, RemovesOldRunsBeyondTheLimit) {
  command_.paths = {Write("d1", "a")};
  for (const std::optional<uint64_t> keep : {std::optional<uint64_t>(), {2}}) {
    command_.keep_runs = keep;
    for (int i = 0; i < 3; ++i) {
      err_.str("");
      EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
    }
    EXPECT_EQ(CountRuns(), keep ? 2u : 3u);
  }
  EXPECT_EQ(err_.str(), "gauntlet run: removed 1 old run, 2 kept\n");
}

TEST_F(RunCommandTest, ListsTheSlowestCasesAfterTheSummary) {
  command_.paths = {Write("d1", "a"), Write("d2", "b")};
  EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
  EXPECT_THAT(out_.str(), Not(HasSubstr("slowest")));
  for (const uint64_t most : {1u, 0u}) {
    out_.str("");
    command_.durations = most;
    EXPECT_EQ(RunScenarios(command_, console_), 0) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr(most == 1 ? "\nslowest 1 case:\n"
                                                : "\nslowest 2 cases:\n"));
  }
}

// Each shard's run lists what failed in that shard.
TEST_F(RunCommandTest, LastFailedOfAShardHasAllFailuresOfTheShard) {
  for (const char* name : {"a", "b", "c"}) Write("d1", name, "recovers");
  command_.paths = {Write("d1", "d", "recovers")};
  command_.shard = {.index = 2, .count = 2};
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  EXPECT_THAT(out_.str(), HasSubstr("4 scenarios, 2 cases, "));
  command_.last_failed = true;
  out_.str("");
  EXPECT_EQ(RunScenarios(command_, console_), 1);
  EXPECT_THAT(out_.str(), HasSubstr("4 scenarios, 2 cases, "));
}

}  // namespace
}  // namespace gauntlet
