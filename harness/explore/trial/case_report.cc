#include "harness/explore/trial/case_report.h"

#include <algorithm>

#include "engine/worker_exit_code.h"
#include "harness/explore/trial/plan_runner.h"
#include "harness/oracle/history/outline.h"
#include "harness/run/failure/event_difference.h"

namespace gauntlet {
namespace {

std::string OutcomeOf(const Record& record) {
  if (record.ending != RunEnding::kExited) {
    return std::string(RunEndingName(record.ending));
  }
  const LauncherRun& last = record.launchers.back();
  if (last.exit_code == 0) {
    const bool restarted = last.restarts > 0 || record.launchers.size() > 1;
    return restarted ? "recovers" : "completes";
  }
  if (record.expect.outcome == Outcome::kRefuses) return "refuses";
  if (IsExit(last.exit_code, {WorkerExit::kStopped})) return "stops";
  return "ends with an error";
}

bool RecoveredBeforeLast(const Outline& outline) {
  if (outline.occurrences.empty()) return false;
  const FaultOccurrence& last = outline.occurrences.back();
  return std::ranges::any_of(
      outline.record.incarnations, [&](const IncarnationEvents& incarnation) {
        return incarnation.number == last.incarnation->number &&
               std::ranges::any_of(incarnation.events,
                                   [&](const RecordEvent& event) {
                                     return event.kind == RecordKind::kStep &&
                                            event.t_ns < last.event().t_ns;
                                   });
      });
}

bool Resumed(const Record& record) {
  return std::ranges::any_of(
      record.incarnations, [](const IncarnationEvents& incarnation) {
        return incarnation.number > 1 &&
               std::ranges::find(incarnation.events, RecordKind::kResumed,
                                 &RecordEvent::kind) !=
                   incarnation.events.end();
      });
}

CaseReport ReportOf(const ExploreCase& one, const PlanRun& run) {
  CaseReport report = {.number = one.number,
                       .planned = one.plan.faults.size(),
                       .fired = {},
                       .goals = {},
                       .instances = {},
                       .outcome = {},
                       .findings = run.findings,
                       .skipped = run.skipped};
  if (!run.skipped.empty()) {
    report.outcome = "skipped";
    return report;
  }
  const Record& record = run.record;
  report.virtual_seconds = record.virtual_seconds;
  const Outline outline(record);
  report.fired = FiredFaultsOf(outline);
  if (LauncherNeverEnded(record)) {
    report.outcome = "no launcher";
    return report;
  }
  report.goals = GoalsMetBy(outline);
  report.instances = InstancesOf(run.verdict);
  report.outcome = OutcomeOf(record);
  report.restarts = run.verdict.facts.restarts;
  report.resumed = Resumed(record);
  report.recovered_before_last = RecoveredBeforeLast(outline);
  return report;
}

}  // namespace

CaseReport Examine(PlanRunner& runner, const ExploreCase& one, Runs runs) {
  const PlanRun run = runner.Try(one.plan);
  if (run.cut) return {.number = one.number, .cut = true};
  CaseReport report = ReportOf(one, run);
  if (runs == Runs::kOnce || !run.skipped.empty()) return report;
  const PlanRun again = runner.Try(one.plan);
  if (again.cut) return report;
  report.ran_twice = true;
  if (run.event_digest == again.event_digest &&
      !FirstEventDifference(run.record, again.record)) {
    return report;
  }
  report.findings.insert(
      report.findings.begin(),
      {.invariant = std::string(kDeterministic),
       .name = std::string(kEventDigest),
       .message =
           "run twice: " + DescribeNondeterminism(run.record, again.record)});
  return report;
}

}  // namespace gauntlet
