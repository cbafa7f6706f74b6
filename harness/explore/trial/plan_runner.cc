#include "harness/explore/trial/plan_runner.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/text/units.h"
#include "harness/explore/trial/expected_outcome.h"
#include "harness/oracle/judge.h"
#include "harness/record/finding_kind.h"
#include "harness/run/case_runner.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/run_setup.h"
#include "harness/scenario/time_limits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Grace period that suffices for a worker to reach the end of a step and save.
constexpr int64_t kShortestGraceNs = 2'000'000'000;

// Removes the faults that did not fire: they did not affect the run.
void ForgetUnfired(Record& record) {
  std::set<std::string, std::less<>> fired;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kFaultFired) fired.insert(event.detail);
    }
  }
  std::erase_if(record.faults, [&](const RecordFault& fault) {
    return !fired.contains(fault.id);
  });
}

// Returns true iff the plan itself may have caused the finding, so that the
// finding shows no bug. For example, a process had already ended when a kill
// was due, or the grace period was too short for any worker.
bool IsOfThePlan(const Record& record, const Finding& finding) {
  const bool never_fired =
      finding.invariant == InvariantName(Invariant::kFaultFired);
  if (!never_fired && !IsOfLeaving(finding)) return false;
  // The run may end before any worker polls for the notice.
  if (IsOf(FindingKind::kUnseen, finding)) return true;
  if (record.faults.size() > 1) return true;
  return std::ranges::any_of(record.faults, [&](const RecordFault& fault) {
    return (never_fired && fault.kind == "kill") ||
           (fault.kind == "preempt" && fault.grace_ns < kShortestGraceNs);
  });
}

std::string FinalDigestOf(const Record& record) {
  const std::optional<FinalResult>& result = record.launchers.back().result;
  return result ? result->digest : "none";
}

// Number of findings of an invariant that are kept. The first ones distinguish
// bugs; later ones depend on how long the run continued.
constexpr size_t kSymptoms = 5;

std::vector<Finding> FirstFindings(const Record& record,
                                   const Verdict& verdict) {
  std::vector<Finding> findings;
  for (const InvariantReport& report : verdict.invariants) {
    std::ranges::copy_if(
        report.findings | std::views::take(kSymptoms),
        std::back_inserter(findings),
        [&](const Finding& finding) { return !IsOfThePlan(record, finding); });
  }
  // If MayGiveUp, the run may also end with an error, so unmet expectations do
  // not count. The findings above do: nothing acknowledged may be lost.
  if (MayGiveUp(record)) return findings;
  findings.insert(findings.end(), verdict.broken_expectations.begin(),
                  verdict.broken_expectations.end());
  if (EndsElsewhere(record)) {
    findings.push_back(MakeFinding(
        FindingKind::kFinalState,
        fmt::format("the final state is {}, expected {}", FinalDigestOf(record),
                    record.golden.final_digest)));
  }
  return findings;
}

// Returns false iff a fault of the plan makes a worker run out of memory: a
// memoized pass allocates no memory, so the fault would have no effect.
bool MayMemoize(const FaultPlan& plan) {
  return std::ranges::none_of(plan.faults, [](const Fault& fault) {
    return fault.kind == FaultKind::kOutOfMemory;
  });
}

// Returns the capabilities of the simulated world. Its disk is as large as a
// case requires, so the size is no limit.
Capabilities SimulatedWorld() {
  Capabilities here = CapabilitiesOf(WorldKind::kSimulated);
  here.disk_bytes = UINT64_MAX;
  return here;
}

}  // namespace

bool EndsElsewhere(const Record& record) {
  return record.expect.outcome != Outcome::kRefuses &&
         (record.launchers.empty() ||
          FinalDigestOf(record) != record.golden.final_digest);
}

PlanRunner::PlanRunner(Case base, std::shared_ptr<const DataSplit> data,
                       std::shared_ptr<const GoldenTrajectory> golden)
    : base_(std::move(base)),
      data_(std::move(data)),
      golden_(std::move(golden)),
      pool_(std::make_unique<FiberPool>()),
      memo_(std::make_unique<RunMemo>(PlanOf(base_).train.job, *data_)) {
  base_.plan.faults.clear();
  base_.expect = {};
}

Result<PlanRunner> PlanRunner::Make(Case base, References& references) {
  const RunPlan plan = PlanOf(base);
  ASSIGN_OR_RETURN(auto golden, references.GoldenFor(plan));
  ASSIGN_OR_RETURN(auto data, references.DataOf(plan.train.job.data));
  return PlanRunner(std::move(base), std::move(data), std::move(golden));
}

Case PlanRunner::CaseOf(const FaultPlan& plan) const {
  Case one = base_;
  one.seed = plan.seed;
  one.plan.faults = plan.faults;
  one.plan.bugs.insert(one.plan.bugs.end(), plan.bugs.begin(), plan.bugs.end());
  return one;
}

bool LauncherNeverEnded(const Record& record) {
  if (record.launchers.empty()) return true;
  return record.ending != RunEnding::kExited && record.launchers.size() == 1 &&
         std::ranges::count(record.launchers.front().events,
                            RecordKind::kLauncherEnd, &RecordEvent::kind) == 0;
}

PlanRun PlanRunner::Try(const FaultPlan& plan) {
  const Case one = CaseOf(plan);
  if (std::string why = WhyNotHere(one, SimulatedWorld()); !why.empty()) {
    return {.record = RecordHead(one), .skipped = std::move(why)};
  }
  RunPlan run_plan = PlanOf(one);
  run_plan.interrupted = cut_;
  RunLog log = RunSimulated(*pool_, run_plan, *data_,
                            MayMemoize(plan) ? memo_.get() : nullptr);
  PlanRun run = {.record = RecordHead(one), .event_digest = log.event_digest};
  if (cut_ && cut_()) {
    run.cut = true;
    return run;
  }
  Record& record = run.record;
  record.world = "sim";
  record.golden = *golden_;
  AdoptLog(std::move(log), record);
  ForgetUnfired(record);
  if (LauncherNeverEnded(record)) {
    const std::string limit =
        record.ending == RunEnding::kTimedOut
            ? fmt::format(" (timeout.total is {})",
                          DurationToText(TotalLimitOf(one)))
            : "";
    run.findings.push_back(
        MakeFinding(FindingKind::kNoLauncher,
                    fmt::format("no launcher came to an end{}: {}", limit,
                                record.ending_detail)));
    return run;
  }
  record.expect.outcome = ExpectedOutcome(record);
  run.verdict = Judge(record);
  run.findings = FirstFindings(record, run.verdict);
  return run;
}

}  // namespace gauntlet
