#include "harness/explore/campaign/triage.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "harness/explore/campaign/finding_files.h"
#include "harness/explore/diagnosis/canonical_sites.h"
#include "harness/explore/diagnosis/divergence.h"
#include "harness/explore/diagnosis/replay.h"
#include "harness/explore/diagnosis/shrink_setup.h"
#include "harness/run/case_runner.h"

namespace gauntlet {
namespace {

constexpr std::string_view kNotAgain = "not-again";

std::set<Violation> SymptomsOf(const std::vector<Finding>& findings) {
  const std::vector<Violation> violations = ViolationsOf(findings);
  return {violations.begin(), violations.end()};
}

const Finding& FindingNamed(const std::vector<Finding>& findings,
                            const Violation& violation) {
  return *std::ranges::find_if(findings, [&](const Finding& one) {
    return one.invariant == violation.invariant && one.name == violation.name;
  });
}

}  // namespace

Triage::Triage(const std::vector<Case>& setups, References& references,
               const TriageOptions& options)
    : setups_(setups),
      references_(references),
      options_(options),
      runners_(setups_, references) {}

uint64_t Triage::Add(const ExploreCase& one, const CaseReport& report,
                     const std::function<void(const CampaignFinding&)>& found) {
  std::set<size_t> shown;  // findings that already count this case
  for (const Violation& violation : ViolationsOf(report.findings)) {
    if (enough()) break;
    const size_t before = findings_.size();
    const std::optional<size_t> known =
        known_.Explaining(violation, report.fired);
    const size_t index = known ? *known : FindingOf(one, violation);
    CampaignFinding& finding = findings_[index];
    const bool is_new = findings_.size() > before;
    if (shown.insert(index).second && !is_new) ++finding.cases;
    if (is_new) {
      Result<Explanation> explanation =
          ExplainTrajectory(FindingCase(finding), finding.record, references_);
      if (explanation.ok()) {
        finding.cause = std::move(explanation->cause);
        finding.differences = std::move(explanation->differences);
      }
      found(finding);
    }
    // The second run did not show this violation, so the remaining ones are
    // not investigated.
    if (finding.what.name == kNotAgain) return 1;
  }
  return 0;
}

size_t Triage::FindingOf(const ExploreCase& one, const Violation& violation) {
  const Time begin = options_.shrink.Now();
  Shrunken shrunken;
  if (violation.invariant == kDeterministic) {
    shrunken = ShrinkDivergence(one);
  } else {
    const ExploreCase plainest = InThePlainestSetup(one, violation);
    const PlanRun run = RunnerOf(plainest).Try(plainest.plan);
    // The second run does not show the violation. The finding is not added to
    // known_, so it explains no later case.
    if (!Breaks(run, violation)) return AddFinding(NotAgain(one, run));
    shrunken = ShrinkViolation(plainest, violation, run);
  }
  const std::optional<size_t> equal = known_.EqualTo(shrunken.cause, violation);
  const size_t index = equal.value_or(findings_.size());
  known_.Add(shrunken.cause, index);
  for (Cause& cause : shrunken.on_the_way) known_.Add(std::move(cause), index);
  if (equal) return index;
  if (violation.invariant != kDeterministic) {
    ShrinkSetupOf(shrunken, violation, begin);
  }
  return AddFinding(std::move(shrunken.finding));
}

ExploreCase Triage::InThePlainestSetup(const ExploreCase& one,
                                       const Violation& violation) {
  ExploreCase plain = one;
  plain.setup = 0;
  if (one.setup == 0) return one;
  return Breaks(RunnerOf(plain).Try(plain.plan), violation) ? plain : one;
}

size_t Triage::AddFinding(CampaignFinding finding) {
  finding.number = findings_.size() + 1;
  findings_.push_back(std::move(finding));
  return findings_.size() - 1;
}

PlanRunner& Triage::RunnerOf(const ExploreCase& one) {
  return *runners_.Of(one.setup).value();
}

CampaignFinding Triage::Unshrunken(const ExploreCase& one) const {
  return {.what = {},
          .cause = {},
          .symptoms = {},
          .case_number = one.number,
          .setup = setups_[one.setup],
          .original = one.plan,
          .plan = one.plan,
          .shrunk_to_the_end = false,
          .record = {}};
}

CampaignFinding Triage::NotAgain(const ExploreCase& one,
                                 const PlanRun& run) const {
  CampaignFinding finding = Unshrunken(one);
  finding.what = {.invariant = std::string(kDeterministic),
                  .name = std::string(kNotAgain),
                  .message = "wrong once, and not when it was run again"};
  finding.symptoms = ViolationsOf({finding.what});
  finding.record = run.record;
  return finding;
}

Cause Triage::CauseOf(const PlanRunner& runner, const FaultPlan& plan,
                      const PlanRun& run) {
  Cause cause = {.symptoms = SymptomsOf(run.findings),
                 .faults = PlacesOf(FiredFaultsOf(Outline(run.record))),
                 .first_difference = ""};
  const std::optional<Departure> departure = FirstDeparture(run.record);
  if (!departure) return cause;
  const RunPlan run_plan = PlanOf(runner.CaseOf(plan));
  const auto data = references_.DataOf(run_plan.train.job.data);
  if (!data.ok()) return cause;
  const Result<Divergence> divergence =
      FindDivergence(run_plan, **data, *departure);
  if (divergence.ok() && divergence->first) {
    cause.first_difference = WhereText(*divergence->first);
  }
  return cause;
}

const Cause& Triage::CauseAt(size_t setup, const FaultPlan& plan) {
  const auto [cause, is_new] =
      causes_.try_emplace({setup, PlanToJson(plan)}, Cause{});
  if (is_new) {
    PlanRunner& runner = *runners_.Of(setup).value();
    cause->second = CauseOf(runner, plan, runner.Try(plan));
  }
  return cause->second;
}

std::vector<Fault> Triage::CanonicalFaultsFor(
    const Case& setup, const Violation& violation) const {
  std::vector<Fault> plain;
  for (const CampaignFinding& finding : findings_) {
    if (std::ranges::find(finding.symptoms, violation) ==
        finding.symptoms.end()) {
      continue;
    }
    plain.insert(plain.end(), finding.plan.faults.begin(),
                 finding.plan.faults.end());
  }
  const std::vector<Fault> plainest = CanonicalFaults(setup);
  plain.insert(plain.end(), plainest.begin(), plainest.end());
  return plain;
}

Triage::Shrunken Triage::ShrinkViolation(const ExploreCase& one,
                                         const Violation& violation,
                                         const PlanRun& run) {
  PlanRunner& runner = RunnerOf(one);
  ShrinkOptions options = options_.shrink;
  options.violation = violation;
  const Time begin = options.Now();
  Shrunk shrunk = Shrink(runner, one.plan, run, options);
  Shrunken result = {.finding = Unshrunken(one),
                     .cause = CauseOf(runner, shrunk.plan, shrunk.run),
                     .on_the_way = {}};
  const Cause unmoved = result.cause;
  const auto same = [&](const FaultPlan& plan) {
    const Cause& there = CauseAt(one.setup, plan);
    return there.symptoms.contains(violation) && AreAlike(there, unmoved);
  };
  const ShrunkPlan moved = MoveToCanonicalSites(
      shrunk.plan, CanonicalFaultsFor(runner.base(), violation),
      options.After(begin), same);
  if (moved.plan != shrunk.plan) {
    result.cause = CauseAt(one.setup, moved.plan);
    shrunk.run = runner.Try(moved.plan);
  }
  // Later cases may have the faults of the original plan, or of the shrunken
  // plan before its faults were moved. So both sets of faults become causes of
  // the finding. These causes get the symptoms of the final plan, as the
  // finding does not explain violations that only a larger plan shows.
  Cause& before = result.on_the_way.emplace_back(result.cause);
  before.faults = unmoved.faults;
  Cause& raw = result.on_the_way.emplace_back(result.cause);
  raw.faults = PlacesOf(FiredFaultsOf(Outline(run.record)));
  CampaignFinding& finding = result.finding;
  finding.what = FindingNamed(shrunk.run.findings, violation);
  finding.symptoms = ViolationsOf(shrunk.run.findings);
  finding.plan = moved.plan;
  finding.tries = shrunk.tries + moved.tries;
  finding.shrunk_to_the_end = shrunk.finished && moved.finished;
  finding.record = std::move(shrunk.run.record);
  return result;
}

void Triage::ShrinkSetupOf(Shrunken& shrunken, const Violation& violation,
                           Time begin) {
  CampaignFinding& finding = shrunken.finding;
  ShrinkOptions options = options_.shrink.After(begin);
  options.violation = violation;
  ShrunkSetup smaller =
      ShrinkSetup(finding.setup, finding.plan, references_, options);
  finding.tries += smaller.tries;
  finding.shrunk_to_the_end = finding.shrunk_to_the_end && smaller.finished;
  if (!smaller.run) return;
  finding.setup = std::move(smaller.setup);
  finding.what = FindingNamed(smaller.run->findings, violation);
  finding.symptoms = ViolationsOf(smaller.run->findings);
  finding.record = std::move(smaller.run->record);
}

Triage::Shrunken Triage::ShrinkDivergence(const ExploreCase& one) {
  PlanRunner& runner = RunnerOf(one);
  Shrunken result = {.finding = Unshrunken(one), .cause = {}, .on_the_way = {}};
  CampaignFinding& finding = result.finding;
  const auto examine = [&](const FaultPlan& plan) {
    return Examine(runner, {.number = one.number, .plan = plan}, Runs::kTwice);
  };
  const auto diverges = [&](const FaultPlan& plan) {
    const CaseReport report = examine(plan);
    return !report.findings.empty() &&
           report.findings.front().invariant == kDeterministic;
  };
  ShrunkPlan shrunk = ShrinkPlan(one.plan, options_.shrink, diverges);
  finding.plan = std::move(shrunk.plan);
  finding.tries = shrunk.tries;
  finding.shrunk_to_the_end = shrunk.finished;
  const CaseReport report = examine(finding.plan);
  finding.what = {.invariant = std::string(kDeterministic),
                  .name = std::string(kEventDigest),
                  .message = "run twice, different events"};
  if (!report.findings.empty() &&
      report.findings.front().invariant == kDeterministic) {
    finding.what = report.findings.front();
  }
  finding.symptoms = ViolationsOf({finding.what});
  finding.record = runner.Try(finding.plan).record;
  result.cause = {.symptoms = SymptomsOf({finding.what}),
                  .faults = PlacesOf(report.fired),
                  .first_difference = ""};
  return result;
}

}  // namespace gauntlet
