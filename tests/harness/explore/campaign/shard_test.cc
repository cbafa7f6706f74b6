// Shards of an exploration: together they cover it, each case once.
#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/real/posix/system_clock.h"
#include "harness/explore/campaign/campaign.h"
#include "harness/explore/plan/sweep_plans.h"
#include "harness/run/files/text_file.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

Case ExploreBase() {
  const fs::path file = fs::path(GAUNTLET_SCENARIOS) / "explore/base.yaml";
  return LoadScenarios(ReadTextFile(file), file.string()).cases.at(0);
}

class Silent final : public CampaignObserver {
 public:
  void Progress(const CampaignReport& report) override {
    if (report.cases >= stop_after) interrupted = true;
  }
  void Found(const CampaignFinding&) override {}
  void FoundCrashState(const CrashStateFinding&) override {}
  bool Interrupted() override { return interrupted; }
  uint64_t stop_after = UINT64_MAX;
  bool interrupted = false;
};

CampaignReport Explored(const CampaignOptions& options,
                        uint64_t interrupted_after = UINT64_MAX) {
  References references("", "test");
  SystemClock clock;
  Silent observer;
  observer.stop_after = interrupted_after;
  return RunCampaign(ExploreBase(), options, references, clock, observer)
      .value();
}

// Counts of an exploration, which must add up over its shards.
struct Tried {
  uint64_t cases = 0;
  uint64_t passed = 0;
  std::map<Coverage::Key, uint64_t> fired;
  std::map<std::pair<Point, FaultKind>, uint64_t> planned;
  std::vector<uint64_t> goals = std::vector<uint64_t>(AllGoals().size());

  bool operator==(const Tried&) const = default;

  void Add(const CampaignReport& report) {
    cases += report.cases;
    passed += report.passed;
    for (const auto& [key, n] : report.coverage.fired()) fired[key] += n;
    for (const auto& [key, n] : report.coverage.planned()) planned[key] += n;
    for (size_t i = 0; i < goals.size(); ++i) goals[i] += report.goals[i];
  }
};

Tried Whole(const CampaignOptions& options) {
  Tried tried;
  tried.Add(Explored(options));
  return tried;
}

Tried InShards(CampaignOptions options, int count) {
  Tried tried;
  for (int index = 1; index <= count; ++index) {
    options.shard = {.index = index, .count = count};
    tried.Add(Explored(options));
  }
  return tried;
}

// Returns the numbers of the cases that an exploration runs.
std::multiset<uint64_t> NumbersOf(CampaignOptions options) {
  std::mutex mutex;
  std::multiset<uint64_t> numbers;
  options.command_for = [&](uint64_t number) {
    const std::lock_guard lock(mutex);
    numbers.insert(number);
    return std::string();
  };
  Explored(options);
  return numbers;
}

TEST(ShardChoiceTest, EachItemIsInOnePart) {
  for (uint64_t n = 0; n < 20; ++n) {
    int parts = 0;
    for (int i = 1; i <= 7; ++i) {
      parts += ShardChoice{.index = i, .count = 7}.Takes(n) ? 1 : 0;
    }
    EXPECT_EQ(parts, 1) << n;
  }
}

TEST(ShardChoiceTest, CountsItsItems) {
  for (int i = 1; i <= 3; ++i) {
    const ShardChoice shard = {.index = i, .count = 3};
    for (uint64_t begin = 0; begin < 8; ++begin) {
      uint64_t count = 0;
      for (uint64_t n = begin; n < 11; ++n) count += shard.Takes(n) ? 1 : 0;
      EXPECT_EQ(shard.CountIn(begin, 11), count);
    }
  }
}

TEST(ShardTest, RandomShardsAreTheWholeExploration) {
  const CampaignOptions options = {.max_cases = 150};
  const Tried whole = Whole(options);
  EXPECT_EQ(whole.cases, 150u);
  EXPECT_EQ(InShards(options, 4), whole);
}

TEST(ShardTest, EachNumberIsRunByOneShard) {
  std::multiset<uint64_t> numbers;
  for (int index = 1; index <= 3; ++index) {
    numbers.merge(NumbersOf({.first_case = 5,
                             .shard = {.index = index, .count = 3},
                             .max_cases = 20}));
  }
  std::multiset<uint64_t> expected;
  for (uint64_t n = 5; n < 25; ++n) expected.insert(n);
  EXPECT_EQ(numbers, expected);
}

TEST(ShardTest, InterruptedExplorationIsResumedExactly) {
  const CampaignReport first =
      Explored({.max_cases = 100, .threads = 3}, /*interrupted_after=*/40);
  EXPECT_EQ(first.end, CampaignEnd::kInterrupted);
  EXPECT_EQ(first.next_case, first.cases);
  Tried tried;
  tried.Add(first);
  tried.Add(Explored(
      {.first_case = first.next_case, .max_cases = 100 - first.next_case}));
  EXPECT_EQ(tried, Whole({.max_cases = 100}));
}

TEST(ShardTest, ShardsOfASweepAreTheWholeSweep) {
  const CampaignOptions options = {
      .mode = CampaignMode::kSweep,
      .max_faults = 2,
      .kinds = {FaultKind::kCrash, FaultKind::kErrno},
      .points = {Point::kRename, Point::kSaveEnd}};
  const Tried whole = Whole(options);
  EXPECT_GT(whole.cases, 30u);
  EXPECT_EQ(InShards(options, 3), whole);
}

PlanSpace SmallSpace() {
  return {.workers = 2,
          .steps = 8,
          .epochs = 1,
          .max_faults = 3,
          .kinds = {FaultKind::kCrash, FaultKind::kErrno, FaultKind::kSlow},
          .points = {Point::kStepBegin, Point::kShardWrite, Point::kReject}};
}

// Returns the report of a run in which the faults fire in turn. The first one
// that is at kReject or at a third occurrence does not fire, nor do those after
// it.
CaseReport ReportOf(const ExploreCase& one) {
  CaseReport report = {.number = one.number};
  for (const Fault& fault : one.plan.faults) {
    if (fault.site.point == Point::kReject || fault.site.occurrence > 2) break;
    report.fired.push_back({.kind = fault.kind,
                            .point = fault.site.point,
                            .phase = FaultPhase::kInEpoch,
                            .incarnation = fault.site.incarnation});
    report.restarts += fault.kind == FaultKind::kCrash ? 1 : 0;
  }
  return report;
}

// Runs a whole sweep. Returns the plans of the cases that count.
std::multiset<std::string> SweptPlans(ShardChoice shard) {
  SweepPlans plans({SmallSpace(), SmallSpace()}, 1, shard);
  std::multiset<std::string> swept;
  for (auto round = plans.NextRound(); !round.empty();
       round = plans.NextRound()) {
    for (const ExploreCase& one : round) {
      plans.AddReport(ReportOf(one));
      if (one.counts) swept.insert(PlanToJson(one.plan));
    }
  }
  EXPECT_EQ(plans.Left(), "");
  return swept;
}

TEST(ShardTest, EachPlanOfASweepCountsInOneShard) {
  const std::multiset<std::string> whole = SweptPlans({});
  EXPECT_GT(whole.size(), 50u);
  std::multiset<std::string> parts;
  for (int index = 1; index <= 4; ++index) {
    const auto part = SweptPlans({.index = index, .count = 4});
    EXPECT_GT(part.size(), whole.size() / 10);
    parts.insert(part.begin(), part.end());
  }
  EXPECT_EQ(parts, whole);
}

}  // namespace
}  // namespace gauntlet
