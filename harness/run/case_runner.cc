#include "harness/run/case_runner.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <utility>

#include "engine/real/posix/posix_status.h"
#include "harness/oracle/judge.h"
#include "harness/record/record_file.h"
#include "harness/record/text/simulated_time.h"
#include "harness/run/executor/real_run.h"
#include "harness/run/executor/sim_run.h"
#include "harness/run/failure/consequences.h"
#include "harness/run/failure/event_difference.h"
#include "harness/run/failure/failure_summary.h"
#include "harness/run/failure/idle_fault.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/run_setup.h"
#include "harness/scenario/time_limits.h"
#include "harness/scenario/writer/write_scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Checkpoint directory in a simulated run.
constexpr const char* kSimulatedStore = "/ckpt";
// Names of the file and the service that simulated workers poll for preemption
// notices.
constexpr const char* kSimulatedNotice = "/notice";
constexpr const char* kSimulatedService =
    "http://169.254.169.254/computeMetadata/v1/instance/preempted";

// Directories of the outputs of simulated workers.
constexpr const char* kSimulatedCurves = "/curves";
constexpr const char* kSimulatedModel = "/trained";

// Directory to which the earlier run of a warm start exports its model.
constexpr const char* kSimulatedExport = "/model";

EarlierRun EarlierRunOf(const Case& one) {
  const EarlierSetup& setup = *one.before;
  EarlierRun before = {.train = {.job = one.train.job,
                                 .horizon = {.epochs = setup.epochs},
                                 .export_directory = kSimulatedExport,
                                 .cluster = one.train.cluster},
                       .workers = setup.workers};
  before.train.cluster.on_loss = OnLoss::kLeave;
  // The earlier run computes on the CPU.
  before.train.cluster.collective = CollectiveChoice::kAuto;
  before.train.job.replicas = setup.workers;
  before.train.job.data.steps_per_epoch = setup.steps_per_epoch;
  return before;
}

// Returns the simulated checkpoint directory; empty if the case has none.
std::string StoreOf(const Case& one) {
  return one.store == StoreChoice::kNone ? "" : kSimulatedStore;
}

bool HasNotice(const FaultPlan& plan, NoticeBy by) {
  return std::ranges::any_of(plan.faults, [by](const Fault& fault) {
    return fault.kind == FaultKind::kPreempt && fault.with.notice == by;
  });
}

// Writes the record and the scenario. After a pass, removes checkpoints,
// events, logs and outputs.
Status FinishCaseFolder(const Case& one, const CasePlace& place,
                        const Record& record, const Verdict& verdict) {
  const fs::path directory = place.directory;
  RETURN_IF_ERROR(
      WriteTextFile(directory / kRecordFileName, RecordToJsonLines(record)));
  const Result<std::string> scenario = WriteScenario(one, {});
  if (scenario.ok()) {
    RETURN_IF_ERROR(WriteTextFile(directory / "scenario.yaml", *scenario));
  }
  if (verdict.kind != VerdictKind::kPass) return OkStatus();
  std::error_code error;
  for (const char* name :
       {"ckpt", "events", "logs", "plan.json.fired", "model", "curves",
        "trained", "events-before", "logs-before"}) {
    fs::remove_all(directory / name, error);
  }
  return OkStatus();
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

class CaseRun {
 public:
  CaseRun(const Case& one, const CasePlace& place, References& references)
      : place_(place),
        references_(references),
        plan_(PlanOf(one)),
        record_(RecordHead(one)) {
    plan_.interrupted = place.interrupted;
    record_.world = WorldKindName(place.world);
    record_.plan_json = PlanToJson(one.plan);
  }

  void Run() {
    const Status status = TryRun();
    // Keeps an earlier error, which is closer to the cause.
    if (record_.harness_error.empty()) record_.harness_error = status.message();
  }
  Record& record() { return record_; }
  // Returns true iff the folder of the run had no room left.
  bool disk_full() const { return disk_full_; }
  double reference_seconds() const { return reference_seconds_; }

 private:
  Status SetReference() {
    place_.phase(CasePhase::kReference);
    const auto begin = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(const auto golden, references_.GoldenFor(plan_));
    reference_seconds_ = SecondsSince(begin);
    record_.golden = *golden;
    return OkStatus();
  }
  Status TryRun() {
    RETURN_IF_ERROR(SetReference());
    place_.phase(CasePhase::kRun);
    if (place_.world == WorldKind::kReal) {
      RunLog log = RunInProcesses(
          {.program = place_.program, .directory = place_.directory}, plan_);
      disk_full_ = log.disk_full;
      AdoptLog(std::move(log), record_);
      return disk_full_
                 ? PosixError(ENOSPC, place_.directory, "cannot be written")
                 : OkStatus();
    }
    ASSIGN_OR_RETURN(const auto data, references_.DataOf(plan_.train.job.data));
    FiberPool pool;
    RunLog first = RunSimulated(pool, plan_, *data);
    RunLog second = RunSimulated(pool, plan_, *data);
    if (plan_.interrupted && plan_.interrupted()) {
      return Unavailable("interrupted");
    }
    const bool same = first.event_digest == second.event_digest &&
                      first.incarnations == second.incarnations;
    AdoptLog(std::move(first), record_);
    if (same) return OkStatus();
    Record again;
    AdoptLog(std::move(second), again);
    record_.nondeterminism = DescribeNondeterminism(record_, again);
    return OkStatus();
  }

  const CasePlace& place_;
  References& references_;
  RunPlan plan_;
  Record record_;
  bool disk_full_ = false;
  double reference_seconds_ = 0;
};

}  // namespace

std::string_view ActivityOf(CasePhase phase) {
  switch (phase) {
    case CasePhase::kReference:
      return "it computes the reference run, which is cached afterwards";
    case CasePhase::kRun:
      return "it still runs";
  }
  return "";
}

RunPlan PlanOf(const Case& one) {
  RunPlan plan = {
      .train = one.train,
      .launch = LauncherOf(one.cluster),
      .faults = one.plan,
      .hosts = one.cluster.hosts,
      .link = one.cluster.link,
      .step_time = one.cluster.step_time,
      .disk = {.profile = one.disk, .capacity_bytes = one.disk_capacity},
      .max_requeues = one.cluster.max_requeues,
      .hang_limit = HangLimitOf(one),
      .total_limit = TotalLimitOf(one),
  };
  if (one.before) {
    plan.before = EarlierRunOf(one);
    plan.train.start.weights = kSimulatedExport;
  }
  plan.faults.seed = one.seed;
  plan.train.checkpoint.directory = StoreOf(one);
  if (one.outputs.curve_every > 0) {
    plan.train.summary = {.directory = kSimulatedCurves,
                          .every = one.outputs.curve_every};
  }
  if (one.outputs.exports) plan.train.export_directory = kSimulatedModel;
  plan.train.digest_every = 1;
  plan.train.log_samples = true;
  if (HasNotice(plan.faults, NoticeBy::kFile)) {
    plan.train.preemption.file = kSimulatedNotice;
  }
  if (HasNotice(plan.faults, NoticeBy::kHttp)) {
    plan.train.preemption.url = kSimulatedService;
  }
  SetDerived(plan.train, plan.launch);
  for (const LaunchSetup& launch : one.launches) {
    plan.launches.push_back({.train = OptionsOfLaunch(plan.train, launch),
                             .other_job = launch.changes_job()});
  }
  return plan;
}

CaseResult ResultBeforeRun(const Case& one, const CasePlace& place) {
  CaseResult result = {.name = one.name,
                       .scenario = one.scenario,
                       .file = one.file,
                       .line = one.line,
                       .expect_line = one.expect_line,
                       .seed = one.seed,
                       .world = std::string(WorldKindName(place.world)),
                       .replay = place.replay,
                       .directory = place.directory};
  if (result.replay.empty()) {
    result.replay = fmt::format("gauntlet run {} -k '{}' --world {}", one.file,
                                one.name, result.world);
  }
  return result;
}

CaseOutcome RunCase(const Case& one, const CasePlace& place,
                    const Capabilities& here, References& references) {
  const auto begin = std::chrono::steady_clock::now();
  CaseRun run(one, place, references);
  Record& record = run.record();
  record.skipped = WhyNotHere(one, here);
  if (record.skipped.empty()) run.Run();
  CaseOutcome outcome = {.result = ResultBeforeRun(one, place)};
  outcome.result.planted_bugs = record.setup.planted_bugs;
  outcome.result.verdict = Judge(record);
  if (!record.launchers.empty()) {
    const LauncherRun& last = record.launchers.back();
    outcome.exit_code = last.exit_code;
    if (last.result) outcome.final_digest = last.result->digest;
  }
  Verdict& verdict = outcome.result.verdict;
  if (verdict.kind == VerdictKind::kFail) {
    ExplainCase(
        record,
        place.explain ? place.explain(one, record, references) : Explanation(),
        outcome.result);
  }
  ExplainIdleFault(record, outcome.result);
  const Status kept = FinishCaseFolder(one, place, record, verdict);
  // If the disk has no room for the record, it may have had none for the events
  // of workers either. So neither the verdict nor its explanation counts.
  // Exception: a failed simulation, whose events are in memory.
  const bool seen = verdict.kind == VerdictKind::kFail &&
                    place.world == WorldKind::kSimulated;
  if (!kept.ok() && seen) {
    std::string& next = outcome.result.summary.next;
    next += fmt::format(
        "{}the case is not stored, so judge and show cannot read it: {}",
        next.empty() ? "" : "; ", kept.message());
  } else if (!kept.ok()) {
    // Keeps an earlier error, which is closer to the cause.
    if (record.harness_error.empty()) record.harness_error = kept.message();
    outcome.result = ResultBeforeRun(one, place);
    outcome.result.planted_bugs = record.setup.planted_bugs;
    verdict = Judge(record);
    ExplainIdleFault(record, outcome.result);
  }
  outcome.disk_full =
      run.disk_full() || kept.code() == Code::kResourceExhausted;
  outcome.result.seconds = SecondsSince(begin);
  outcome.result.reference_seconds = run.reference_seconds();
  return outcome;
}

void ExplainCase(const Record& record, Explanation explanation,
                 CaseResult& result) {
  result.cause = std::move(explanation.cause);
  if (!explanation.differences.empty()) {
    result.consequences =
        ConsequencesOf(explanation.differences.front(), result.verdict);
  }
  result.differences = std::move(explanation.differences);
  ExplainFailure(record, result);
  result.cause = WithClockOfWorld(std::move(result.cause), result.world);
  if (!explanation.is_left_out || result.replay.empty()) return;
  std::string& next = result.summary.next;
  next += fmt::format(
      "{}{} finds the first value that differs from the reference run's (this "
      "run searched for that of {} other cases only)",
      next.empty() ? "" : "; ", result.replay, kMostExplained);
}

}  // namespace gauntlet
