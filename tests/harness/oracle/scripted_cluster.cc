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
  record_.lives.resize(kWorkers);
  std::vector<RecordEvent>& launcher = record_.launchers[0].events;
  Say(launcher, {.kind = RecordKind::kLauncherBegin});
  for (int worker = 0; worker < kWorkers; ++worker) {
    record_.lives[static_cast<size_t>(worker)].worker = worker;
    Say(launcher, {.kind = RecordKind::kStarted,
                   .count = worker,
                   .about = worker,
                   .incarnation = 1});
    Says(worker, {.kind = RecordKind::kWorkerStarted, .count = worker});
  }
  for (int worker = 0; worker < kWorkers; ++worker) {
    Says(worker, {.kind = RecordKind::kInitialized, .generation = 1});
  }
  Step();
  Step();
}

std::vector<RecordEvent>& ScriptedCluster::EventsOf(int worker) {
  return record_.lives[static_cast<size_t>(worker)].events;
}

void ScriptedCluster::Say(std::vector<RecordEvent>& events, RecordEvent event) {
  event.t_ns = now_ns_;
  event.order = ++order_;
  events.push_back(std::move(event));
}

ScriptedCluster& ScriptedCluster::Wait(int64_t ms) {
  now_ns_ += ms * kMs;
  return *this;
}

ScriptedCluster& ScriptedCluster::Says(int worker, RecordEvent event) {
  Say(EventsOf(worker), std::move(event));
  return *this;
}

ScriptedCluster& ScriptedCluster::Step() {
  Wait(1);
  ++step_;
  for (int worker = 0; worker < kWorkers; ++worker) {
    if (!IsThere(worker)) continue;
    Says(worker, {.kind = RecordKind::kStep, .generation = 1, .step = step_});
  }
  return *this;
}

ScriptedCluster& ScriptedCluster::Fire(int worker, RecordFault fault) {
  fault.worker = std::to_string(worker);
  Says(worker, {.kind = RecordKind::kFaultFired,
                .step = step_ + 1,
                .path = fault.point,
                .detail = fault.id});
  record_.faults.push_back(std::move(fault));
  return *this;
}

ScriptedCluster& ScriptedCluster::GivesUp(int worker, int rank,
                                          RecordReason reason,
                                          int64_t limit_ms) {
  return Says(worker, {.kind = RecordKind::kWorkerLost,
                       .generation = 1,
                       .about = rank,
                       .reason = reason,
                       .limit_ns = limit_ms * kMs});
}

void ScriptedCluster::Gone(int worker, int64_t code, RecordReason reason) {
  there_[static_cast<size_t>(worker)] = false;
  const RecordEvent gone = {.kind = RecordKind::kProcessEnded,
                            .count = code,
                            .about = worker,
                            .incarnation = 1,
                            .reason = reason};
  Say(record_.machine, gone);
  RecordEvent seen = gone;
  seen.kind = RecordKind::kExited;
  Say(record_.launchers[0].events, std::move(seen));
}

ScriptedCluster& ScriptedCluster::Leaves(int worker, RecordReason reason) {
  Says(worker, {.kind = RecordKind::kWorkerExited,
                .count = kLostWorker,
                .reason = reason});
  Gone(worker, kLostWorker, RecordReason::kExited);
  return *this;
}

ScriptedCluster& ScriptedCluster::IsKilled(int worker) {
  Gone(worker, kSignal, RecordReason::kSignal);
  return *this;
}

ScriptedCluster& ScriptedCluster::EndsWith(int worker, int exit_code) {
  Gone(worker, exit_code, RecordReason::kExited);
  return *this;
}

ScriptedCluster& ScriptedCluster::LauncherKills(int worker) {
  Say(record_.launchers[0].events, {.kind = RecordKind::kKillSent,
                                    .about = worker,
                                    .incarnation = 1,
                                    .reason = RecordReason::kGraceOver});
  return IsKilled(worker);
}

ScriptedCluster& ScriptedCluster::LauncherGivesUp(int worker,
                                                  int64_t limit_ms) {
  Say(record_.launchers[0].events, {.kind = RecordKind::kWorkerLost,
                                    .about = worker,
                                    .incarnation = 1,
                                    .reason = RecordReason::kSilent,
                                    .limit_ns = limit_ms * kMs});
  return *this;
}

ScriptedCluster& ScriptedCluster::Finish() {
  for (int worker = 0; worker < kWorkers; ++worker) {
    if (!IsThere(worker)) continue;
    Says(worker, {.kind = RecordKind::kFinished, .step = step_});
    Says(worker, {.kind = RecordKind::kWorkerExited});
    Gone(worker, 0, RecordReason::kExited);
  }
  Say(record_.launchers[0].events, {.kind = RecordKind::kLauncherEnd});
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
