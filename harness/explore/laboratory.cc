#include "harness/explore/laboratory.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/judge.h"
#include "harness/run/case_runner.h"
#include "harness/run/sim_run.h"
#include "harness/scenario/run_setup.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kNoCheckpoint = 7;
// To reach the end of a step and save takes a moment.
constexpr int64_t kShortestGraceNs = 2'000'000'000;

// Faults that were not reached are no part of what the run went through.
void ForgetUnfired(Record& record) {
  std::set<std::string, std::less<>> fired;
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind == RecordKind::kFaultFired) fired.insert(event.detail);
    }
  }
  std::erase_if(record.faults, [&](const RecordFault& fault) {
    return !fired.contains(fault.id);
  });
}

// How the run is to come out. A refusal is owed where damage has taken every
// copy; whether it has is the oracle's to say.
Outcome OutcomeOwed(const Record& record) {
  uint64_t restarts = record.launchers.size() - 1;
  for (const LauncherRun& run : record.launchers) restarts += run.restarts;
  if (record.launchers.back().exit_code == kNoCheckpoint &&
      std::any_of(record.faults.begin(), record.faults.end(),
                  [](const RecordFault& fault) {
                    return TraitsOf(fault).damages_store;
                  })) {
    return Outcome::kRefuses;
  }
  return restarts > 0 ? Outcome::kRecovers : Outcome::kCompletes;
}

// Errors at every hit may leave no way to go on: to give up with an error is
// then an end as good as any, as long as nothing acknowledged is lost.
bool MayGiveUp(const Record& record) {
  const bool for_ever = std::any_of(
      record.faults.begin(), record.faults.end(), [](const RecordFault& fault) {
        return fault.always &&
               (fault.kind == "errno" || fault.kind == "short_write" ||
                fault.kind == "fsync_fails");
      });
  return for_ever && record.ending == RunEnding::kExited &&
         record.launchers.back().exit_code != 0;
}

// What the plan itself is to blame for: a kill that came to a process that had
// ended by then, a grace that nobody could leave in.
bool IsOfThePlan(const Record& record, std::string_view invariant) {
  return std::any_of(
      record.faults.begin(), record.faults.end(),
      [&](const RecordFault& fault) {
        const bool of_notice =
            invariant == "grace" || invariant == "fault-fired";
        return (invariant == "fault-fired" && fault.kind == "kill") ||
               (of_notice && fault.kind == "preempt" &&
                fault.grace_ns < kShortestGraceNs);
      });
}

std::vector<Finding> WrongIn(const Record& record, const Verdict& verdict) {
  std::vector<Finding> wrong;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.breaches == 0 ||
        !CountsInTrial(report.invariant, record.faults.size()) ||
        IsOfThePlan(record, report.invariant)) {
      continue;
    }
    wrong.insert(wrong.end(), report.findings.begin(), report.findings.end());
  }
  if (MayGiveUp(record)) return wrong;
  wrong.insert(wrong.end(), verdict.broken_expectations.begin(),
               verdict.broken_expectations.end());
  const std::optional<FinalResult>& result = record.launchers.back().result;
  const std::string found = result ? result->digest : "none";
  if (record.expect.outcome != Outcome::kRefuses &&
      found != record.golden.final_digest) {
    wrong.push_back(
        {.invariant = "trajectory",
         .name = "final-state",
         .message = fmt::format("the final state is {}, expected {}", found,
                                record.golden.final_digest)});
  }
  return wrong;
}

}  // namespace

bool CountsInTrial(std::string_view invariant, size_t faults) {
  return faults <= 1 || (invariant != "fault-fired" && invariant != "grace" &&
                         invariant != "detection");
}

Laboratory::Laboratory(Case base, std::shared_ptr<const DataSplit> data,
                       std::shared_ptr<const GoldenTrajectory> golden)
    : base_(std::move(base)),
      data_(std::move(data)),
      golden_(std::move(golden)),
      pool_(std::make_unique<FiberPool>()),
      memo_(std::make_unique<TrainMemo>()) {
  base_.plan.faults.clear();
  base_.expect = {};
}

Result<Laboratory> Laboratory::Make(Case base, References& references) {
  const RunPlan plan = PlanOf(base);
  ASSIGN_OR_RETURN(auto golden, references.GoldenFor(plan));
  ASSIGN_OR_RETURN(auto data, references.DataOf(plan.train.job.data));
  return Laboratory(std::move(base), std::move(data), std::move(golden));
}

Trial Laboratory::Try(const FaultPlan& plan) {
  Case one = base_;
  one.seed = plan.seed;
  one.plan.faults = plan.faults;
  one.plan.bugs.insert(one.plan.bugs.end(), plan.bugs.begin(), plan.bugs.end());
  RunLog log = RunSimulated(*pool_, PlanOf(one), *data_, memo_.get());
  Trial trial = {.record = RecordHead(one), .event_digest = log.event_digest};
  Record& record = trial.record;
  record.world = "sim";
  record.golden = *golden_;
  AdoptLog(std::move(log), record);
  if (record.launchers.empty()) {
    trial.wrong.push_back(
        {.invariant = "no-hang",
         .name = "no-launcher",
         .message = "no launcher came to an end: " + record.ending_detail});
    return trial;
  }
  ForgetUnfired(record);
  record.expect.outcome = OutcomeOwed(record);
  trial.verdict = Judge(record);
  trial.wrong = WrongIn(record, trial.verdict);
  return trial;
}

}  // namespace gauntlet
