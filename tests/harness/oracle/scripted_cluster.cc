#include "tests/harness/oracle/scripted_cluster.h"

#include <utility>

#include "harness/oracle/judge.h"

namespace gauntlet {
namespace {

constexpr int64_t kSignal = 128 + 9;
constexpr int64_t kLostWorker = 75;

}  // namespace

ScriptedCluster::ScriptedCluster() {
  record_.scenario = record_.case_name = "cluster";
  record_.world = "sim";
  record_.setup = {.workers = kWorkers,
                   .detection_bound_ns = 12'000 * kMs,
                   .detection_bound_saving_ns = 20'000 * kMs,
                   .detection_bound_joining_ns = 30'000 * kMs,
                   .heartbeat_every_ns = 100 * kMs,
                   .silence_limit_ns = 1'000 * kMs,
                   .hang_limit_ns = 10'000 * kMs,
                   .planted_bugs = {}};
  record_.launchers.emplace_back();
  record_.incarnations.resize(kWorkers);
  std::vector<RecordEvent>& launcher = record_.launchers[0].events;
  Emit(launcher, {.kind = RecordKind::kLauncherBegin});
  for (int worker = 0; worker < kWorkers; ++worker) {
    record_.incarnations[static_cast<size_t>(worker)].worker = worker;
    Emit(launcher, {.kind = RecordKind::kStarted,
                    .count = worker,
                    .about = worker,
                    .incarnation = 1});
    Emits(worker, {.kind = RecordKind::kWorkerStarted, .count = worker});
  }
  for (int worker = 0; worker < kWorkers; ++worker) {
    Emits(worker, {.kind = RecordKind::kInitialized, .generation = 1});
  }
  Step();
  Step();
}

std::vector<RecordEvent>& ScriptedCluster::EventsOf(int worker) {
  return record_.incarnations[static_cast<size_t>(worker)].events;
}

void ScriptedCluster::Emit(std::vector<RecordEvent>& events,
                           RecordEvent event) {
  event.t_ns = now_ns_;
  event.order = ++order_;
  events.push_back(std::move(event));
}

ScriptedCluster& ScriptedCluster::Wait(int64_t ms) {
  now_ns_ += ms * kMs;
  return *this;
}

ScriptedCluster& ScriptedCluster::Emits(int worker, RecordEvent event) {
  Emit(EventsOf(worker), std::move(event));
  return *this;
}

ScriptedCluster& ScriptedCluster::Step() {
  Wait(1);
  ++step_;
  for (int worker = 0; worker < kWorkers; ++worker) {
    if (!IsRunning(worker)) continue;
    Emits(worker, {.kind = RecordKind::kStep, .generation = 1, .step = step_});
  }
  return *this;
}

ScriptedCluster& ScriptedCluster::Fire(int worker, RecordFault fault) {
  fault.worker = std::to_string(worker);
  Emits(worker, {.kind = RecordKind::kFaultFired,
                 .step = step_ + 1,
                 .path = fault.point,
                 .detail = fault.id});
  record_.faults.push_back(std::move(fault));
  return *this;
}

ScriptedCluster& ScriptedCluster::GivesUp(int worker, int rank,
                                          RecordReason reason,
                                          int64_t limit_ms) {
  return Emits(worker, {.kind = RecordKind::kWorkerLost,
                        .generation = 1,
                        .about = rank,
                        .reason = reason,
                        .limit_ns = limit_ms * kMs});
}

void ScriptedCluster::EmitExit(int worker, int64_t code, RecordReason reason) {
  running_[static_cast<size_t>(worker)] = false;
  const RecordEvent gone = {.kind = RecordKind::kProcessEnded,
                            .count = code,
                            .about = worker,
                            .incarnation = 1,
                            .reason = reason};
  Emit(record_.machine, gone);
  RecordEvent seen = gone;
  seen.kind = RecordKind::kExited;
  Emit(record_.launchers[0].events, std::move(seen));
}

ScriptedCluster& ScriptedCluster::Leaves(int worker, RecordReason reason) {
  Emits(worker, {.kind = RecordKind::kWorkerExited,
                 .count = kLostWorker,
                 .reason = reason});
  EmitExit(worker, kLostWorker, RecordReason::kExited);
  return *this;
}

ScriptedCluster& ScriptedCluster::IsKilled(int worker) {
  EmitExit(worker, kSignal, RecordReason::kSignal);
  return *this;
}

ScriptedCluster& ScriptedCluster::EndsWith(int worker, int exit_code) {
  EmitExit(worker, exit_code, RecordReason::kExited);
  return *this;
}

ScriptedCluster& ScriptedCluster::LauncherKills(int worker) {
  Emit(record_.launchers[0].events, {.kind = RecordKind::kKillSent,
                                     .about = worker,
                                     .incarnation = 1,
                                     .reason = RecordReason::kGraceOver});
  return IsKilled(worker);
}

ScriptedCluster& ScriptedCluster::LauncherGivesUp(int worker,
                                                  int64_t limit_ms) {
  Emit(record_.launchers[0].events, {.kind = RecordKind::kWorkerLost,
                                     .about = worker,
                                     .incarnation = 1,
                                     .reason = RecordReason::kSilent,
                                     .limit_ns = limit_ms * kMs});
  return *this;
}

ScriptedCluster& ScriptedCluster::Finish() {
  for (int worker = 0; worker < kWorkers; ++worker) {
    if (!IsRunning(worker)) continue;
    Emits(worker, {.kind = RecordKind::kFinished, .step = step_});
    Emits(worker, {.kind = RecordKind::kWorkerExited});
    EmitExit(worker, 0, RecordReason::kExited);
  }
  Emit(record_.launchers[0].events, {.kind = RecordKind::kLauncherEnd});
  return *this;
}

std::vector<std::string> ScriptedCluster::Violations(
    std::string_view invariant) const {
  std::vector<std::string> names;
  for (const InvariantReport& report : Judge(record_).invariants) {
    if (report.invariant != invariant) continue;
    for (const Finding& finding : report.findings) {
      names.push_back(finding.name);
    }
  }
  return names;
}

}  // namespace gauntlet
