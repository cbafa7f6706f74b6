#include "harness/cli/report/report_command.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include "harness/cli/run_folders/old_runs.h"
#include "tests/harness/cli/run_folders/stored_run_fixture.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReportCommandTest : public StoredRunTest {};

TEST_F(ReportCommandTest, PrintsAStoredRunAsRunDid) {
  const std::string folder = RunCase("a", "recovers");
  const std::string printed = out_.str();
  EXPECT_EQ(Report({}), 1) << err_.str();
  EXPECT_EQ(out_.str(), printed);
  const std::string id = fs::path(folder).filename();
  for (const std::string& run : {folder, folder + "/result.json", id, id + "/",
                                 std::string("latest/")}) {
    EXPECT_EQ(Report({run}), 1) << err_.str();
    EXPECT_EQ(out_.str(), printed) << run;
  }
  RunCase("a", "completes");
  EXPECT_EQ(Report({}), 0) << err_.str();
}

TEST_F(ReportCommandTest, BeforeAnyRun_NamesTheCommandThatRuns) {
  const std::vector<std::string> arguments[] = {{}, {"--list"}};
  for (const std::vector<std::string>& words : arguments) {
    EXPECT_EQ(Report(words), 2);
    EXPECT_THAT(err_.str(), HasSubstr("there is no folder " + runs() +
                                      ", which gauntlet run creates; for runs "
                                      "kept elsewhere, give --runs DIR\n"));
  }
}

TEST_F(ReportCommandTest, CasesThatWereNotBegunHaveNoLine) {
  RunCase("a", "recovers");
  RunCase("b", "completes");
  out_.str("");
  RunScenarios({.paths = {scratch_ / "a.yaml", scratch_ / "b.yaml"},
                .world = WorldChoice::kSimulated,
                .max_failures = 1,
                .runs_directory = runs()},
               console_);
  const std::string printed = out_.str();
  EXPECT_THAT(printed, HasSubstr("1 not run"));
  EXPECT_EQ(Report({}), 1) << err_.str();
  EXPECT_EQ(out_.str(), printed);
  EXPECT_EQ(Report({"--list"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex("inconclusive not run skipped"));
  EXPECT_THAT(out_.str(), ContainsRegex("Z +2 +0 +0 +1 +0 +1 +0 "));
  EXPECT_EQ(Report({"--list", "--json"}), 0) << err_.str();
  const auto listed = nlohmann::json::parse(out_.str())["runs"][0];
  EXPECT_EQ(listed["inconclusive"], 0);
  EXPECT_EQ(listed["not_run"], 1);
}

TEST_F(ReportCommandTest, RendersTheSameFilesAgain) {
  const std::string folder = RunCase("a", "recovers");
  EXPECT_EQ(Report({"--html", scratch_ / "r.html", "--junit",
                    scratch_ / "j.xml", "--summary", scratch_ / "s.md"}),
            1)
      << err_.str();
  EXPECT_EQ(TextOf(scratch_ / "r.html"), TextOf(folder + "/report.html"));
  EXPECT_EQ(TextOf(scratch_ / "j.xml"), TextOf(folder + "/junit.xml"));
  EXPECT_EQ(TextOf(scratch_ / "s.md"), TextOf(folder + "/summary.md"));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("1 case in "), HasSubstr("r.html  "),
                                Not(HasSubstr("broken"))));
  EXPECT_EQ(Report({"--json"}), 1);
  EXPECT_EQ(out_.str(), TextOf(folder + "/result.json"));
}

TEST_F(ReportCommandTest, RecordThatWasCutIsReportedWithTheReason) {
  const std::string folder = RunCase("a", "completes");
  const std::string record = folder + "/a.sim/record.jsonl";
  std::filesystem::resize_file(record, std::filesystem::file_size(record) / 2);
  const std::string page = scratch_ / "page.html";
  EXPECT_EQ(Report({folder, "--html", page}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("the page lacks its picture and timeline"));
  EXPECT_THAT(TextOf(page),
              HasSubstr("The record of this case cannot be read"));
}

TEST_F(ReportCommandTest, RefusesDashAsFile) {
  RunCase("a", "completes");
  for (const char* option : {"--html", "--junit", "--summary"}) {
    EXPECT_EQ(Report({option, "-"}), 2);
    EXPECT_THAT(err_.str(), HasSubstr(std::string(option) +
                                      ": expected the name of a file, found "
                                      "'-' (for a file of that name: ./-)"));
  }
  EXPECT_EQ(Call({"show", "latest", "--runs", runs(), "--trace", "-"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--trace: expected the name of a file"));
  EXPECT_FALSE(fs::exists("-"));
}

TEST_F(ReportCommandTest, OutputThatCannotBeWrittenIsNamed) {
  RunCase("a", "completes");
  EXPECT_EQ(Report({"--html", scratch_ / "none/r.html"}), 2);
  EXPECT_EQ(err_.str(),
            fmt::format("gauntlet report: --html: {0}/r.html: there is no "
                        "folder {0}\n",
                        scratch_ / "none"));
  fs::create_directories(scratch_ / "folder");
  EXPECT_EQ(Report({"--junit", scratch_ / "folder"}), 2);
  EXPECT_TRUE(fs::is_empty(scratch_ / "folder"));
}

TEST_F(ReportCommandTest, WritesNoOutput_IfAnotherCannotBeWritten) {
  const std::string run = RunCase("a", "completes");
  EXPECT_EQ(Report({run, "--html", scratch_ / "a.html", "--junit",
                    scratch_ / "none/x.xml"}),
            2);
  EXPECT_FALSE(fs::exists(scratch_ / "a.html"));
  EXPECT_EQ(out_.str(), "");
}

// The run was moved, and its original folder does not exist.
TEST_F(ReportCommandTest, ReadsRecordsOfAFolderThatWasMoved) {
  const std::string folder = RunCase("a", "recovers");
  fs::rename(folder, scratch_ / "copy");
  EXPECT_EQ(Report({scratch_ / "copy", "--html", scratch_ / "r.html"}), 1)
      << err_.str();
  EXPECT_THAT(TextOf(scratch_ / "r.html"), HasSubstr("<svg"));
  EXPECT_EQ(Report({scratch_ / "copy"}), 1) << err_.str();
  const std::string moved = fs::canonical(scratch_ / "copy").string();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("replay    gauntlet replay " + moved +
                                          "/a.sim\n"),
                                HasSubstr("files     " + moved + "/a.sim\n"),
                                Not(HasSubstr(folder))));
}

TEST_F(ReportCommandTest, TriesOfAFolderThatWasMovedAreFoundInIt) {
  const std::string folder = RunCase("a", "completes");
  MakeFlaky(folder, FlakyVerdict::kFails);
  fs::rename(folder, scratch_ / "copy");
  fs::remove_all(scratch_ / "copy/a~try-2.sim");
  EXPECT_EQ(Report({scratch_ / "copy", "--json"}), 1) << err_.str();
  const auto tries = nlohmann::json::parse(out_.str())["cases"][0]["tries"];
  EXPECT_EQ(tries[0]["directory"],
            fs::canonical(scratch_ / "copy").string() + "/a.sim");
  EXPECT_EQ(tries[1]["directory"], "");
}

TEST_F(ReportCommandTest, ShowsFlakyCasesAsFlaky) {
  const std::string folder = RunCase("a", "completes");
  MakeFlaky(folder, FlakyVerdict::kPasses);
  EXPECT_EQ(Report({}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\nFLAKY a (sim)"),
                                HasSubstr("0 passed, 1 flaky\n")));
  EXPECT_EQ(Report({"--github"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("title=a (sim)%3A flaky::failed 1 of 2"));
  EXPECT_EQ(Report({"--list"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex("cases +passed +flaky +failed"));
  EXPECT_THAT(out_.str(), ContainsRegex("Z +1 +0 +1 +0 "));
  EXPECT_EQ(Report({"--list", "--json"}), 0) << err_.str();
  const auto listed = nlohmann::json::parse(out_.str())["runs"][0];
  EXPECT_EQ(listed["flaky"], 1);
  EXPECT_EQ(listed["passed"], 0);
}

TEST_F(ReportCommandTest, PathsOfAResultLeadNowhereElse) {
  const std::string folder = RunCase("a", "recovers");
  std::string text = TextOf(folder + "/result.json");
  const std::string place = "\"directory\": \"" + folder + "/a.sim\"";
  ASSERT_THAT(text, HasSubstr(place));
  for (const char* other : {"../..", "/etc/passwd", "x/..", "/"}) {
    std::string changed = text;
    changed.replace(changed.find(place), place.size(),
                    std::string("\"directory\": \"") + other + "\"");
    ASSERT_TRUE(WriteTextFile(folder + "/result.json", changed).ok());
    EXPECT_EQ(Report({}), 1) << err_.str();
    EXPECT_THAT(out_.str(), Not(HasSubstr("files"))) << other;
  }
}

TEST_F(ReportCommandTest, ListsRunsTheNewestFirst) {
  const std::string old_run = fs::path(RunCase("a", "recovers")).filename();
  const std::string new_run = fs::path(RunCase("b", "completes")).filename();
  fs::create_directories(runs() + "/19990101T000000-1");
  fs::create_directories(runs() + "/20000102T030405-6");
  ASSERT_TRUE(
      WriteTextFile(runs() + "/20000102T030405-6/result.json", "{}").ok());
  EXPECT_EQ(Report({"--list"}), 0) << err_.str();
  const std::string text = out_.str();
  EXPECT_LT(text.find(new_run), text.find(old_run + " "));
  EXPECT_THAT(text, AllOf(HasSubstr("schema: expected gauntlet.result/v2"),
                          Not(HasSubstr("latest")),
                          Not(HasSubstr("19990101T000000-1"))));
  EXPECT_EQ(Report({"--list", "--json"}), 0);
  const auto json = nlohmann::json::parse(out_.str());
  ASSERT_EQ(json["runs"].size(), 3u);
  EXPECT_EQ(json["runs"][1]["failed"], 1);
  EXPECT_THAT(json["runs"][0]["time"], EndsWith("Z"));
}

TEST_F(ReportCommandTest, ListsRunsWithoutAResultWithTheReason) {
  const fs::path killed = RunCase("a", "completes");
  fs::rename(killed / "result.json", killed / "unfinished.json");
  const fs::path early = fs::path(runs()) / "20000102T030405-6";
  fs::create_directories(early);
  ASSERT_TRUE(WriteTextFile(early / "unfinished.json", "{}").ok());
  EXPECT_EQ(Report({"--list"}), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              ContainsRegex(killed.filename().string() +
                            " +the run was killed or had no space left; "
                            "gauntlet judge "));
  EXPECT_THAT(out_.str(),
              ContainsRegex("20000102T030405-6 +the run was killed or had no "
                            "space left before a case ended"));
  fs::remove(killed / "unfinished.json");
  EXPECT_EQ(Report({"--list"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex(killed.filename().string() +
                                        " +its result.json was deleted; "
                                        "gauntlet judge "));
  const RunLock lock(early);
  EXPECT_EQ(Report({"--list"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("the run is not over: wait for its end"));
}

TEST_F(ReportCommandTest, CaseThatWasNotRunMakesAComparisonFail) {
  const std::string good = RunCase("b", "completes");
  RunCase("a", "recovers");
  RunScenarios({.paths = {scratch_ / "a.yaml", scratch_ / "b.yaml"},
                .world = WorldChoice::kSimulated,
                .max_failures = 1,
                .runs_directory = runs()},
               console_);
  EXPECT_EQ(Report({"--compare", good, "latest", "--json"}), 1) << err_.str();
  const auto json = nlohmann::json::parse(out_.str());
  ASSERT_EQ(json["newly_not_run"].size(), 1u);
  EXPECT_EQ(json["newly_not_run"][0]["after"]["verdict"], "NOT RUN");
  ASSERT_EQ(json["added"].size(), 1u);
  EXPECT_EQ(json["added"][0]["after"]["verdict"], "FAIL");
}

TEST_F(ReportCommandTest, ComparesTwoRuns) {
  const std::string good = RunCase("a", "completes");
  const std::string bad = RunCase("a", "recovers");
  EXPECT_EQ(Report({"--compare", good, bad}), 1) << err_.str();
  EXPECT_THAT(out_.str(),
              HasSubstr("newly failing: 1\n  sim  a  PASS -> FAIL"));
  EXPECT_EQ(Report({"--compare", bad, good, "--json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["newly_passing"].size(), 1u);
  EXPECT_EQ(Report({"--compare", good, scratch_ / "none"}), 2);
}

// Variables that GitHub sets for a step.
class GithubTest : public StoredRunTest {
 protected:
  GithubTest() {
    github_ = true;
    setenv("GITHUB_STEP_SUMMARY", summary().c_str(), 1);
    setenv("GITHUB_WORKSPACE", scratch_.path().c_str(), 1);
  }
  ~GithubTest() override {
    unsetenv("GITHUB_STEP_SUMMARY");
    unsetenv("GITHUB_WORKSPACE");
  }
  std::string summary() const { return scratch_ / "step.md"; }
};

TEST_F(GithubTest, RunAndReportPostSummaryAndAnnotations) {
  const std::string folder = RunCase("a", "recovers");
  const std::string line =
      "\n::error file=a.yaml,line=2,title=a (sim)%3A "
      "failed::";
  EXPECT_THAT(out_.str(), HasSubstr(line));
  EXPECT_EQ(TextOf(summary()), TextOf(folder + "/summary.md"));
  EXPECT_EQ(Report({"--github"}), 1) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr(line));
  const std::string once = TextOf(folder + "/summary.md");
  EXPECT_EQ(TextOf(summary()), once + "\n\n" + once);
}

TEST_F(GithubTest, UnsetSummaryVariable_IsANote) {
  RunCase("a", "completes");
  unsetenv("GITHUB_STEP_SUMMARY");
  EXPECT_EQ(Report({"--github"}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("GITHUB_STEP_SUMMARY is not set"));
}

TEST_F(GithubTest, SummaryOfAStepStaysBelowTheLimit) {
  RunCase("a", "recovers");
  ASSERT_TRUE(WriteTextFile(summary(), std::string(1'000'000, 'x')).ok());
  EXPECT_EQ(Report({"--github"}), 1);
  EXPECT_EQ(fs::file_size(summary()), 1'000'000u);
  EXPECT_THAT(err_.str(), HasSubstr("the summary of this step has no room"));
}

TEST_F(GithubTest, SummaryThatCannotBeWrittenIsAnError) {
  RunCase("a", "completes");
  setenv("GITHUB_STEP_SUMMARY", scratch_.path().c_str(), 1);
  EXPECT_EQ(Report({"--github"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("GITHUB_STEP_SUMMARY: "));
  RunCase("a", "recovers");
  EXPECT_THAT(err_.str(), HasSubstr("gauntlet run: GITHUB_STEP_SUMMARY: "));
}

std::string Refused(std::vector<std::string> words) {
  words.insert(words.begin(), "report");
  const Result<CommandLine> line = ParseCommandLine(words);
  EXPECT_FALSE(line.ok());
  return line.status().message();
}

TEST(ReportFlagsTest, RunPrintsAnnotationsOrJson) {
  const std::vector<std::string> words = {"run", "--demo", "--github"};
  const Result<CommandLine> line = ParseCommandLine(words);
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_TRUE(std::get<RunCommand>(line->command).github);
  const Result<CommandLine> both = ParseCommandLine(
      std::vector<std::string>{"run", "--demo", "--github", "--json"});
  EXPECT_THAT(both.status().message(),
              HasSubstr("--github cannot be combined with --json"));
}

TEST(ReportFlagsTest, RefusesMeaninglessFlags) {
  EXPECT_THAT(Refused({"a", "b"}), HasSubstr("expected one RUN, found 2"));
  EXPECT_THAT(Refused({""}), HasSubstr("RUN: a run or its folder, found ''"));
  EXPECT_THAT(Refused({"--list", "a"}), HasSubstr("--list: unexpected"));
  EXPECT_THAT(Refused({"--list", "--compare", "a", "b"}),
              HasSubstr("expected one of --list, --merge and --compare"));
  EXPECT_THAT(Refused({"--merge", "a"}), HasSubstr("--merge requires --out"));
  EXPECT_THAT(Refused({"--merge", "--out", "o"}),
              HasSubstr("--merge: expected the folders of runs"));
  EXPECT_THAT(Refused({"--out", "o"}), HasSubstr("--out is for --merge"));
  EXPECT_THAT(Refused({"--compare", "a"}),
              HasSubstr("--compare: expected two RUNs, found 1"));
  EXPECT_THAT(Refused({"--compare", "a", "b", "--html", "h"}),
              HasSubstr("--html cannot be combined with --list or --compare"));
  EXPECT_THAT(Refused({"--github", "--json"}),
              HasSubstr("--github cannot be combined with --json"));
}

}  // namespace
}  // namespace gauntlet
