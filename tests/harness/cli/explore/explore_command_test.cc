#include "harness/cli/explore/explore_command.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/explore/case_command.h"
#include "harness/cli/explore/explore_json.h"
#include "harness/cli/explore/explore_text.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ExploreCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    command_.out_directory = (folder_ / "found").string();
  }

  int Explore(const std::string& more = "") {
    command_.base_file = (folder_ / "base.yaml").string();
    std::string text =
        SmallScenario(more + "expect: {outcome: completes}\n", "base");
    text.insert(text.find("}", text.find("cluster:")), more_of_cluster_);
    text.insert(text.find("cluster:"), more_of_job_);
    EXPECT_TRUE(WriteTextFile(command_.base_file, text).ok());
    out_.str("");
    err_.str("");
    // Removes the report of an earlier exploration: the folder must be empty.
    fs::remove(folder_ / "found" / "report.html");
    return RunExplore(command_, console_);
  }

  // Explores twice, expecting no finding. Returns the text and the JSON output.
  std::pair<std::string, json> ExploreAsTextAndJson() {
    EXPECT_EQ(Explore(), 0);
    std::string text = out_.str();
    command_.output = OutputFormat::kJson;
    EXPECT_EQ(Explore(), 0);
    return {std::move(text), json::parse(out_.str())};
  }

  const ScratchDirectory scratch_;  // tests run in parallel
  const fs::path folder_ = scratch_.path();
  std::string more_of_job_;
  std::string more_of_cluster_;
  ExploreCommand command_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(ExploreCommandTest, FirstLineNamesThePlantedBug) {
  command_.cases = 1;
  Explore("planted_bugs: lose-metrics\n");
  const std::string line = out_.str().substr(0, out_.str().find('\n'));
  EXPECT_THAT(line, HasSubstr(", with the planted bug lose-metrics"));
}

TEST_F(ExploreCommandTest, FolderInPlaceOfTheScenario_IsRefused) {
  command_.base_file = folder_.string();
  EXPECT_EQ(RunExplore(command_, console_), 2);
  EXPECT_EQ(err_.str(), "gauntlet explore: " + folder_.string() +
                            ": expected one scenario file, found a folder; "
                            "name a file in it\n");
}

TEST_F(ExploreCommandTest, JsonHasTheNumberOfCasesOfAFinding) {
  command_.cases = 60;
  command_.stop_after = 0;
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 1);
  const json result = json::parse(out_.str());
  ASSERT_FALSE(result["findings"].empty());
  EXPECT_EQ(result["schema"], kExploreSchema);
  EXPECT_EQ(result["base"], "base");
  EXPECT_EQ(result["goals_reached"].get<size_t>() +
                result["goals_missed"].size() +
                result["rare_goals_missed"].size(),
            result["goals_total"]);
  EXPECT_GT(result["outcomes"]["recovers"], 0);
  EXPECT_GT(result["findings"][0]["cases"], 1);
  EXPECT_LE(result["findings"][0]["cases"], result["failed"]);
  EXPECT_TRUE(result["findings"][0]["shrunk_to_the_end"].is_boolean());
  EXPECT_FALSE(result.contains("gaps"));
}

TEST_F(ExploreCommandTest, TraceShowsTheCaseThatAFindingNames) {
  command_.cases = 60;
  command_.output = OutputFormat::kJson;
  command_.stop_after = 1;
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 1);
  const json finding = json::parse(out_.str())["findings"][0];
  command_.cases.reset();
  command_.only_case = finding["case"].get<uint64_t>();
  command_.trace = true;
  command_.out_directory = (folder_ / "found-again").string();
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 1);
  const json traced = json::parse(out_.str());
  EXPECT_EQ(traced["findings"][0]["faults"], finding["faults"]);
  EXPECT_THAT(traced["timeline"]["rows"].dump(), HasSubstr(" fires: "));
  command_.output = OutputFormat::kText;
  command_.out_directory = (folder_ / "found-as-text").string();
  Explore("planted_bugs: lose-metrics\n");
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("  fault         fault-1: "),
                                HasSubstr("\nrow "), HasSubstr("fires")));
}

TEST_F(ExploreCommandTest, Json_ListsAllGaps_IfRequested) {
  command_.cases = 40;
  command_.kinds = {FaultKind::kCrash, FaultKind::kTornWrite};
  command_.points = {Point::kStepBegin, Point::kShardWrite};
  command_.show_uncovered = true;
  const auto [text, result] = ExploreAsTextAndJson();
  EXPECT_TRUE(result["kinds_missed"].empty());
  ASSERT_FALSE(result["gaps"].empty());
  for (const json& gap : result["gaps"]) {
    for (const json& kind : gap["kinds_missed"]) {
      EXPECT_THAT(
          text,
          ContainsRegex(fmt::format(
              "never at {} \\({}\\): [^\n]*{}", gap["point"].get<std::string>(),
              gap["phase"].get<std::string>(), kind.get<std::string>())));
    }
  }
}

TEST_F(ExploreCommandTest, JsonListsInvariantsThatNothingWasCheckedFor) {
  command_.cases = 2;
  command_.kinds = {FaultKind::kCrash};
  command_.points = {Point::kStepBegin};
  command_.show_uncovered = true;
  const auto [text, result] = ExploreAsTextAndJson();
  ASSERT_FALSE(result["invariants_missed"].empty());
  for (const json& invariant : result["invariants_missed"]) {
    EXPECT_THAT(text, ContainsRegex("  invariants [^\n]*; never: [^\n]*" +
                                    invariant.get<std::string>()));
  }
}

TEST_F(ExploreCommandTest, NamesThePointsAndKindsThatTheBaseExcludes) {
  command_.mode = ExploreMode::kRandom;
  command_.cases = 10;
  EXPECT_EQ(Explore(), 0) << err_.str();
  EXPECT_THAT(
      out_.str(),
      AllOf(ContainsRegex("\n  points [^\n]*; the base excludes ckpt.copy, "
                          "cluster.rejoin, cluster.state.send, "
                          "cluster.state.receive and 1 more\n"),
            ContainsRegex("\n  kinds [^\n]*; the base excludes gpu_error, "
                          "out_of_memory, device_hang\n")));
  command_.show_uncovered = true;
  EXPECT_EQ(Explore(), 0) << err_.str();
  EXPECT_THAT(out_.str(), ContainsRegex("\n  points [^\n]*; the base excludes "
                                        "ckpt.copy, [^\n]*, device.open\n"));
  command_.show_uncovered = false;
  more_of_cluster_ = ", device: emulated";
  EXPECT_EQ(Explore(), 0) << err_.str();
  EXPECT_THAT(out_.str(), Not(ContainsRegex("\n  kinds [^\n]*excludes")));
  more_of_cluster_ = "";
  command_.kinds = {FaultKind::kCrash};
  EXPECT_EQ(Explore(), 0) << err_.str();
  EXPECT_THAT(out_.str(), Not(ContainsRegex("\n  kinds [^\n]*excludes")));
}

TEST_F(ExploreCommandTest, DeviceFaults_AreRefused_WithoutADevice) {
  command_.cases = 10;
  command_.kinds = {FaultKind::kGpuError};
  EXPECT_EQ(Explore(), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--kinds: gpu_error needs a device"));
  more_of_cluster_ = ", device: emulated";
  EXPECT_EQ(Explore(), 0) << err_.str();
  // Impossible kinds are left out if --kinds also names kinds that can occur.
  more_of_cluster_ = "";
  command_.kinds = {FaultKind::kCrash, FaultKind::kGpuError};
  EXPECT_EQ(Explore(), 0) << err_.str();
}

TEST_F(ExploreCommandTest, UnreachedPoints_AreRefused) {
  command_.cases = 10;
  command_.points = {Point::kDeviceOpen};
  EXPECT_EQ(Explore(), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("--points: expected points that the base reaches, "
                        "found device.open"));
  // Unreachable points are left out if --points also names some that runs
  // reach.
  command_.points = {Point::kStepEnd, Point::kDeviceOpen};
  EXPECT_EQ(Explore(), 0) << err_.str();
}

TEST_F(ExploreCommandTest, FindingThatCannotBeWrittenIsShownAllTheSame) {
  command_.cases = 60;
  // Short enough for the folder's path, too long for the path of a file in it.
  std::string path = folder_.string();
  while (path.size() < 3900) path += "/" + std::string(140, 'x');
  command_.out_directory = path + "/" + std::string(4080 - path.size(), 'x');
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 1) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("FOUND  case "), HasSubstr("no scenario of it: "),
                    HasSubstr("done.")));
  EXPECT_THAT(err_.str(), HasSubstr("gauntlet explore: "));
  fs::remove(fs::path(command_.out_directory) / "report.html");
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 1);
  const json finding = json::parse(out_.str())["findings"][0];
  EXPECT_EQ(finding["file"], "");
  EXPECT_THAT(finding["why_no_file"].get<std::string>(), HasSubstr("xxx"));
}

TEST_F(ExploreCommandTest,
       RefusesAnUnusableFolderForFindingsBeforeAnythingRuns) {
  command_.cases = 60;
  command_.out_directory = "/proc/nope";
  EXPECT_EQ(Explore(), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), StartsWith("gauntlet explore: /proc/nope: "));
}

// A record that contains this path could not be read again.
TEST_F(ExploreCommandTest, FolderNotInUtf8_IsRefused) {
  command_.cases = 60;
  command_.out_directory = (folder_ / "no\xfftext").string();
  EXPECT_EQ(Explore(), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected a path in UTF-8"));
  EXPECT_FALSE(fs::exists(command_.out_directory));
}

TEST_F(ExploreCommandTest, ReportThatCannotBeWritten_LeavesNoVerdict) {
  command_.cases = 1;
  for (const auto mode : {ExploreMode::kRandom, ExploreMode::kCrashStates}) {
    command_.mode = mode;
    command_.crash_states.profiles = {DurabilityProfile::kExt4};
    const auto explore = [this] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit small = {.rlim_cur = 1000, .rlim_max = 1000};
      setrlimit(RLIMIT_FSIZE, &small);
      const int code = Explore();
      std::cerr << err_.str();
      std::_Exit(code);
    };
    EXPECT_EXIT(explore(), testing::ExitedWithCode(3),
                "report.html: cannot be written");
  }
}

TEST_F(ExploreCommandTest, NothingIsWrittenOverEarlierFindings) {
  command_.cases = 60;
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 1);
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected an empty folder, or none, found "
                                    "'finding-"));
  command_.out_directory = (folder_ / "nothing-found").string();
  command_.cases = 5;
  EXPECT_EQ(Explore(), 0);
  EXPECT_EQ(Explore(), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("found 'report.html' in it; choose another folder with "
                        "--out DIR\n"));
}

TEST_F(ExploreCommandTest, RunWithoutFindings_LeavesOnlyItsReport) {
  command_.out_directory = "";
  command_.runs_directory = (folder_ / "runs").string();
  command_.cases = 20;
  EXPECT_EQ(Explore(), 0);
  const fs::path run = fs::directory_iterator(folder_ / "runs")->path();
  EXPECT_EQ(std::distance(fs::directory_iterator(run), {}), 1);
  const fs::path report = run / "report.html";
  EXPECT_THAT(out_.str(), HasSubstr("  report        " + report.string()));
  const std::string html = ReadTextFile(report);
  EXPECT_THAT(html, AllOf(HasSubstr("<h1>20 cases: "), HasSubstr("<svg"),
                          HasSubstr("Nothing was found."),
                          HasSubstr("gauntlet explore ")));
  EXPECT_LT(html.size(), 300'000u);
}

TEST_F(ExploreCommandTest, CauseOfALostRngKeyIsInFiveLinesAndInTheReport) {
  command_.cases = 60;
  command_.stop_after = 1;
  EXPECT_EQ(Explore("planted_bugs: lose-rng-key\n"), 1);
  const std::string shown = out_.str();
  std::istringstream lines(shown.substr(shown.find("FOUND  ")));
  std::string first;
  std::string line;
  for (int i = 0; i < 5 && std::getline(lines, line); ++i) first += line + "\n";
  EXPECT_THAT(first, ContainsRegex("cause: .*rng/key"));
  const std::string html = ReadTextFile(folder_ / "found" / "report.html");
  EXPECT_THAT(html,
              AllOf(HasSubstr("rng/key"), HasSubstr("<figure class=\"swim"),
                    HasSubstr("gauntlet replay "),
                    HasSubstr("<dt>planted bug</dt><dd>lose-rng-key")));
}

TEST_F(ExploreCommandTest, ReportOfAPlantedBug_DoesNotContradictItself) {
  command_.cases = 60;
  command_.stop_after = 1;
  EXPECT_EQ(Explore("planted_bugs: lose-metrics\n"), 1);
  const std::string html = ReadTextFile(folder_ / "found" / "report.html");
  for (const char* part :
       {"planted bug <code>lose-metrics</code>",
        "The bug lose-metrics is planted in this scenario.",
        "scenario expects it and passes", "<dt>exploration seed</dt>",
        "The seed of this case is ", "not cases: its shrunk faults count only",
        "no case had a fault that fired there",
        "<p>Save it as <code>finding-001-"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, ContainsRegex("Shrunk [0-9]+ faults? \\([a-z_]+ at .*\\) "
                                  "to [0-9]+ faults? \\([a-z_]+ at "));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("the case passes in this world")),
                          Not(HasSubstr("scenario is left out"))));
}

TEST_F(ExploreCommandTest, JsonHasTheValuesBehindACause) {
  command_.cases = 60;
  command_.stop_after = 1;
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore("planted_bugs: lose-rng-key\n"), 1);
  const json finding = json::parse(out_.str())["findings"][0];
  ASSERT_FALSE(finding["differences"].empty());
  EXPECT_EQ(finding["differences"][0]["tensors"][0]["name"], "rng/key");
}

TEST_F(ExploreCommandTest, Report_HasCrashStatesAndUntriedParts) {
  command_.mode = ExploreMode::kCrashStates;
  command_.stop_after = 1;
  EXPECT_EQ(Explore("planted_bugs: skip-manifest-fsync\n"), 1);
  const std::string html = ReadTextFile(folder_ / "found" / "report.html");
  EXPECT_THAT(html, AllOf(HasSubstr("id=\"crash-state-1\""),
                          HasSubstr("unfinished</span>"),
                          HasSubstr("the rest of the crash states: "),
                          HasSubstr("<td class=\"wide\">fault plans</td>")));
}

TEST_F(ExploreCommandTest, ReportNamesKindsThatWereNotTried) {
  command_.cases = 20;
  command_.kinds = {FaultKind::kCrash};
  EXPECT_EQ(Explore(), 0);
  const std::string html = ReadTextFile(folder_ / "found" / "report.html");
  EXPECT_THAT(html, AllOf(HasSubstr("not among those of --kinds"),
                          HasSubstr("the base has no device"),
                          HasSubstr("choose plans alone")));
}

TEST_F(ExploreCommandTest, ShardWithoutACaseHasNothingSelected) {
  command_.cases = 2;
  command_.shard = {.index = 3, .count = 3};
  EXPECT_EQ(Explore(), 4);
  EXPECT_THAT(err_.str(), HasSubstr("nothing selected: shard 3 of 3 has no"));
}

TEST_F(ExploreCommandTest, TestRunnersChooseTheShard) {
  setenv("TEST_TOTAL_SHARDS", "4", 1);
  setenv("TEST_SHARD_INDEX", "1", 1);
  command_.cases = 40;
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(), HasSubstr("shard 2 of 4"));
  EXPECT_THAT(out_.str(), HasSubstr("10 cases in "));
  command_.seed.reset();
  EXPECT_EQ(Explore(), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("divides this into shards: expected --seed"));
  setenv("TEST_SHARD_INDEX", "4", 1);
  EXPECT_EQ(Explore(), 2);
  EXPECT_THAT(err_.str(), HasSubstr("TEST_SHARD_INDEX"));
  unsetenv("TEST_TOTAL_SHARDS");
  unsetenv("TEST_SHARD_INDEX");
}

TEST_F(ExploreCommandTest, BaseFailingWithoutFaults_IsNotExplored) {
  command_.cases = 60;
  more_of_cluster_ = ", save_timeout: 1ms, restart: {max: 0}";
  EXPECT_EQ(Explore(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("base fails even without faults, so "
                                    "nothing was tried: as it is, "));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ExploreCommandTest, BaseNotPossibleInSimulation_HasNoVerdict) {
  command_.cases = 60;
  EXPECT_EQ(Explore("requires: {gpus: 8}\n"), 3);
  EXPECT_THAT(err_.str(), HasSubstr("needs 8 GPUs, found 0"));
}

TEST_F(ExploreCommandTest, HeadHasTheOverridesOfTheBase) {
  command_.cases = 20;
  more_of_cluster_ = ", restart: {policy: none, max: 0}";
  EXPECT_EQ(Explore(), 0) << err_.str() << out_.str();
  EXPECT_THAT(out_.str(),
              HasSubstr("not the base's own: restart policy whole-job instead "
                        "of none, restart max 20 instead of 0, "));
}

TEST_F(ExploreCommandTest, MistakeInTheBaseIsShownAsRunShowsIt) {
  more_of_job_ = "  foo: 1\n";
  EXPECT_EQ(Explore(), 2);
  EXPECT_THAT(err_.str(), ContainsRegex("base.yaml:[0-9]+:3: error: unknown "
                                        "key 'foo' in 'job'\n +[0-9]+ |"));
  EXPECT_TRUE(err_.str().ends_with("\n"));
}

TEST_F(ExploreCommandTest, MissingBase_IsReportedInOneLine) {
  command_.base_file = (folder_ / "none.yaml").string();
  EXPECT_EQ(RunExplore(command_, console_), 2);
  EXPECT_THAT(err_.str(), StartsWith("gauntlet explore: "));
  EXPECT_THAT(err_.str(), HasSubstr("none.yaml: no such scenario file"));
}

TEST_F(ExploreCommandTest, UnmatchedNameFilter_SelectsNothing) {
  command_.name_filter = "nosuch";
  EXPECT_EQ(RunExplore(command_, console_), 4);
  EXPECT_EQ(err_.str(),
            "gauntlet explore: nothing selected: 1 case in the built-in base, "
            "none with 'nosuch' in its name\n");
}

TEST_F(ExploreCommandTest, OneCaseIsShownWithItsPlan) {
  command_.only_case = 3;
  Explore();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("  set-up        "),
                    HasSubstr("  fault         fault-1: "),
                    HasSubstr("  outcome       "), Not(HasSubstr("never"))));
}

TEST_F(ExploreCommandTest, HasNoVerdict_WhenNoFaultFires) {
  command_.kinds = {FaultKind::kCrash};
  command_.points = {Point::kReject};
  command_.cases = 5;
  command_.max_faults = 1;
  EXPECT_EQ(Explore(), 3);
  EXPECT_THAT(out_.str(), HasSubstr("5 cases in "));
  EXPECT_THAT(out_.str(), HasSubstr(": 0 passed, 0 failed, 5 fired"));
  EXPECT_THAT(err_.str(), HasSubstr("inconclusive: of 5 cases no fault fired"));
}

TEST_F(ExploreCommandTest, ShortRunReportsMissedGoalsInAFewLines) {
  command_.cases = 20;
  EXPECT_EQ(Explore(), 0);
  EXPECT_LT(std::ranges::count(out_.str(), '\n'), 17);
  EXPECT_THAT(out_.str(),
              HasSubstr("--show-uncovered lists all that was not reached"));
  fs::remove_all(folder_ / "found");
  command_.show_uncovered = true;
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(), HasSubstr("    never "));
}

TEST_F(ExploreCommandTest, CrashStates_StopAfterTheGivenNumberOfFindings) {
  command_.mode = ExploreMode::kCrashStates;
  command_.stop_after = 1;
  EXPECT_EQ(Explore("planted_bugs: skip-manifest-fsync\n"), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("stopped: enough findings: "),
                                HasSubstr(" 1 failed "),
                                HasSubstr("unfinished   save on ")));
}

TEST_F(ExploreCommandTest,
       CrashStates_HaveNoVerdict_IfThePlantedBugShowsWithoutACrash) {
  command_.mode = ExploreMode::kCrashStates;
  EXPECT_EQ(Explore("planted_bugs: lose-position\n"), 3);
  EXPECT_THAT(err_.str(), HasSubstr("the base has a planted bug"));
}

TEST_F(ExploreCommandTest, WithoutAModePlansAndCrashStatesTakeTurns) {
  command_.cases = 160;
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore(), 0);
  const json result = json::parse(out_.str());
  EXPECT_EQ(result["mode"], "mixed");
  EXPECT_EQ(result["cases"], 160);
  const json& states = result["crash_states"];
  EXPECT_GT(states["cases"], 0);
  EXPECT_EQ(states["failed"], 0);
  EXPECT_EQ(states["parts"].size(), 10);
  command_.output = OutputFormat::kText;
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(),
              ContainsRegex("  rate  .* a thread; plus [0-9]+ crash states "
                            "a second\n"));
  EXPECT_THAT(out_.str(), ContainsRegex("  crash states  [0-9]+ at [0-9]+ "
                                        "crash points: [0-9]+ passed, 0 "
                                        "failed"));
}

TEST_F(ExploreCommandTest, CrashStateThatFailsIsAFindingOfItsOwn) {
  command_.cases = 4000;
  command_.stop_after = 1;
  EXPECT_EQ(Explore("planted_bugs: skip-manifest-fsync\n"), 1);
  EXPECT_THAT(
      out_.str(),
      AllOf(HasSubstr("FOUND  "), HasSubstr("expected "),
            HasSubstr(".crash.json\n"), HasSubstr("stopped: enough findings"),
            ContainsRegex("crash states .* [1-9][0-9]* failed")));
}

TEST_F(ExploreCommandTest, FaultsThatAreChosenAreTriedWithoutCrashStates) {
  command_.cases = 40;
  command_.kinds = {FaultKind::kCrash};
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore(), 0);
  EXPECT_TRUE(json::parse(out_.str())["crash_states"].is_null());
}

TEST_F(ExploreCommandTest, SweepOfNothingIsReported) {
  command_.mode = ExploreMode::kSweep;
  command_.kinds = {FaultKind::kFsyncFails};
  command_.points = {Point::kStepBegin};
  EXPECT_EQ(Explore(), 4);
  EXPECT_THAT(err_.str(), HasSubstr("nothing selected"));
}

TEST_F(ExploreCommandTest, StoppedSweep_ReportsTheRemainingCases) {
  command_.mode = ExploreMode::kSweep;
  command_.cases = 10;
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("stopped: --cases. 10 cases in "),
                    HasSubstr("  left          single faults in ")));
}

TEST_F(ExploreCommandTest, SweepWithoutPairsHasNoneLeft) {
  command_.mode = ExploreMode::kSweep;
  command_.kinds = {FaultKind::kCrash};
  command_.points = {Point::kRename};
  command_.max_faults = 1;
  command_.cases = 1;
  Explore();
  EXPECT_THAT(
      out_.str(),
      AllOf(HasSubstr("set-up 1 of "), HasSubstr("occurrence 1: "),
            HasSubstr("  left          single faults in "),
            HasSubstr("(in each further one at the points that none before it "
                      "came to)"),
            Not(HasSubstr("all pairs"))));
}

TEST(CommandForCaseTest, HasEveryOptionOfTheCase) {
  EXPECT_EQ(CommandForCase({}, 1, 7), "gauntlet explore --seed 1 --case 7");
  const ExploreCommand command = {
      .base_file = "scenarios/it's here.yaml",
      .name_filter = "one[keep=2]",
      .kinds = {FaultKind::kCrash, FaultKind::kBitFlip},
      .points = {Point::kStepBegin},
      .max_faults = 2,
      .verify_determinism_every = 1};
  EXPECT_EQ(CommandForCase(command, 5, 0),
            "gauntlet explore 'scenarios/it'\\''s here.yaml' --name "
            "'one[keep=2]' --kinds crash,bit_flip --points step.begin "
            "--max-faults 2 --verify-determinism-every 1 --seed 5 --case 0");
  const std::string deep = "/a/" + std::string(200, 'b') + ".yaml";
  EXPECT_EQ(CommandForCase({.base_file = deep}, 1, 7),
            "gauntlet explore " + deep + " --seed 1 --case 7");
  EXPECT_EQ(CommandForCase({.mode = ExploreMode::kSweep}, 1, 7), "");
}

TEST(CommandForExplorationTest, HasEveryOptionOfTheExploration) {
  EXPECT_EQ(CommandForExploration({}, 1), "gauntlet explore --seed 1");
  EXPECT_EQ(CommandForExploration(
                {.base_file = "a.yaml",
                 .mode = ExploreMode::kCrashStates,
                 .cases = 10,
                 .crash_states = {.profiles = {DurabilityProfile::kWeak},
                                  .windows = {CrashWindow::kSave,
                                              CrashWindow::kRot}}},
                1),
            "gauntlet explore a.yaml --mode crash-states --profiles weak "
            "--windows save,rot --cases 10");
  EXPECT_EQ(CommandForExploration({.time = std::chrono::seconds(90),
                                   .time_given = true,
                                   .first_case = 5,
                                   .jobs = 2,
                                   .stop_after = 0},
                                  3),
            "gauntlet explore --seed 3 --first-case 5 --time 90s --stop-after "
            "0 --jobs 2");
}

TEST(CommandForImageTest, HasEveryOptionOfTheCrashState) {
  EXPECT_EQ(CommandForImage({}, "weak-save-1-2-x"),
            "gauntlet explore --mode crash-states --id weak-save-1-2-x");
  EXPECT_EQ(
      CommandForImage({.base_file = "a b.yaml",
                       .name_filter = "one",
                       .crash_states = {.save = 3, .max_states = 8}},
                      "ext4-rot-0-1-x"),
      "gauntlet explore 'a b.yaml' --name one --mode crash-states --save 3 "
      "--max-states 8 --id ext4-rot-0-1-x");
}

TEST(RenderFoundTest, HangIsReportedInOneLine) {
  CampaignFinding finding;
  finding.what = {.invariant = "no-hang",
                  .name = "no-launcher",
                  .message = "no launcher came to an end:\ntask 1 waits\n"};
  EXPECT_THAT(RenderFound(finding, {.scenario = "f.yaml"}),
              HasSubstr("       no launcher came to an end:\n"
                        "       shrunk 0 faults to 0 in 0 tries\n"
                        "       replay: gauntlet replay f.yaml\n"));
}

TEST(RenderFoundTest, CauseIsTheSecondLine) {
  CampaignFinding finding;
  finding.case_number = 7;
  finding.cause = "tensor rng/key differs";
  finding.what = {"trajectory", "state-digest", "state aa, expected bb"};
  EXPECT_THAT(RenderFound(finding, {}),
              StartsWith("FOUND  case 7: trajectory (state-digest)\n"
                         "       cause: tensor rng/key differs\n"
                         "       state aa, expected bb\n"));
}

TEST(RenderFoundTest, ShrinkingThatWasCutShortIsReported) {
  CampaignFinding finding;
  finding.tries = 3;
  EXPECT_THAT(RenderFound(finding, {}),
              HasSubstr("shrunk 0 faults to 0 in 3 tries\n"));
  finding.shrunk_to_the_end = false;
  EXPECT_THAT(RenderFound(finding, {}),
              HasSubstr(" in 3 tries; shrinking was stopped, a simpler "));
}

TEST_F(ExploreCommandTest, HeadHasTheStepsOfTheHorizon) {
  command_.cases = 9;
  more_of_job_ = "  max_steps: 7\n";
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(), HasSubstr("base: 2 workers, 7 steps; "));
}

TEST_F(ExploreCommandTest, TimeIsTheBasesUndisturbedRunsToo) {
  command_.time = Duration(1);
  command_.time_given = true;
  for (const ExploreMode mode :
       {ExploreMode::kRandom, ExploreMode::kSweep, ExploreMode::kCrashStates}) {
    command_.mode = mode;
    EXPECT_EQ(Explore(), 3);
    EXPECT_EQ(err_.str(),
              "gauntlet explore: inconclusive: --time was over before the base "
              "and its set-ups had run without faults. Use a longer --time.\n");
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(ExploreCommandTest, ImplicitTimeBudget_CountsOnlyTheCases) {
  command_.time = Duration(1);
  Explore();
  EXPECT_THAT(out_.str(), HasSubstr("stopped: time budget. "));
  EXPECT_EQ(err_.str().find("undisturbed"), std::string::npos) << err_.str();
}

TEST_F(ExploreCommandTest, RareGoalsAreListedSeparately) {
  command_.cases = 60;
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(),
              ContainsRegex("  goals         [0-9]+ of [0-9]+ reached, "
                            "[0-9]+ of the others rare\n"));
}

TEST_F(ExploreCommandTest, BrokenCrashStatesAreCountedByImage) {
  command_.mode = ExploreMode::kCrashStates;
  command_.crash_states.windows = {CrashWindow::kSave};
  command_.crash_states.profiles = {DurabilityProfile::kWeak};
  command_.stop_after = 0;
  command_.output = OutputFormat::kJson;
  EXPECT_EQ(Explore("planted_bugs: skip-manifest-fsync\n"), 1);
  const json result = json::parse(out_.str());
  EXPECT_EQ(result["schema"], kExploreSchema);
  EXPECT_EQ(result["base"], "base");
  EXPECT_GT(result["failed"], 0);
  EXPECT_LT(result["failed"], result["cases"]);
  EXPECT_GT(result["failed_outcomes"], result["failed"]);
  EXPECT_GT(result["ran_twice"], 0);
  EXPECT_TRUE(fs::exists(result["findings"][0]["file"].get<std::string>()));
}

TEST_F(ExploreCommandTest, StoppedCrashStatesReportTheReasonAndTheRest) {
  command_.mode = ExploreMode::kCrashStates;
  command_.crash_states.windows = {CrashWindow::kSave};
  command_.cases = 5;
  EXPECT_EQ(Explore(), 0);
  EXPECT_THAT(out_.str(),
              AllOf(StartsWith("base: 2 workers, 12 steps; mode crash-states, "
                               "windows save\nstopped by --cases: "),
                    HasSubstr("unfinished   save on ext4, save on weak, save "
                              "on shared, save on lying-fsync")));
  EXPECT_THAT(out_.str(), Not(HasSubstr("done")));
}

}  // namespace
}  // namespace gauntlet
