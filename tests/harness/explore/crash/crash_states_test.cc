#include "harness/explore/crash/crash_states.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explore/campaign/crash_finding_file.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

using enum DurabilityProfile;

CrashStateReport Explore(const CrashStateOptions& options,
                         std::vector<PlantedBug> bugs = {}) {
  static References references("", "test");
  Case one = SaveCase(4);
  one.plan.bugs = std::move(bugs);
  auto report = ExploreCrashStates(one, references, options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  return std::move(report).value();
}

std::string Describe(const CrashStateReport& report) {
  std::string text;
  for (const CrashStateFinding& finding : report.findings) {
    text += fmt::format("{} after {}\n  {}\n  expected {}\n  found {}\n",
                        finding.id, finding.event,
                        fmt::join(finding.survived, "\n  "), finding.expected,
                        finding.found);
  }
  return text;
}

class EveryProfile : public testing::TestWithParam<DurabilityProfile> {};
INSTANTIATE_TEST_SUITE_P(CrashStates, EveryProfile,
                         testing::Values(kExt4, kWeak, kShared),
                         [](const auto& profile) {
                           return std::string(ProfileName(profile.param));
                         });

TEST_P(EveryProfile, SaveAndEveryRecoverySurviveEveryCut) {
  const CrashStateReport report =
      Explore({.profiles = {GetParam()},
               .windows = {CrashWindow::kSave, CrashWindow::kRecovery,
                           CrashWindow::kClaim, CrashWindow::kRejection}});
  EXPECT_EQ(report.images_failed, 0u) << Describe(report);
  EXPECT_TRUE(report.finished());
  ASSERT_EQ(report.counts.size(), 4u);
  for (const CrashStateCounts& counts : report.counts) {
    EXPECT_GT(counts.points, 20u);
    EXPECT_GT(counts.images_distinct, counts.points);
    EXPECT_GE(counts.images_enumerated, counts.images_distinct);
    EXPECT_EQ(counts.refusals, 0u);
  }
}

// Sums of the counts of one or more reports.
struct Looked {
  uint64_t distinct = 0;
  uint64_t enumerated = 0;
  uint64_t failed = 0;
  uint64_t failed_outcomes = 0;

  bool operator==(const Looked&) const = default;

  void Add(const CrashStateReport& report) {
    for (const CrashStateCounts& counts : report.counts) {
      distinct += counts.images_distinct;
      enumerated += counts.images_enumerated;
    }
    failed += report.images_failed;
    failed_outcomes += report.outcomes_failed;
  }
};

TEST(CrashStatesTest, ShardsTogetherLookAtEachStateOnce) {
  CrashStateOptions options = {
      .profiles = {kWeak},
      .windows = {CrashWindow::kSave, CrashWindow::kRot},
      .bound = {.names_up_to = 4, .combinations_up_to = 4},
      .max_findings = 10'000};
  const std::vector<PlantedBug> bugs = {PlantedBug::kSkipManifestSync};
  const CrashStateReport whole = Explore(options, bugs);
  std::multiset<std::string> expected;
  for (const auto& finding : whole.findings) expected.insert(finding.id);
  EXPECT_GT(expected.size(), 3u);
  EXPECT_EQ(expected.size(), whole.images_failed);
  Looked all;
  Looked sum;
  all.Add(whole);
  std::multiset<std::string> found;
  for (int index = 1; index <= 3; ++index) {
    options.shard = {.index = index, .count = 3};
    const CrashStateReport part = Explore(options, bugs);
    EXPECT_TRUE(part.finished());
    EXPECT_EQ(part.counts[0].points, whole.counts[0].points);
    sum.Add(part);
    for (const auto& finding : part.findings) found.insert(finding.id);
  }
  EXPECT_EQ(sum, all);
  EXPECT_EQ(found, expected);
}

// Recovery finds the newest checkpoint or none, however much is deleted.
TEST_P(EveryProfile, DeletionSurvivesEveryCut) {
  const CrashStateReport report =
      Explore({.profiles = {GetParam()}, .windows = {CrashWindow::kDeletion}});
  EXPECT_EQ(report.images_failed, 0u) << Describe(report);
  EXPECT_TRUE(report.finished());
  EXPECT_GT(report.counts.at(0).points, 10u);
  EXPECT_GT(report.counts.at(0).images_distinct, 10u);
}

// Examines only the first states: all of them would take too long.
TEST(CrashStatesTest, FirstCrashStatesOfALyingDriveHoldNoTornState) {
  CrashStateOptions options = {.profiles = {kLyingFsync},
                               .windows = {CrashWindow::kSave}};
  uint64_t calls = 0;
  options.on_progress = [&](const CrashStateReport&) {
    return ++calls < 20 ? Proceed::kContinue : Proceed::kStop;
  };
  const CrashStateReport report = Explore(options);
  EXPECT_EQ(report.images_failed, 0u) << Describe(report);
  EXPECT_GT(report.counts.at(0).refusals, 0u);
}

// The loss is NaN from step 5 on. The fourth save is the first at which the
// newest finite checkpoint is not among the two newest.
TEST(CrashStatesTest, NewestFiniteCheckpointSurvivesEveryCut) {
  std::string text = SaveScenario(2);
  text.replace(text.find("  batch: 4\n"), 0, R"(  layers:
    - {kind: flatten}
    - {kind: dense, units: 8}
    - {kind: dense, units: 8}
    - {kind: dense, units: 8}
    - {kind: dense, units: 8}
    - {kind: dense, units: 10}
  optimizer:
    name: sgd
    schedule: {kind: piecewise, boundaries: [1], values: [0.05, 1000]}
)");
  const LoadedFile loaded = LoadScenarios(text, "save.yaml");
  ASSERT_TRUE(loaded.errors.empty()) << RenderErrors(loaded, "save.yaml", text);
  References references("", "test");
  const auto report = ExploreCrashStates(
      loaded.cases.at(0), references,
      {.profiles = {kExt4, kWeak}, .windows = {CrashWindow::kSave}, .save = 4});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->images_failed, 0u) << Describe(*report);
  EXPECT_GT(report->counts.at(0).images_distinct, 20u);
}

TEST(CrashStatesTest, OneRottenBitLeavesAnotherCheckpoint) {
  const CrashStateReport report = Explore({.windows = {CrashWindow::kRot}});
  EXPECT_EQ(report.images_failed, 0u) << Describe(report);
  EXPECT_GT(report.counts.at(0).images_distinct, 30u);
  EXPECT_EQ(report.counts.at(0).refusals, 0u);
}

// One flipped bit destroys the only checkpoint: the run must refuse, or start
// from scratch if that is allowed.
TEST(CrashStatesTest, RottenSingleCheckpointMayStartColdIfAllowed) {
  for (const bool allowed : {false, true}) {
    References references("", "test");
    Case one = SaveCase(4);
    one.train.checkpoint.keep = 1;
    one.train.checkpoint.allow_cold_start = allowed;
    const auto report =
        ExploreCrashStates(one, references, {.windows = {CrashWindow::kRot}});
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->images_failed, 0u) << Describe(*report);
    EXPECT_EQ(report->counts.at(0).refusals > 0, !allowed);
  }
}

struct Defect {
  PlantedBug bug;
  DurabilityProfile profile;
  CrashWindow window;
};
class EveryDefect : public testing::TestWithParam<Defect> {};
INSTANTIATE_TEST_SUITE_P(
    CrashStates, EveryDefect,
    testing::Values(
        Defect{PlantedBug::kSkipManifestSync, kWeak, CrashWindow::kSave},
        Defect{PlantedBug::kAcknowledgeBeforeRename, kExt4, CrashWindow::kSave},
        Defect{PlantedBug::kAcknowledgeBeforeRename, kWeak,
               CrashWindow::kRecovery},
        Defect{PlantedBug::kSkipManifestSync, kWeak, CrashWindow::kClaim},
        Defect{PlantedBug::kAcknowledgeBeforeRename, kExt4,
               CrashWindow::kRejection},
        Defect{PlantedBug::kSkipManifestSync, kWeak, CrashWindow::kDeletion},
        Defect{PlantedBug::kTrustManifestBlindly, kExt4, CrashWindow::kRot}));

TEST_P(EveryDefect, IsFoundAndItsImageFoundAgain) {
  const Defect& defect = GetParam();
  CrashStateOptions options = {.profiles = {defect.profile},
                               .windows = {defect.window}};
  const CrashStateReport report = Explore(options, {defect.bug});
  ASSERT_GT(report.images_failed, 0u);
  const CrashStateFinding& first = report.findings.at(0);
  options.only = first.id;
  const CrashStateReport again = Explore(options, {defect.bug});
  ASSERT_EQ(again.findings.size(), 1u) << first.id;
  EXPECT_EQ(again.findings[0].found, first.found);
  EXPECT_EQ(again.findings[0].survived, first.survived);
  EXPECT_EQ(again.counts.at(0).images_distinct, 1u);
}

TEST(CrashStatesTest, FindingHasItsPointOutcomeAndReason) {
  const CrashStateReport report =
      Explore({.profiles = {kExt4}, .windows = {CrashWindow::kSave}},
              {PlantedBug::kAcknowledgeBeforeRename});
  ASSERT_FALSE(report.findings.empty());
  const CrashStateFinding& first = report.findings[0];
  EXPECT_THAT(first.id, testing::StartsWith("ext4-save-"));
  EXPECT_THAT(first.event, testing::HasSubstr("/ckpt"));
  EXPECT_THAT(first.expected, testing::HasSubstr("or a later one"));
  EXPECT_THAT(first.found, testing::HasSubstr("step-"));
}

// The same state at another crash point counts as one state.
TEST(CrashStatesTest, CountsFailuresByCrashStateAndByOutcome) {
  const CrashStateReport report =
      Explore({.profiles = {kWeak}, .windows = {CrashWindow::kSave}},
              {PlantedBug::kSkipManifestSync});
  EXPECT_GT(report.images_failed, 0u);
  EXPECT_LT(report.images_failed, report.counts.at(0).images_distinct);
  EXPECT_GT(report.outcomes_failed, report.images_failed);
  EXPECT_LE(report.outcomes_failed, report.counts.at(0).images_enumerated);
}

TEST(CrashStatesTest, CrashStatesAreRecoveredTwiceAndCompared) {
  const CrashStateReport report = Explore(
      {.profiles = {kExt4}, .windows = {CrashWindow::kSave}, .twice_every = 2});
  EXPECT_EQ(report.ran_twice, (report.counts.at(0).images_distinct + 1) / 2);
  EXPECT_EQ(report.nondeterministic, 0u);
}

TEST(CrashStatesTest, ReportsUnfinishedParts) {
  const CrashStateReport report =
      Explore({.profiles = {kExt4, kWeak},
               .windows = {CrashWindow::kSave, CrashWindow::kRot},
               .max_images = 1});
  const std::vector<CrashStatePart> all = {
      {.profile = kExt4, .window = CrashWindow::kSave},
      {.profile = kWeak, .window = CrashWindow::kSave},
      {.window = CrashWindow::kRot}};
  EXPECT_EQ(report.unfinished, all);
  EXPECT_EQ(report.counts.at(0).images_distinct, 1u);
}

TEST(CrashStatesTest, RotIsReportedAsRot) {
  const CrashStateReport report = Explore({.windows = {CrashWindow::kRot}},
                                          {PlantedBug::kTrustManifestBlindly});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_THAT(report.findings[0].event,
              testing::MatchesRegex("bit 0 of byte [0-9]+ of .* is flipped"));
}

CrashFinding SomeFinding() {
  const CrashStateReport report =
      Explore({.profiles = {kWeak}, .windows = {CrashWindow::kSave}},
              {PlantedBug::kSkipManifestSync});
  Case one = SaveCase(4);
  one.plan.bugs = {PlantedBug::kSkipManifestSync};
  return {.finding = report.findings.at(0),
          .scenario = CrashScenario(one).value(),
          .save = 0,
          .bound = {}};
}

TEST(CrashFindingTest, ItsFileIsEnoughToFindItAgain) {
  References references("", "test");
  const CrashFinding written = SomeFinding();
  const CrashFinding read =
      CrashFindingFromJson(CrashFindingToJson(written)).value();
  const auto again = RepeatCrashFinding(read, references);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->found, written.finding.found);
}

TEST(CrashFindingTest, BugThatIsMendedIsNotFoundAgain) {
  References references("", "test");
  CrashFinding finding = SomeFinding();
  const size_t plant = finding.scenario.find("planted_bugs:");
  ASSERT_NE(plant, std::string::npos) << finding.scenario;
  finding.scenario.erase(plant, finding.scenario.find('\n', plant) + 1 - plant);
  EXPECT_EQ(RepeatCrashFinding(finding, references).status().code(),
            Code::kNotFound);
}

TEST(CrashFindingTest, ForeignFileIsRefused) {
  const std::string whole = CrashFindingToJson(SomeFinding());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = whole;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"),
        whole.substr(0, whole.size() / 2), std::string(1000, '['),
        with("gauntlet/crash-state/v1", "gauntlet/crash-state/v9"),
        with("weak-save", "nfs-save"), with("\"save\": 0", "\"save\": -1"),
        with("\"save\": 0", "\"save\": 0, \"more\": 1")}) {
    EXPECT_EQ(CrashFindingFromJson(text).status().code(),
              Code::kInvalidArgument)
        << text;
  }
  EXPECT_EQ(CrashFindingFromJson(R"({"schema": "gauntlet/crash-state/v9"})")
                .status()
                .message(),
            "schema: expected one of gauntlet/crash-state/v1, found "
            "\"gauntlet/crash-state/v9\"");
  EXPECT_EQ(CrashFindingFromJson(with("\"save\": 0", "\"save\": -1"))
                .status()
                .message(),
            "save: expected an integer from 0 to 2^64 - 1, found -1");
}

TEST(CrashFindingTest, MistakeInItsScenarioIsOneLine) {
  CrashFinding finding = SomeFinding();
  finding.scenario.replace(finding.scenario.find("tiny"), 4, "tinny");
  References references("", "test");
  const Status status = RepeatCrashFinding(finding, references).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(),
              testing::MatchesRegex("scenario: line [0-9]+: unknown preset "
                                    "'tinny'; did you mean tiny.*"));
}

TEST(CrashStatesTest, CountsAreTheSameEachTime) {
  const CrashStateOptions options = {.profiles = {kWeak},
                                     .windows = {CrashWindow::kSave}};
  const CrashStateCounts one = Explore(options).counts.at(0);
  const CrashStateCounts two = Explore(options).counts.at(0);
  EXPECT_EQ(one.images_enumerated, two.images_enumerated);
  EXPECT_EQ(one.images_distinct, two.images_distinct);
  EXPECT_EQ(one.images_left_out, two.images_left_out);
}

// A state that is selected by its id is reported under the same id.
TEST(CrashStatesTest, EachCrashStateIsRecoveredUnderItsId) {
  CrashStateOptions options = {.profiles = {kExt4},
                               .windows = {CrashWindow::kSave}};
  std::set<std::string> ids;
  options.name_of = [&](const std::string& id) {
    EXPECT_TRUE(ids.insert(id).second) << id;
    return id;
  };
  const CrashStateReport report = Explore(options);
  EXPECT_EQ(ids.size(), report.counts.at(0).images_distinct);
  options.only = *ids.begin();
  ids.clear();
  Explore(options);
  EXPECT_THAT(ids, testing::ElementsAre(options.only));
}

TEST(CrashStatesTest, StopsOnRequest) {
  CrashStateOptions options = {.profiles = {kWeak}};
  options.on_progress = [](const CrashStateReport&) { return Proceed::kStop; };
  const CrashStateReport report = Explore(options);
  EXPECT_FALSE(report.finished());
}

TEST(CrashStatesTest, StopEndsTheSearchAtTheNextCrashState) {
  constexpr int kFirstTrue = 60;
  int calls = 0;
  CrashStateOptions options = {.profiles = {kWeak},
                               .windows = {CrashWindow::kSave}};
  options.stop = [&calls] { return ++calls >= kFirstTrue; };
  const CrashStateReport report = Explore(options);
  EXPECT_FALSE(report.finished());
  EXPECT_EQ(calls, kFirstTrue);
  EXPECT_LT(report.counts.at(0).images_enumerated, uint64_t{kFirstTrue});
}

TEST(CrashStatesTest, FirstStatesAreOfEveryWindowAndDisk) {
  const CrashStateReport report =
      Explore({.profiles = {kExt4, kWeak, DurabilityProfile::kShared},
               .max_images = 4000});
  ASSERT_EQ(report.counts.size(), 3 * (kCrashWindows.size() - 1) + 1);
  for (const CrashStateCounts& counts : report.counts) {
    EXPECT_GT(counts.images_distinct, 0u)
        << CrashWindowName(counts.window) << ", "
        << static_cast<int>(counts.profile);
  }
}

// Interrupts between two windows, before the run for the second one.
TEST(CrashStatesTest, Interrupt_KeepsTheFindingsSoFar) {
  uint64_t asked = 0;
  uint64_t limit = UINT64_MAX;
  References references("", "test", [&] { return ++asked > limit; });
  Case one = SaveCase(4);
  one.plan.bugs = {PlantedBug::kSkipManifestSync};
  CrashStateOptions options = {.profiles = {kWeak},
                               .windows = {CrashWindow::kSave}};
  const CrashStateReport save =
      ExploreCrashStates(one, references, options).value();
  ASSERT_FALSE(save.findings.empty());
  limit = std::exchange(asked, 0);
  options.windows = {CrashWindow::kSave, CrashWindow::kRecovery};
  const auto both = ExploreCrashStates(one, references, options);
  ASSERT_TRUE(both.ok()) << both.status().ToString();
  EXPECT_FALSE(both->finished());
  EXPECT_GT(both->counts.at(0).images_distinct, 0u);
  EXPECT_EQ(both->unfinished.back().window, CrashWindow::kRecovery);
}

TEST(CrashStatesTest, RefusesAMalformedId) {
  References references("", "test");
  const Case one = SaveCase(4);
  for (const char* id : {"x", "ext4-save", "ext4-save-1-2", "nfs-save-1-2-3",
                         "ext4-late-1-2-3", "ext4-save-1-2-a", "weak-rot-1-b-x",
                         "ext4-save-999999-0-x", "ext4-save-0-0-7.7.7.7"}) {
    const auto report = ExploreCrashStates(one, references, {.only = id});
    EXPECT_EQ(report.status().code(), Code::kInvalidArgument) << id;
  }
}

TEST(CrashStatesTest, RunWithoutTheSaveIsRefused) {
  References references("", "test");
  Case one = SaveCase(4);
  EXPECT_EQ(ExploreCrashStates(one, references, {.save = 100}).status().code(),
            Code::kInvalidArgument);
  one.train.checkpoint.trigger.unit = SaveUnit::kNone;
  EXPECT_EQ(ExploreCrashStates(one, references, {}).status().code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace gauntlet
