#include "harness/explore/crash/crash_window.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/epoch_text.h"
#include "harness/run/executor/sim_run.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the events of all workers, in the order of time.
std::vector<RecordEvent> EventsOf(const RunLog& log) {
  std::vector<RecordEvent> events;
  for (const IncarnationEvents& incarnation : log.incarnations) {
    events.insert(events.end(), incarnation.events.begin(),
                  incarnation.events.end());
  }
  std::ranges::stable_sort(events, {}, &RecordEvent::t_ns);
  return events;
}

// Returns the number of operations that were done at the time of an event.
size_t OperationsBy(const DiskLog& log, int64_t t_ns) {
  const auto after = std::ranges::upper_bound(
      log.operations, t_ns, {}, [](const MicroOp& operation) {
        return operation.time.time_since_epoch().count();
      });
  return static_cast<size_t>(after - log.operations.begin());
}

struct LoggedRun {
  CrashWindowLog window;
  std::vector<RecordEvent> events;
  std::vector<size_t> saves;  // number of operations before each save begins
};

Result<LoggedRun> RunLogged(const RunInputs& inputs, RunPlan plan) {
  LoggedRun run;
  plan.disk.profile = DurabilityProfile::kExt4;
  plan.disk.log = &run.window.log;
  const RunLog log = RunSimulated(inputs.pool, plan, inputs.data);
  if (plan.interrupted && plan.interrupted()) return Unavailable("interrupted");
  if (log.launchers.empty() || log.launchers.back().exit_code != 0) {
    return FailedPrecondition("the run to take crash states of does not end: " +
                              log.ending_detail);
  }
  run.events = EventsOf(log);
  std::set<std::string> begun;
  for (const RecordEvent& event : run.events) {
    const size_t operations = OperationsBy(run.window.log, event.t_ns);
    if (event.kind == RecordKind::kSaveBegin) {
      run.saves.push_back(operations);
    } else if (event.kind == RecordKind::kSaveAcknowledged) {
      const auto digest = Digest::Parse(event.digest);
      const int index = inputs.trajectory.IndexOf(digest.value(), event.step);
      if (index == Trajectory::kNowhere) {
        return FailedPrecondition(
            fmt::format("the save of step {} is not of the reference's "
                        "trajectory, {}",
                        event.step,
                        plan.faults.faults.empty() ? "without any fault"
                                                   : "behind a mere crash"));
      }
      run.window.acknowledged.push_back({.operations = operations,
                                         .index = index,
                                         .finite = event.count == 0});
    }
  }
  return run;
}

size_t EndOfSave(const LoggedRun& run, size_t save) {
  if (save + 1 < run.saves.size()) return run.saves[save + 1];
  // The window of the last save ends when the run has finished training, so
  // that it does not include the deletion of the checkpoints.
  for (const RecordEvent& event : run.events) {
    if (event.kind == RecordKind::kFinished) {
      return std::max(OperationsBy(run.window.log, event.t_ns),
                      run.saves[save]);
    }
  }
  return run.window.log.operations.size();
}

// Returns the plan with a crash at the first step after its `save`-th save
// (counted from 1).
Result<RunPlan> PlanWithCrash(const RunInputs& inputs, size_t save) {
  ASSIGN_OR_RETURN(const LoggedRun plain, RunLogged(inputs, inputs.plan));
  std::vector<uint64_t> steps;
  for (const RecordEvent& event : plain.events) {
    if (event.kind == RecordKind::kSaveAcknowledged) {
      steps.push_back(event.step);
    }
  }
  // The run must make another save after the crash.
  if (steps.size() <= save) {
    return InvalidArgument(
        fmt::format("crash states of a recovery: expected a run of at least {} "
                    "saves, found {}",
                    save + 1, steps.size()));
  }
  RunPlan plan = inputs.plan;
  plan.launch.restart = RestartPolicy::kWholeJob;
  plan.launch.max_restarts = std::max(plan.launch.max_restarts, 1);
  plan.faults.faults.push_back({.id = "crash",
                                .site = {.worker = plan.launch.workers - 1,
                                         .step = steps[save - 1] + 1,
                                         .point = Point::kStepBegin}});
  return plan;
}

// Returns the window from the first operation of the second incarnation until
// the first save after it is over (EndOfSave).
Result<CrashWindowLog> WindowOfRecovery(LoggedRun run, const RunPlan& plan) {
  // Finds the time at which the first worker of the second attempt starts. The
  // window begins with the first operation after this time.
  std::optional<int64_t> began;
  int begun = 0;
  for (const RecordEvent& event : run.events) {
    if (event.kind != RecordKind::kWorkerStarted) continue;
    if (++begun == plan.launch.workers + 1) began = event.t_ns;
  }
  if (!began) {
    return FailedPrecondition(
        "crash states of a recovery: the run claimed no second generation");
  }
  run.window.begin = OperationsBy(run.window.log, *began);
  const auto next = std::ranges::find_if(run.saves, [&](size_t operations) {
    return operations > run.window.begin;
  });
  if (next == run.saves.end()) {
    return FailedPrecondition(
        "crash states of a recovery: no save comes after it");
  }
  run.window.end =
      EndOfSave(run, static_cast<size_t>(next - run.saves.begin()));
  return std::move(run.window);
}

}  // namespace

Trajectory::Trajectory(const GoldenTrajectory& golden) {
  for (const GoldenEntry& entry : golden.entries) {
    const auto digest = Digest::Parse(entry.digest);
    if (!digest) continue;
    const int index = static_cast<int>(steps_.size());
    if (indices_.try_emplace(*digest, index).second) {
      steps_.emplace_back(entry.step, entry.epoch);
    }
  }
}

int Trajectory::IndexOf(const Digest& digest, uint64_t step) const {
  const auto found = indices_.find(digest);
  if (found == indices_.end()) return kNowhere;
  const int index = found->second;
  return steps_[static_cast<size_t>(index)].first == step ? index : kNowhere;
}

std::string Trajectory::NameOf(int index) const {
  if (index <= 0) return "the initial state";
  const auto& [step, epoch] = steps_[static_cast<size_t>(index)];
  return fmt::format("step {}, {}", step, EpochsCompleted(epoch));
}

int CrashWindowLog::NewestBefore(size_t i) const {
  int newest = 0;
  for (const Acknowledgement& one : acknowledged) {
    if (one.operations <= i + 1) newest = one.index;
  }
  return newest;
}

int CrashWindowLog::NewestFiniteBefore(size_t i) const {
  int newest = 0;
  for (const Acknowledgement& one : acknowledged) {
    if (one.finite && one.operations <= i + 1) newest = one.index;
  }
  return newest;
}

int CrashWindowLog::SecondNewestBefore(size_t i) const {
  int newest = 0;
  int second = 0;
  for (const Acknowledgement& one : acknowledged) {
    if (one.operations > i + 1) break;
    second = std::exchange(newest, one.index);
  }
  return second;
}

Result<CrashWindowLog> LogOfSave(const RunInputs& inputs, uint64_t save) {
  ASSIGN_OR_RETURN(LoggedRun run, RunLogged(inputs, inputs.plan));
  const size_t saves = run.saves.size();
  const auto keep = static_cast<size_t>(inputs.plan.train.checkpoint.keep);
  if (saves == 0 || save > saves) {
    return InvalidArgument(fmt::format(
        "crash states: expected a run of at least {} saves, found {}",
        std::max<uint64_t>(save, 1), saves));
  }
  const size_t index = save > 0 ? save - 1 : std::min(keep, saves - 1);
  run.window.begin = run.saves[index];
  run.window.end = EndOfSave(run, index);
  return std::move(run.window);
}

Result<CrashWindowLog> LogOfRecovery(const RunInputs& inputs) {
  ASSIGN_OR_RETURN(const RunPlan plan, PlanWithCrash(inputs, 1));
  ASSIGN_OR_RETURN(LoggedRun run, RunLogged(inputs, plan));
  return WindowOfRecovery(std::move(run), plan);
}

Result<CrashWindowLog> LogOfRetriedClaim(const RunInputs& inputs) {
  ASSIGN_OR_RETURN(RunPlan plan, PlanWithCrash(inputs, 1));
  plan.launch.max_restarts = std::max(plan.launch.max_restarts, 2);
  plan.faults.faults.push_back(
      {.id = "crash-in-claim",
       .site = {.worker = 0, .incarnation = 2, .point = Point::kClaimRecord}});
  ASSIGN_OR_RETURN(LoggedRun run, RunLogged(inputs, plan));
  return WindowOfRecovery(std::move(run), plan);
}

Result<CrashWindowLog> LogOfRejection(const RunInputs& inputs) {
  ASSIGN_OR_RETURN(RunPlan plan, PlanWithCrash(inputs, 2));
  // A synchronous save is finished before the crash; an asynchronous one might
  // not be.
  plan.train.checkpoint.mode = SaveMode::kSync;
  plan.train.checkpoint.keep = std::max(plan.train.checkpoint.keep, 2);
  plan.faults.faults.push_back(
      {.id = "flip",
       .site = {.worker = 0, .save = 2, .point = Point::kShardWrite},
       .kind = FaultKind::kBitFlip,
       .with = {.offset = {.value = 50, .unit = OffsetUnit::kPercent}}});
  ASSIGN_OR_RETURN(LoggedRun run, RunLogged(inputs, plan));
  if (std::ranges::find(run.events, RecordKind::kRejected,
                        &RecordEvent::kind) == run.events.end()) {
    return FailedPrecondition(
        "crash states of a rejection: the run rejected no checkpoint");
  }
  std::vector<Acknowledgement>& acknowledged = run.window.acknowledged;
  acknowledged.erase(acknowledged.begin() + 1);
  return WindowOfRecovery(std::move(run), plan);
}

Result<CrashWindowLog> LogOfDeletion(const RunInputs& inputs) {
  ASSIGN_OR_RETURN(RunPlan plan, PlanWithCrash(inputs, 1));
  plan.train.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  ASSIGN_OR_RETURN(LoggedRun run, RunLogged(inputs, plan));
  const auto begun = std::ranges::find(run.events, RecordKind::kDeleteBegin,
                                       &RecordEvent::kind);
  run.window.end = run.window.log.operations.size();
  run.window.begin = begun == run.events.end()
                         ? run.window.end
                         : OperationsBy(run.window.log, begun->t_ns);
  return std::move(run.window);
}

}  // namespace gauntlet
