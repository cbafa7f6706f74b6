#include "harness/cli/record/replay_command.h"

#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/explore/explore_command.h"
#include "harness/cli/run/run_command.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/text_file.h"
#include "reports/timeline.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kLosesTheKey = SmallScenario(R"(planted_bugs: lose-rng-key
faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: violates, invariants: [trajectory]}
)",
                                               "loses-the-key");
const std::string kScenarios =
    kLosesTheKey + "---\n" +
    SmallScenario(R"(matrix: {checkpoint.keep: [1, 2]}
expect: {outcome: completes}
)",
                  "loses-nothing");

// Runs both scenarios of kScenarios in the simulated world before each test, in
// a temporary folder.
class ReplayCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        fmt::format(
            "replay-{}",
            testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ASSERT_TRUE(WriteTextFile(folder_ / "s.yaml", kScenarios).ok());
    RunInto(runs(), folder_ / "s.yaml");
  }
  void RunInto(const std::string& runs, const fs::path& file) {
    RunCommand run;
    run.paths = {file.string()};
    run.world = WorldChoice::kSimulated;
    run.runs_directory = runs;
    ASSERT_EQ(RunScenarios(run, console_), 0) << err_.str();
    out_.str("");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string runs() const { return (folder_ / "runs").string(); }

  int Replay(const std::string& target,
             WorldChoice world = WorldChoice::kBoth) {
    out_.str("");
    err_.str("");
    return RunReplay(
        {.target = target, .world = world, .runs_directory = runs()}, console_);
  }
  std::string Id() const {
    return fs::read_symlink(folder_ / "runs" / "latest").string();
  }
  fs::path RecordOf(const std::string& one) const {
    return folder_ / "runs" / "latest" / (one + ".sim") / "record.jsonl";
  }

  fs::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(ReplayCommandTest, RecordedCaseComesBackAndItsCauseIsNamed) {
  EXPECT_EQ(Replay("latest/loses-the-key"), 0) << err_.str();
  EXPECT_THAT(
      out_.str(),
      AllOf(StartsWith("loses-the-key (sim): 1 fault, "),
            HasSubstr(" events recorded\nreproduced: planted bug caught: "
                      "trajectory state-digest: resumed at step 4 "),
            HasSubstr("the state loaded at step 4 differs: rng/key (key "
                      "of the random numbers) is ")));
}

TEST_F(ReplayCommandTest, CountsTheSameEventsAsATimeline) {
  const Parsed<Record> record =
      ReadRecord(ReadTextFile(RecordOf("loses-the-key")), "r");
  ASSERT_TRUE(record.ok()) << record.error;
  ASSERT_FALSE(record.value->launchers.at(0).events.empty());
  EXPECT_EQ(Replay("latest/loses-the-key"), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              HasSubstr(fmt::format("1 fault, {} events recorded\n",
                                    TimelineOf(*record.value, {}).events)));
}

TEST_F(ReplayCommandTest, RunCanBeNamedByItsBeginningAndACaseByItsFolder) {
  const std::string id = Id();
  EXPECT_EQ(Replay(id + "/loses-the-key.sim"), 0) << err_.str();
  EXPECT_EQ(Replay(id.substr(0, id.size() - 1) + "/loses-t"), 0) << err_.str();
  EXPECT_EQ(Replay(RecordOf("loses-the-key").string()), 0) << err_.str();
  EXPECT_EQ(Replay(RecordOf("loses-the-key").parent_path().string()), 0)
      << err_.str();
}

TEST_F(ReplayCommandTest, RunAloneIsAllOfItsCases) {
  EXPECT_EQ(Replay("latest"), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("loses-nothing[keep=1] (sim): "),
                                HasSubstr("loses-nothing[keep=2] (sim): "),
                                HasSubstr("loses-the-key (sim): ")));
}

TEST_F(ReplayCommandTest, SeedFromTheCommandLineIsTheRecordsToo) {
  RunCommand run;
  run.paths = {(folder_ / "s.yaml").string()};
  run.world = WorldChoice::kSimulated;
  run.seed = UINT64_MAX;
  run.runs_directory = runs();
  ASSERT_EQ(RunScenarios(run, console_), 0) << err_.str();
  EXPECT_EQ(Replay("latest/loses-the-key"), 0) << out_.str() << err_.str();
}

// Returns a scenario with two crashes. After the crash in step 2, the job
// starts from scratch. After the crash in step 6, it resumes from step 4
// without the RNG key.
std::string ResumesWithoutTheKey(const std::string& more_faults,
                                 const std::string& expect) {
  return SmallScenario(R"(planted_bugs: lose-rng-key
faults:
  - id: early
    at: {worker: 0, step: 2, point: step.begin}
    do: crash
  - id: late
    at: {worker: 1, step: 6, point: step.begin, incarnation: any}
    do: crash
)" + more_faults + "expect: {" +
                           expect + "}\n",
                       "two-crashes");
}

std::string SlowFault(int step) {
  return fmt::format(R"(  - id: slow-{0}
    at: {{worker: 1, step: {0}, point: step.begin, incarnation: any}}
    do: slow
    with: {{latency: 10ms}}
)",
                     step);
}

TEST_F(ReplayCommandTest, FailedCaseIsRunWithoutEachOfItsFaults) {
  const std::string file = (folder_ / "two.yaml").string();
  ASSERT_TRUE(WriteTextFile(
                  file, ResumesWithoutTheKey(SlowFault(3), "outcome: recovers"))
                  .ok());
  EXPECT_EQ(Replay(file), 0) << err_.str();
  EXPECT_THAT(
      out_.str(),
      EndsWith("  without fault early: still fails, trajectory state-digest\n"
               "  without fault late: passes\n"
               "  without fault slow-3: still fails, trajectory "
               "state-digest\n"));
}

TEST_F(ReplayCommandTest, AnotherOutcomeWithoutAFaultIsNamed) {
  const std::string file = (folder_ / "two.yaml").string();
  ASSERT_TRUE(
      WriteTextFile(file, ResumesWithoutTheKey("",
                                               "outcome: recovers, "
                                               "resumed_from: {step: 4}"))
          .ok());
  EXPECT_EQ(Replay(file), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("  without fault late: other outcome: FAIL "
                                    "expectation resumed_from: "));
}

TEST_F(ReplayCommandTest, CauseNamesTheFaultThatFailedTheDevice) {
  std::string text = SmallScenario(R"(seed: 7
planted_bugs: trust-a-failed-device
faults:
  - id: gpu
    at: {worker: 1, step: 5, point: step.end}
    do: gpu_error
expect: {outcome: recovers}
)");
  const std::string workers = "{workers: 2}";
  text.replace(text.find(workers), workers.size(),
               "{workers: 2, device: emulated}");
  const std::string file = (folder_ / "device.yaml").string();
  ASSERT_TRUE(WriteTextFile(file, text).ok());
  EXPECT_EQ(Replay(file), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("  first difference: the state after step 5, "
                              "tensor adam/m/dense0/bias, worker 1, "),
                    HasSubstr("; fault gpu (gpu_error worker 1 at step.end, "
                              "step 5) fired in worker 1 at step 5; then "
                              "worker 1 exited with code 1: save of step "
                              "8: ")));
}

// Returns a scenario whose run refuses to start: the only checkpoint is damaged
// when worker 1 crashes in step 6.
std::string RefusesToStart() {
  return SmallScenario(R"(faults:
  - id: rot
    at: {worker: 1, save: 1, point: ckpt.shard.write, offset: 0%}
    do: bit_flip
    with: {offset: 75%}
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: recovers}
)",
                       "refuses");
}

// Without the crash, the outcome is not the expected one either.
TEST_F(ReplayCommandTest, OtherWrongOutcome_IsNamed) {
  const std::string file = (folder_ / "refuses.yaml").string();
  ASSERT_TRUE(WriteTextFile(file, RefusesToStart()).ok());
  EXPECT_EQ(Replay(file), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("outcome: expected recovers, found refuses"),
                    HasSubstr("  without fault rot: passes\n"),
                    HasSubstr("  without fault crash: other outcome: FAIL "
                              "expectation outcome: expected recovers, found "
                              "completes\n")));
}

// The unmet expectation does not depend on the fault.
TEST_F(ReplayCommandTest, SameUnmetExpectationStillFails) {
  const std::string file = (folder_ / "two.yaml").string();
  std::string text = ResumesWithoutTheKey(
      SlowFault(3), "outcome: recovers, saves: {exactly: 99}");
  text.replace(text.find("planted_bugs: lose-rng-key\n"), 27, "");
  ASSERT_TRUE(WriteTextFile(file, text).ok());
  EXPECT_EQ(Replay(file), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("  without fault slow-3: still fails, "
                                    "expectation saves\n"));
}

TEST_F(ReplayCommandTest, OnlySixteenFaultsAreLeftOut) {
  std::string slow;
  for (int step = 1; step <= 11; ++step) slow += SlowFault(step);
  for (int step = 1; step <= 4; ++step) {
    slow += SlowFault(step);
    const std::string id = fmt::format("slow-{}\n", step);
    slow.replace(slow.rfind(id), id.size(), fmt::format("more-{}\n", step));
  }
  const std::string file = (folder_ / "many.yaml").string();
  ASSERT_TRUE(
      WriteTextFile(file, ResumesWithoutTheKey(slow, "outcome: recovers"))
          .ok());
  EXPECT_EQ(Replay(file), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("without fault more-3: "),
                    Not(HasSubstr("without fault more-4: ")),
                    EndsWith("  only the first 16 of 17 faults were left out, "
                             "one at a time\n")));
}

TEST_F(ReplayCommandTest, MutationTestThatPassesNeedsNoComparison) {
  const std::string file = (folder_ / "two.yaml").string();
  ASSERT_TRUE(WriteTextFile(
                  file, ResumesWithoutTheKey(
                            "", "outcome: violates, invariants: [trajectory]"))
                  .ok());
  EXPECT_EQ(Replay(file), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("reproduced: planted bug caught"),
                                Not(HasSubstr("without fault"))));
}

TEST_F(ReplayCommandTest, ScenarioMayBeGoneMeanwhile) {
  fs::remove(folder_ / "s.yaml");
  EXPECT_EQ(Replay("latest/loses-nothing[keep=2]"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("reproduced: PASS\n"));
}

TEST_F(ReplayCommandTest, UsesTheRecordsSeed_WhenItsScenarioIsGone) {
  RunCommand run;
  run.paths = {(folder_ / "s.yaml").string()};
  run.world = WorldChoice::kSimulated;
  run.seed = 5;
  run.runs_directory = runs();
  ASSERT_EQ(RunScenarios(run, console_), 0) << err_.str();
  fs::remove(RecordOf("loses-the-key").parent_path() / "scenario.yaml");
  EXPECT_EQ(Replay("latest/loses-the-key"), 0) << out_.str() << err_.str();
}

TEST_F(ReplayCommandTest, NamesBothScenarioFiles_IfBothAreMissing) {
  const fs::path scenario =
      RecordOf("loses-the-key").parent_path() / "scenario.yaml";
  fs::remove(scenario);
  fs::remove(folder_ / "s.yaml");
  EXPECT_EQ(Replay("latest/loses-the-key"), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("/scenario.yaml: expected the scenario of the case, "
                        "found none; '" +
                        (folder_ / "s.yaml").string() +
                        "', which the case was read from, is gone too"));
}

TEST_F(ReplayCommandTest, FirstEventThatDiffersIsShown) {
  const fs::path file = RecordOf("loses-the-key");
  Parsed<Record> record = ReadRecord(ReadTextFile(file), "r");
  ASSERT_TRUE(record.ok()) << record.error;
  for (RecordEvent& event : record.value->incarnations[0].events) {
    if (event.kind == RecordKind::kStep && event.step == 3) event.count += 1;
  }
  ASSERT_TRUE(WriteTextFile(file, RecordToJsonLines(*record.value)).ok());
  EXPECT_EQ(Replay("latest/loses-the-key"), 3);
  EXPECT_THAT(out_.str(), testing::ContainsRegex(
                              "differs: first divergence: event [0-9]+ "
                              "\\(worker 0, incarnation 1, step 3\\): recorded "
                              "step, at .*; now step, at "));
}

TEST_F(ReplayCommandTest, ScenarioIsRunTwice) {
  EXPECT_EQ(Replay((folder_ / "s.yaml").string()), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              HasSubstr("loses-the-key (sim): 1 fault, nothing "
                        "recorded: run twice\nreproduced: planted bug"));
}

// The scenario of a finding expects the correct outcome. So the finding is
// reproduced only if the run fails.
TEST_F(ReplayCommandTest, FindingWithoutAViolation_IsNotReproduced) {
  std::string text = kLosesTheKey;
  text.insert(text.find("preset:"), "labels: [finding]\n");
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("{outcome: violates, invariants: [trajectory]}",
          "{outcome: recovers}");
  const fs::path file = folder_ / "finding.yaml";
  ASSERT_TRUE(WriteTextFile(file, text).ok());
  EXPECT_EQ(Replay(file.string()), 0) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("reproduced: FAIL trajectory "));
  replace("planted_bugs: lose-rng-key\n", "");
  ASSERT_TRUE(WriteTextFile(file, text).ok());
  EXPECT_EQ(Replay(file.string()), 3);
  EXPECT_THAT(out_.str(),
              HasSubstr("differs: the finding does not occur: PASS\n"));
}

// The run violates something, but not what the finding names.
TEST_F(ReplayCommandTest, FindingWithAnotherViolation_IsNotReproduced) {
  std::string text = kLosesTheKey;
  const fs::path file = folder_ / "finding.yaml";
  for (const auto& [found, code] : {std::pair("trajectory/state-digest", 0),
                                    {"resume-point/stale-resume", 3}}) {
    std::string one = text;
    one.insert(one.find("preset:"),
               fmt::format("labels: [finding, 'found:{}']\n", found));
    ASSERT_TRUE(WriteTextFile(file, one).ok());
    EXPECT_EQ(Replay(file.string()), code) << out_.str() << err_.str();
  }
  EXPECT_THAT(out_.str(),
              HasSubstr("the finding resume-point (stale-resume) does not "
                        "occur: planted bug caught"));
}

TEST_F(ReplayCommandTest, NamesTheFindingBeforeOtherViolations) {
  std::string text = kLosesTheKey;
  text.insert(text.find("preset:"),
              "labels: [finding, 'found:samples/other-rows']\n");
  const fs::path file = folder_ / "finding.yaml";
  ASSERT_TRUE(WriteTextFile(file, text).ok());
  EXPECT_EQ(Replay(file.string()), 0) << out_.str();
  EXPECT_THAT(
      out_.str(),
      AllOf(HasSubstr(
                "reproduced: planted bug caught: samples other-rows: step "),
            HasSubstr("; first of all trajectory state-digest\n")));
}

TEST_F(ReplayCommandTest, ExplorationsRunIsItsFindings) {
  ExploreCommand explore;
  explore.base_file = (folder_ / "base.yaml").string();
  explore.cases = 40;
  explore.runs_directory = runs();
  std::string text = kLosesTheKey;
  text.resize(text.find("faults:"));
  ASSERT_TRUE(
      WriteTextFile(explore.base_file, text + "expect: {outcome: completes}\n")
          .ok());
  ASSERT_EQ(RunExplore(explore, console_), 1) << err_.str();
  const std::string output = out_.str();
  const size_t begin = output.find(runs()) + runs().size() + 1;
  const std::string id = output.substr(begin, output.find('/', begin) - begin);
  EXPECT_EQ(Replay(id), 0) << id << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("reproduced: "));
  EXPECT_EQ(Replay(id + "/finding-001"), 0) << err_.str();
}

TEST_F(ReplayCommandTest, CaseThatIsSkippedIsNotReproduced) {
  const fs::path file = folder_ / "gpus.yaml";
  ASSERT_TRUE(WriteTextFile(file, "requires: {gpus: 8}\n" + kLosesTheKey).ok());
  EXPECT_EQ(Replay(file.string()), 3);
  EXPECT_THAT(out_.str(), HasSubstr("skipped: needs 8 GPUs, found 0\n"));
}

TEST_F(ReplayCommandTest, CaseSkippedInTheRecord_IsReproduced) {
  const fs::path file = folder_ / "gpus.yaml";
  ASSERT_TRUE(WriteTextFile(file, "requires: {gpus: 8}\n" + kLosesTheKey).ok());
  RunInto(runs(), file);
  EXPECT_EQ(Replay("latest"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("skipped: needs 8 GPUs, found 0\n"));
}

TEST_F(ReplayCommandTest, FolderWithoutRuns_IsNoRun) {
  const fs::path folder = folder_ / "lonely";
  fs::create_directory(folder);
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(RunReplay({.target = "lonely",
                       .world = WorldChoice::kBoth,
                       .runs_directory = "none"},
                      console_),
            2);
  fs::current_path(before);
  EXPECT_THAT(err_.str(), HasSubstr("a folder without record.jsonl"));
}

TEST_F(ReplayCommandTest, MistakeInAScenarioIsShownAsRunShowsIt) {
  const fs::path file = folder_ / "bad.yaml";
  ASSERT_TRUE(WriteTextFile(file, "foo: 1\n" + kLosesTheKey).ok());
  EXPECT_EQ(Replay(file.string()), 2);
  EXPECT_THAT(err_.str(), AllOf(StartsWith(file.string() + ":1:1: error: "
                                                           "unknown key 'foo'"),
                                HasSubstr("\n  1 | foo: 1\n    | ^")));
}

TEST_F(ReplayCommandTest, ManyRuns_AreListedWithTheNumberOfOthers) {
  for (int i = 0; i < 6; ++i) {
    fs::create_directories(folder_ / "runs" / fmt::format("old-{}", i));
  }
  EXPECT_EQ(Replay("xyzzy"), 2);
  EXPECT_THAT(err_.str(), HasSubstr(" and 3 more\n"));
}

TEST_F(ReplayCommandTest, CrashStateIsRepeatedByItsFileAndByItsId) {
  ExploreCommand explore;
  explore.base_file = (folder_ / "cut.yaml").string();
  explore.mode = ExploreMode::kCrashStates;
  explore.crash_states.windows = {CrashWindow::kSave};
  explore.crash_states.profiles = {DurabilityProfile::kExt4};
  explore.stop_after = 1;
  explore.runs_directory = runs();
  std::string text = kLosesTheKey;
  text.resize(text.find("faults:"));
  text += "expect: {outcome: completes}\n";
  text.replace(text.find("lose-rng-key"), 12, "acknowledge-before-rename");
  ASSERT_TRUE(WriteTextFile(explore.base_file, text).ok());
  EXPECT_EQ(RunExplore(explore, console_), 1) << err_.str();
  const std::string output = out_.str();
  const std::string file = output.substr(output.find("gauntlet replay ") + 16);
  EXPECT_EQ(Replay(file.substr(0, file.find('\n'))), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("reproduced: expected the state of step"));
  const size_t found = output.find("FOUND  ") + 7;
  const std::string id = output.substr(found, output.find(':', found) - found);
  EXPECT_EQ(Replay(id), 0) << id << err_.str();
  EXPECT_EQ(Replay("finding-001"), 0) << err_.str();
  EXPECT_EQ(Replay("finding-001", WorldChoice::kReal), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--world: expected sim, found real: "));
}

TEST_F(ReplayCommandTest, RefusesAnAmbiguousFinding) {
  const fs::path findings = folder_ / "runs" / "20990101T000000-1" / "findings";
  fs::create_directories(findings);
  for (const char* name : {"finding-001-a.yaml", "finding-002-b.yaml",
                           "finding-002-b.plan.json"}) {
    ASSERT_TRUE(WriteTextFile(findings / name, kLosesTheKey).ok());
  }
  EXPECT_EQ(Replay("finding-00"), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("finding 'finding-00': more than one begins so: "
                        "finding-001-a.yaml, finding-002-b.yaml\n"));
  EXPECT_EQ(Replay("finding-002"), 0) << err_.str();
  EXPECT_EQ(Replay("2099/finding-009"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("finding 'finding-009': there is none in " +
                                    findings.string()));
}

TEST_F(ReplayCommandTest, UnwritableFolderIsAUsageError) {
  const std::string scenario = (folder_ / "s.yaml").string();
  EXPECT_EQ(
      RunReplay({.target = scenario, .runs_directory = "/proc/runs"}, console_),
      2);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("gauntlet replay: /proc/runs: "),
                    HasSubstr("; a replay writes there. Choose another folder "
                              "with --runs DIR, and name a case of this one by "
                              "its path, such as /proc/runs/RUN/CASE.sim\n")));
}

TEST_F(ReplayCommandTest, MissingFindingIsReportedWithTheSearchedFolder) {
  EXPECT_EQ(Replay("finding-009"), 2);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("finding 'finding-009': there is none in " +
                              runs() + "/*/findings; "),
                    HasSubstr("with --out, give the path of the file")));
  EXPECT_EQ(Replay("weak-save-17-3-0.2"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("finding 'weak-save-17-3-0.2': there is "
                                    "none in "));
}

TEST_F(ReplayCommandTest, Plan_IsRefusedAndItsScenarioSuggested) {
  const fs::path plan = folder_ / "finding-001-x.plan.json";
  ASSERT_TRUE(WriteTextFile(plan, "{}").ok());
  EXPECT_EQ(Replay(plan.string()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("a plan alone is no case: expected a "
                                    "scenario; "));
  const std::string scenario = folder_ / "finding-001-x.yaml";
  ASSERT_TRUE(WriteTextFile(scenario, kLosesTheKey).ok());
  EXPECT_EQ(Replay(plan.string()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("such as " + scenario));
}

TEST_F(ReplayCommandTest, Result_IsRefusedAndACaseFolderSuggested) {
  const fs::path run = folder_ / "runs" / "latest";
  EXPECT_EQ(Replay((run / "result.json").string()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("result.json: the result of a run is no "
                                    "case: expected the folder of a case, "
                                    "such as " +
                                    (run / "").string()));
  EXPECT_THAT(err_.str(), HasSubstr(".sim; gauntlet report takes a result\n"));
  const fs::path alone = folder_ / "result.json";
  fs::copy_file(run / "result.json", alone);
  EXPECT_EQ(Replay(alone.string()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("the folder of a case; gauntlet report"));
}

struct BadTarget {
  std::string target;
  std::string message;
};

TEST_F(ReplayCommandTest, SuggestsSimilarNames_WhenTheTargetIsMissing) {
  ASSERT_TRUE(WriteTextFile(folder_ / "report.html", "<html>").ok());
  const std::vector<BadTarget> table = {
      {"latets", "run 'latets': there is none; did you mean latest?"},
      {"xyzzy",
       fmt::format("run 'xyzzy': there is none; there are {}, latest", Id())},
      {"latest/loses-teh-key",
       "case 'loses-teh-key': there is none; did you mean loses-the-key?"},
      {"latest/loses",
       "case 'loses': more than one begins so: loses-nothing[keep=1], "
       "loses-nothing[keep=2], loses-the-key"},
      {"latest/../..",
       "case '../..': there is none; there are "
       "loses-nothing[keep=1], loses-nothing[keep=2], "
       "loses-the-key"},
      {"finding", "finding 'finding': there is none in "},
      {"findings/x.yaml",
       "'findings/x.yaml': there is no such scenario, record or case's folder"},
      {"/nowhere/s.yaml",
       "'/nowhere/s.yaml': there is no such scenario, record or case's folder"},
      {"", "run '': "},
      {runs(), fmt::format("'{}': expected a scenario, a record or a case's "
                           "folder, found a folder without record.jsonl",
                           runs())},
      {(folder_ / "report.html").string(),
       fmt::format("'{}': expected a scenario (a file that ends in .yaml or "
                   ".yml), a record.jsonl or a case's folder; a case of the "
                   "last run: gauntlet replay latest/CASE",
                   (folder_ / "report.html").string())},
      {"/dev/null",
       "'/dev/null': expected a scenario, a record or a case's "
       "folder, found what is no regular file"},
  };
  for (const BadTarget& bad : table) {
    EXPECT_EQ(Replay(bad.target), 2) << bad.target;
    EXPECT_THAT(err_.str(), StartsWith("gauntlet replay: " + bad.message))
        << bad.target;
  }
  fs::remove(RecordOf("loses-the-key"));
  EXPECT_EQ(Replay("latest/loses-the-key"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("case 'loses-the-key': there is none"));
}

TEST_F(ReplayCommandTest, ReportsAFolderWithoutARun) {
  const auto replay = [&](const fs::path& runs) {
    err_.str("");
    return RunReplay({.target = "latest", .runs_directory = runs.string()},
                     console_);
  };
  EXPECT_EQ(replay(folder_ / "none"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("run 'latest': there is no folder "));
  EXPECT_THAT(err_.str(), HasSubstr("/none, which gauntlet run creates; "));
  EXPECT_EQ(replay(folder_ / "s.yaml"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("/s.yaml, found a file; for runs kept "));
  fs::create_directories(folder_ / "explored" / "20990101T000000-1");
  EXPECT_EQ(replay(folder_ / "explored"), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("run 'latest': there is none; there is "
                        "20990101T000000-1; latest is the last of gauntlet "
                        "run, and what an exploration found has a name such "
                        "as finding-001\n"));
}

TEST_F(ReplayCommandTest, TornOrForeignRecord_IsReportedInOneLine) {
  const fs::path file = RecordOf("loses-the-key");
  const std::string whole = ReadTextFile(file);
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), std::string("{"), std::string(),
        std::string(1000, '['), std::string("\0\1\2", 3)}) {
    ASSERT_TRUE(WriteTextFile(file, text).ok());
    EXPECT_EQ(Replay(file.string()), 2);
    EXPECT_THAT(err_.str(), HasSubstr(file.filename().string()));
  }
}

TEST_F(ReplayCommandTest, NameThatNoCaseCanHave_IsRefusedAndShortened) {
  const fs::path file = RecordOf("loses-the-key");
  Parsed<Record> record = ReadRecord(ReadTextFile(file), "r");
  ASSERT_TRUE(record.ok()) << record.error;
  record.value->case_name = std::string(100'000, 'x');
  ASSERT_TRUE(WriteTextFile(file, RecordToJsonLines(*record.value)).ok());
  EXPECT_EQ(Replay(file.string()), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected the name of a case, without a "
                                    "slash and of at most 250 bytes, found "));
  EXPECT_LT(err_.str().size(), 1000u);
}

TEST_F(ReplayCommandTest, AnotherPlanThanTheRecordsIsRefused) {
  const fs::path scenario =
      RecordOf("loses-the-key").parent_path() / "scenario.yaml";
  std::string text = ReadTextFile(scenario);
  text.replace(text.find("step: 6"), 7, "step: 7");
  ASSERT_TRUE(WriteTextFile(scenario, text).ok());
  EXPECT_EQ(Replay("latest/loses-the-key"), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("the faults of 'loses-the-key' are not those "
                        "of the record any more"));
}

TEST_F(ReplayCommandTest, Result_HasACommandToRepeatEachCase) {
  const std::string runs = (folder_ / "a user's").string();
  RunInto(runs, folder_ / "s.yaml");
  const fs::path latest = fs::path(runs) / "latest";
  const Parsed<RunResult> result =
      ReadResult(ReadTextFile(latest / "result.json"), "r");
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(
      result.value->cases[0].replay,
      fmt::format("gauntlet replay {}/loses-the-key --runs '{}/a user'\\''s'",
                  fs::read_symlink(latest).string(), folder_.string()));
}

TEST_F(ReplayCommandTest, LeavesNothingBehind) {
  EXPECT_EQ(Replay("latest/loses-the-key"), 0);
  for (const auto& entry : fs::directory_iterator(folder_ / "runs")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".replay"));
  }
}

}  // namespace
}  // namespace gauntlet
