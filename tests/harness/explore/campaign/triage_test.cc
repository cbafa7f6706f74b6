#include "harness/explore/campaign/triage.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Violation kState = {.invariant = "trajectory", .name = "state-digest"};
const Violation kTooOld = {.invariant = "resume-point", .name = "stale-resume"};

FiredFault Fired(FaultKind kind, Point point) {
  return {.kind = kind, .point = point};
}

TEST(KnownCausesTest, Cause_ExplainsACaseWithItsFaults) {
  KnownCauses known;
  known.Add({.symptoms = {kState},
             .faults = {{FaultKind::kCrash, Point::kRename}},
             .first_difference = ""},
            3);
  const FiredFault crash = Fired(FaultKind::kCrash, Point::kRename);
  const FiredFault hang = Fired(FaultKind::kHang, Point::kRename);
  EXPECT_EQ(known.Explaining(kState, {hang, crash}), 3u);
  EXPECT_EQ(known.Explaining(kState, {hang}), std::nullopt);
  EXPECT_EQ(known.Explaining(kTooOld, {crash}), std::nullopt);
}

TEST(KnownCausesTest, FirstDifferenceDistinguishesBugs) {
  KnownCauses known;
  const Cause key = {
      .symptoms = {kState}, .faults = {}, .first_difference = "tensor rng/key"};
  known.Add(key, 1);
  Cause other = key;
  other.symptoms.insert(kTooOld);
  EXPECT_EQ(known.EqualTo(other, kState), 1u);
  EXPECT_EQ(known.EqualTo(other, kTooOld), std::nullopt);
  other.first_difference = "tensor dense0/kernel";
  EXPECT_EQ(known.EqualTo(other, kState), std::nullopt);
}

TEST(KnownCausesTest, ViolatedInvariantsDistinguishBugs_WithoutADifference) {
  KnownCauses known;
  const Cause refusal = {
      .symptoms = {kTooOld}, .faults = {}, .first_difference = ""};
  known.Add(refusal, 1);
  Cause other = refusal;
  EXPECT_EQ(known.EqualTo(other, kTooOld), 1u);
  other.symptoms.insert(kState);
  EXPECT_EQ(known.EqualTo(other, kTooOld), std::nullopt);
}

class TriageTest : public testing::Test {
 protected:
  // Begins a triage of the small case with these bugs.
  void Begin(const std::string& bugs, const TriageOptions& options = {}) {
    setups_ = {SmallCase("planted_bugs: " + bugs + "\n" + kEnd)};
    triage_.emplace(setups_, references_, options);
  }
  uint64_t Add(const FaultPlan& plan, std::vector<Finding> findings = {}) {
    const ExploreCase one = {.number = next_++, .plan = plan};
    PlanRunner runner = PlanRunner::Make(setups_[0], references_).value();
    CaseReport report = Examine(runner, one, Runs::kOnce);
    if (!findings.empty()) report.findings = std::move(findings);
    return triage_->Add(one, report, [](const CampaignFinding&) {});
  }
  std::vector<std::string> Invariants() const {
    std::vector<std::string> names;
    for (const CampaignFinding& finding : triage_->findings()) {
      names.push_back(finding.what.invariant);
    }
    return names;
  }
  static FaultPlan CrashAt(FaultSite site) {
    site.worker = 0;
    return {.faults = {{.id = "crash", .site = site}}};
  }

  static constexpr const char* kEnd = "expect: {outcome: completes}\n";
  References references_{"", "test"};
  std::vector<Case> setups_;
  std::optional<Triage> triage_;
  uint64_t next_ = 0;
};

// One crash reveals two bugs: the RNG key is lost, and a save that was
// acknowledged too early is missing.
TEST_F(TriageTest, SecondViolationOfACaseHasItsOwnFinding) {
  Begin("[lose-rng-key, acknowledge-before-rename]");
  Add(CrashAt({.point = Point::kRename, .occurrence = 2}));
  EXPECT_THAT(Invariants(),
              testing::IsSupersetOf({"trajectory", "resume-point"}));
}

TEST_F(TriageTest, SameBugAtAnotherPlaceIsOneMoreCase) {
  Begin("lose-rng-key");
  Add(CrashAt({.step = 10, .point = Point::kStepEnd}));
  Add(CrashAt({.point = Point::kEvalBegin, .occurrence = 2}));
  ASSERT_THAT(triage_->findings(), SizeIs(1));
  const CampaignFinding& finding = triage_->findings()[0];
  EXPECT_EQ(finding.cases, 2u);
  EXPECT_EQ(finding.plan.faults.at(0).site.point, Point::kStepBegin);
}

// Interrupts the shrinking before its first try, then later and later, until it
// completes.
TEST_F(TriageTest, InterruptedShrinking_IsMarkedUnfinished) {
  int last_tries = 0;
  for (int asked = 0; asked < 1000; asked += 7) {
    int left = asked;
    Begin("lose-rng-key", {.shrink = {.stop = [&left] { return --left < 0; }}});
    Add(CrashAt({.step = 10, .point = Point::kStepEnd}));
    ASSERT_THAT(triage_->findings(), SizeIs(1));
    const CampaignFinding& finding = triage_->findings()[0];
    EXPECT_EQ(finding.shrunk_to_the_end, left >= 0);
    EXPECT_GE(finding.tries, last_tries);
    last_tries = finding.tries;
    if (finding.shrunk_to_the_end) return;
  }
  FAIL() << "it never came to its end";
}

TEST_F(TriageTest, LimitOfTriesIsNotTheEnd) {
  Begin("lose-rng-key", {.shrink = {.max_tries = 1}});
  Add(CrashAt({.step = 10, .point = Point::kStepEnd}));
  ASSERT_THAT(triage_->findings(), SizeIs(1));
  EXPECT_FALSE(triage_->findings()[0].shrunk_to_the_end);
}

TEST_F(TriageTest, FindingThatIsNotReproducedExplainsNothingLater) {
  Begin("lose-rng-key");
  const std::vector<Finding> findings = {
      {.invariant = "trajectory", .name = "state-digest", .message = "m"}};
  EXPECT_EQ(Add(CrashAt({.step = 1}), findings), 1u);
  EXPECT_EQ(Add(CrashAt({.step = 10})), 0u);
  EXPECT_THAT(Invariants(), ElementsAre("deterministic", "trajectory"));
  EXPECT_FALSE(triage_->findings()[0].shrunk_to_the_end);
}

TEST_F(TriageTest, PassedCase_IsNoFinding) {
  Begin("lose-rng-key");
  Add(CrashAt({.step = 1}));
  EXPECT_THAT(Invariants(), IsEmpty());
}

// The run's time limit ends before a launcher exits.
TEST(CaseReportTest, RunWithoutALauncherHasItsFaultsToo) {
  References references("", "test");
  Case base = SmallCase("expect: {outcome: completes}\n");
  base.timeouts.total = std::chrono::milliseconds(200);
  base.timeouts.hang = std::chrono::hours(1);
  PlanRunner runner = PlanRunner::Make(base, references).value();
  FaultPlan plan = {.faults = {{.id = "stop",
                                .site = {.worker = 0, .step = 3},
                                .kind = FaultKind::kPause}}};
  const CaseReport report = Examine(runner, {.plan = plan}, Runs::kOnce);
  ASSERT_EQ(report.outcome, "no launcher");
  EXPECT_THAT(report.fired, SizeIs(1));
}

}  // namespace
}  // namespace gauntlet
