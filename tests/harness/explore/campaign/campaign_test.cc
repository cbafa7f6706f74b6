#include "harness/explore/campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/real/posix/system_clock.h"
#include "harness/explore/campaign/finding_files.h"
#include "harness/explore/trial/case_report.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

Case BaseOf(const fs::path& file) {
  const std::string text = ReadTextFile(fs::path(GAUNTLET_SCENARIOS) / file);
  return LoadScenarios(text, file.string()).cases.at(0);
}

class Silent final : public CampaignObserver {
 public:
  void Progress(const CampaignReport&) override {}
  void Found(const CampaignFinding&) override {}
  void FoundCrashState(const CrashStateFinding&) override {}
  bool Interrupted() override { return interrupted; }
  bool interrupted = false;
};

CampaignReport Explored(const Case& base, const CampaignOptions& options) {
  References references("", "test");
  SystemClock clock;
  Silent observer;
  return RunCampaign(base, options, references, clock, observer).value();
}

std::string FirstFindingOf(const CampaignReport& report) {
  if (report.findings.empty()) return "";
  const CampaignFinding& finding = report.findings.front();
  return finding.what.invariant + ": " + finding.what.message + "\n" +
         PlanToJson(finding.plan);
}

TEST(CampaignTest, BaseHoldsUnderRandomFaults) {
  const CampaignReport report =
      Explored(BaseOf("explore/base.yaml"), {.max_cases = 600});
  EXPECT_EQ(report.cases, 600u);
  EXPECT_EQ(report.failed, 0u) << FirstFindingOf(report);
  EXPECT_EQ(report.nondeterministic, 0u);
  EXPECT_GT(report.coverage.PointsHit().size(), 30u);
  EXPECT_GE(report.ran_twice, 600u / 16);
}

CampaignOptions WithCrashStates(CampaignOptions options) {
  options.crash_states =
      CrashStateOptions{.bound = {.names_up_to = 4, .combinations_up_to = 4}};
  return options;
}

TEST(CampaignTest, CrashStatesOfEachWindowComeInTheFirstHundredCases) {
  const CampaignReport report = Explored(BaseOf("explore/base.yaml"),
                                         WithCrashStates({.max_cases = 100}));
  EXPECT_EQ(report.cases, 100u);
  ASSERT_TRUE(report.crash_states.has_value());
  ASSERT_EQ(report.crash_states->counts.size(), 6u);
  for (const CrashStateCounts& counts : report.crash_states->counts) {
    EXPECT_GT(counts.images_distinct, 0u) << CrashWindowName(counts.window);
  }
  EXPECT_EQ(report.crash_states->images_failed, 0u);
  EXPECT_FALSE(report.crash_states->finished());
}

TEST(CampaignTest, FindsBugThatOnlyCrashStatesShow) {
  Case base = BaseOf("explore/base.yaml");
  base.plan.bugs = {PlantedBug::kSkipManifestSync};
  const CampaignReport report = Explored(
      base,
      WithCrashStates(
          {.max_cases = 4000, .kinds = {FaultKind::kCrash}, .stop_after = 1}));
  EXPECT_EQ(report.end, CampaignEnd::kFindings);
  EXPECT_TRUE(report.findings.empty());
  ASSERT_TRUE(report.crash_states.has_value());
  EXPECT_GT(report.crash_states->images_failed, 0u);
}

TEST(CampaignTest, BaseWithoutSavesIsExploredWithoutCrashStates) {
  Case base = BaseOf("explore/base.yaml");
  base.train.checkpoint.trigger = {.unit = SaveUnit::kNone};
  base.train.checkpoint.at_success = AtSuccess::kLeaveCheckpoints;
  const CampaignReport report =
      Explored(base, WithCrashStates({.max_cases = 40}));
  EXPECT_EQ(report.cases, 40u);
  EXPECT_FALSE(report.crash_states.has_value());
  EXPECT_NE(report.why_no_crash_states.find("expected a run of at least"),
            std::string::npos)
      << report.why_no_crash_states;
}

TEST(CampaignTest, InFewPlansNothingFires) {
  const CampaignReport report =
      Explored(BaseOf("explore/base.yaml"), {.max_cases = 400});
  EXPECT_LT(report.fired_nothing, 400u / 10);
}

TEST(CampaignTest, MoreThreadsFindTheSame) {
  const Case canary = BaseOf("canary/canary-loses-the-position.yaml");
  CampaignOptions options = {
      .max_cases = 120,
      .stop_after = 3,
      // These limits are never reached, so the speed of the machine has no
      // effect.
      .shrink = {.max_tries = 100000, .budget = std::chrono::hours(1)}};
  const CampaignReport one = Explored(canary, options);
  options.threads = 3;
  const CampaignReport three = Explored(canary, options);
  ASSERT_FALSE(one.findings.empty());
  ASSERT_EQ(one.findings.size(), three.findings.size());
  EXPECT_EQ(one.cases, three.cases);
  EXPECT_EQ(one.goals, three.goals);
  EXPECT_EQ(one.coverage.fired(), three.coverage.fired());
  for (size_t i = 0; i < one.findings.size(); ++i) {
    EXPECT_EQ(one.findings[i].case_number, three.findings[i].case_number);
    EXPECT_EQ(one.findings[i].plan, three.findings[i].plan);
  }
}

// The bug's effect on states is one finding. A second one appears without any
// fault, in set-ups with several launches. If workers rejoin, some of them do
// not receive the state that others hold, which gives further findings.
TEST(CampaignTest, BugThatShowsAtManyPlacesIsOneFinding) {
  const CampaignReport report =
      Explored(BaseOf("canary/canary-loses-the-metrics.yaml"),
               {.max_cases = 300, .stop_after = 0});
  EXPECT_GT(report.failed, 30u);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_LE(report.findings.size(), 5u);
  const auto most =
      std::ranges::max_element(report.findings, {}, &CampaignFinding::cases);
  EXPECT_GT(most->cases, report.failed * 9 / 10);
}

TEST(CampaignTest, FindingGetsTheSmallestSetupThatBreaks) {
  const CampaignReport report = Explored(
      BaseOf("canary/canary-loses-the-metrics.yaml"), {.stop_after = 1});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].setup.cluster.workers, 1);
}

TEST(CampaignTest, SkipsAndCountsImpossibleCases) {
  Case base = BaseOf("explore/base.yaml");
  base.needs.gpus = 1;
  const CampaignReport report = Explored(base, {.max_cases = 20});
  EXPECT_EQ(report.cases, 20u);
  EXPECT_EQ(report.skipped.at("needs a GPU, found 0"), 20u);
  EXPECT_TRUE(report.findings.empty());
}

TEST(CampaignTest, InterruptEndsItInOrder) {
  References references("", "test");
  SystemClock clock;
  Silent observer;
  observer.interrupted = true;
  const CampaignReport report =
      RunCampaign(BaseOf("explore/base.yaml"), {}, references, clock, observer)
          .value();
  EXPECT_EQ(report.end, CampaignEnd::kInterrupted);
}

TEST(CampaignTest, SweepOfOnePointEnds) {
  const CampaignReport report =
      Explored(BaseOf("explore/base.yaml"),
               {.mode = CampaignMode::kSweep,
                .max_faults = 1,
                .kinds = {FaultKind::kCrash},
                .points = {Point::kRename, Point::kSaveEnd}});
  EXPECT_EQ(report.end, CampaignEnd::kExhausted);
  EXPECT_EQ(report.failed, 0u) << FirstFindingOf(report);
  // Worker 0 passes each point in five saves; one of them is the save of the
  // last step. So the fault of a sixth case does not fire. The other worker
  // passes only the end of a save.
  EXPECT_EQ(report.cases, 6u + 1u + 6u + 6u);
}

// To reach a heartbeat, a run must take time. To reach a rejection, it needs
// damage and a restart.
TEST(CampaignTest, Sweep_ReachesPointsThatNeedSeveralFaults) {
  const CampaignReport report = Explored(
      BaseOf("explore/base.yaml"),
      {.mode = CampaignMode::kSweep,
       .kinds = {FaultKind::kCrash, FaultKind::kSlow, FaultKind::kBitFlip},
       .points = {Point::kHeartbeat, Point::kReject}});
  EXPECT_EQ(report.end, CampaignEnd::kExhausted);
  EXPECT_TRUE(report.coverage.PointsHit().contains(Point::kHeartbeat));
  EXPECT_TRUE(report.coverage.PointsHit().contains(Point::kReject));
  EXPECT_EQ(report.left, "");
  EXPECT_EQ(report.failed, 0u) << FirstFindingOf(report);
}

TEST(CampaignTest, CasesWithoutAFiredFaultDoNotCountAsPassed) {
  const CampaignReport report =
      Explored(BaseOf("explore/base.yaml"), {.max_cases = 100});
  EXPECT_EQ(report.fired_nothing, report.by_faults_fired.at(0));
  EXPECT_GT(report.fired_nothing, 0u);
  EXPECT_EQ(report.passed + report.failed + report.fired_nothing, report.cases);
}

TEST(CampaignTest, RunWithoutAnyFaultHolds) {
  const CampaignReport report =
      Explored(BaseOf("explore/base.yaml"), {.max_cases = 5, .max_faults = 0});
  EXPECT_EQ(report.passed, 5u);
}

TEST(CampaignTest, WritesEachFindingAsAScenarioThatLoads) {
  const CampaignReport report = Explored(
      BaseOf("canary/canary-loses-the-metrics.yaml"), {.stop_after = 1});
  ASSERT_FALSE(report.findings.empty());
  const CampaignFinding& finding = report.findings.front();
  const ScratchDirectory scratch;
  const fs::path directory = scratch / "findings";
  const FindingFiles files =
      WriteFinding(finding, "gauntlet explore --case 3", directory).value();
  ASSERT_FALSE(files.scenario.empty()) << files.why_no_scenario;
  const std::string text = ReadTextFile(files.scenario);
  EXPECT_TRUE(text.starts_with("# Goal:")) << text;
  EXPECT_NE(text.find("#         Found by gauntlet explore --case 3\n"),
            text.npos)
      << text;
  const LoadedFile loaded = LoadScenarios(text, "finding.yaml");
  ASSERT_EQ(loaded.cases.size(), 1u) << text;
  EXPECT_EQ(loaded.cases.front().plan.faults, finding.plan.faults);
  // The plan alone reproduces the bug too.
  const auto plan = PlanFromJson(
      ReadTextFile(fs::path(files.scenario).replace_extension(".plan.json")));
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->faults, finding.plan.faults);
  EXPECT_EQ(plan->bugs, std::vector{PlantedBug::kLoseMetrics});
  // Another exploration has written to the same folder.
  const fs::path taken =
      directory / (files.scenario.stem().string() + ".2.plan.json");
  ASSERT_TRUE(WriteNewTextFile(taken, "{}").ok());
  const FindingFiles more = WriteFinding(finding, "", directory).value();
  EXPECT_EQ(more.scenario.filename(),
            files.scenario.stem().string() + ".3.yaml");
  EXPECT_EQ(ReadTextFile(files.scenario), text);
  EXPECT_EQ(
      LoadScenarios(ReadTextFile(more.scenario), "more.yaml").cases.at(0).name,
      more.scenario.stem());
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    ++count;
    EXPECT_GT(entry.file_size(), 0u) << entry.path();
  }
  EXPECT_EQ(count, 7u) << "a scenario and two plans of each, and one plan";
}

std::vector<fs::path> Canaries() {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path(GAUNTLET_SCENARIOS) / "canary")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct CanarySearch {
  CampaignOptions options = {.max_cases = 2000, .stop_after = 1};
  size_t faults = 2;  // most that the shrunk plan may have
};

CanarySearch SearchFor(const std::string& canary) {
  CanarySearch search;
  if (canary == "canary-removes-while-fenced") {
    // A chief that is isolated and hangs needs two faults. The third is damage,
    // so that its successor resumes from the checkpoint that the chief removes.
    // Without these limits the search takes some 5000 cases; with them, up to
    // some 2000.
    search.options.max_cases = 8000;
    search.options.kinds = {FaultKind::kPartition, FaultKind::kHang,
                            FaultKind::kBitFlip};
    search.options.points = {Point::kRetireRename, Point::kLoadRead};
    search.faults = 3;
  }
  return search;
}

class CanaryTest : public testing::TestWithParam<fs::path> {};

// The search is bounded by a number of cases, so it is the same on every
// machine. It takes far less than 20 seconds of one core.
TEST_P(CanaryTest, IsFoundAndShrunkToFewFaults) {
  const CanarySearch search = SearchFor(GetParam().stem().string());
  const CampaignReport report = Explored(BaseOf(GetParam()), search.options);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_LE(report.findings.front().plan.faults.size(), search.faults)
      << FirstFindingOf(report);
  // The finding is due to the planted bug: without the bug, the plan does no
  // harm.
  References references("", "test");
  Case sound = report.findings.front().setup;
  sound.plan.bugs.clear();
  PlanRunner runner = PlanRunner::Make(sound, references).value();
  EXPECT_TRUE(runner.Try(report.findings.front().plan).findings.empty())
      << FirstFindingOf(report);
}

std::string NameOfCanary(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  std::erase_if(name, [](char c) { return c == '-'; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, CanaryTest, testing::ValuesIn(Canaries()),
                         NameOfCanary);

}  // namespace
}  // namespace gauntlet
