#include "tests/harness/oracle/scripted_run.h"

#include <algorithm>
#include <utility>

#include "harness/oracle/judge.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using K = RecordKind;

constexpr uint64_t kRowsPerStep = 4;
constexpr uint64_t kSaveEvery = 2;
constexpr int64_t kSignal = 128 + 9;

uint32_t LossAt(uint64_t step) { return 0x3f800000u - 16 * uint32_t(step); }

uint64_t EpochAt(const TrainingPosition& position) {
  const bool is_over = position.phase == RecordPhase::kInEpoch;
  return is_over ? position.step / kStepsPerEpoch
                 : position.step / kStepsPerEpoch - 1;
}

// Returns the number of the epoch's samples that have been trained.
uint64_t PositionAt(const TrainingPosition& position) {
  return (position.step - EpochAt(position) * kStepsPerEpoch) * kRowsPerStep;
}

// Returns the worker's samples of a step, which is split into equal parts.
std::vector<uint32_t> RowsOf(uint64_t step, int worker, int workers) {
  const auto first =
      static_cast<uint32_t>((step - 1) % kStepsPerEpoch * kRowsPerStep);
  const auto each =
      static_cast<uint32_t>(kRowsPerStep) / static_cast<uint32_t>(workers);
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < each; ++i) {
    rows.push_back(first + each * static_cast<uint32_t>(worker) + i);
  }
  return rows;
}

std::string PathOf(const std::string& name) { return "/ckpt/" + name; }

GoldenTrajectory Golden() {
  ScriptedRun alone(1);
  alone.facts.golden = {};
  alone.facts.setup.save_interval_steps = 0;
  alone.LaunchAll();
  alone.Claim();
  alone.Initialize();
  alone.TrainTo(kLastStep);
  alone.Finish();
  return GoldenOf(alone.record().incarnations.at(0));
}

}  // namespace

std::string DigestAt(uint64_t step, RecordPhase phase) {
  return fmt::format("{:032x}", step * 16 + static_cast<uint64_t>(phase) + 1);
}

RecordPhase PhaseAfter(uint64_t step) {
  return step > 0 && step % kStepsPerEpoch == 0 ? RecordPhase::kEvaluationDue
                                                : RecordPhase::kInEpoch;
}

std::string NameOfSave(uint64_t step, uint64_t generation) {
  return NameOfSave({.step = step, .phase = PhaseAfter(step)}, generation);
}

std::string NameOfSave(const TrainingPosition& position, uint64_t generation) {
  std::string phase;
  if (position.phase != RecordPhase::kInEpoch) {
    phase = fmt::format("-{}", RecordPhaseName(position.phase));
  } else if (PhaseAfter(position.step) != RecordPhase::kInEpoch) {
    phase = "-finished";
  }
  return fmt::format("step-{:09}{}-g{}", position.step, phase, generation);
}

std::string NameOfLastSave(uint64_t generation) {
  return NameOfSave({.step = kLastStep}, generation);
}

ScriptedRun::ScriptedRun(int workers)
    : workers_(workers),
      incarnations_(static_cast<size_t>(workers), 0),
      running_(static_cast<size_t>(workers), false),
      positions_(static_cast<size_t>(workers)) {
  facts.scenario = facts.case_name = "case";
  facts.world = "sim";
  facts.setup = {.workers = workers,
                 .epochs = kEpochs,
                 .rows_per_epoch = kRowsPerStep * kStepsPerEpoch,
                 .save_interval_steps = kSaveEvery,
                 .keep = 3,
                 .detection_bound_ns = 100 * kTick,
                 .detection_bound_saving_ns = 200 * kTick,
                 .detection_bound_joining_ns = 300 * kTick,
                 .max_restarts = 8,
                 .planted_bugs = {}};
  facts.left = {.store_listed = true, .processes_listed = true};
  if (workers == 1) return;
  static const GoldenTrajectory golden = Golden();
  facts.golden = golden;
}

Record ScriptedRun::record() const {
  Record record = facts;
  events.AddTo(record);
  return record;
}

Emitter ScriptedRun::By(int worker) const {
  return WorkerProcess(worker, incarnations_[static_cast<size_t>(worker)]);
}

void ScriptedRun::Emit(int worker, RecordEvent event) {
  events.Append(By(worker), std::move(event));
}

void ScriptedRun::EmitAll(const RecordEvent& event) {
  for (int worker = 0; worker < workers_; ++worker) {
    if (IsRunning(worker)) Emit(worker, event);
  }
}

void ScriptedRun::Launcher(RecordEvent event) {
  events.Append(LauncherProcess(launches_), std::move(event));
}

void ScriptedRun::Launch() {
  ++launches_;
  facts.launchers.emplace_back();
  facts.launchers.back().first_incarnation =
      1 + std::ranges::max(incarnations_);
  Launcher({.kind = K::kLauncherBegin});
}

void ScriptedRun::Start(int worker) {
  const auto index = static_cast<size_t>(worker);
  running_[index] = true;
  positions_[index] = {};
  Launcher({.kind = K::kStarted,
            .count = worker,
            .about = worker,
            .incarnation = ++incarnations_[index]});
  Emit(worker, {.kind = K::kWorkerStarted, .count = worker});
}

void ScriptedRun::StartAll() {
  for (int worker = 0; worker < workers_; ++worker) Start(worker);
}

void ScriptedRun::LaunchAll() {
  Launch();
  StartAll();
}

void ScriptedRun::Restart(int to_blame) {
  LauncherRun& launcher = facts.launchers.back();
  ++launcher.restarts;
  Launcher({.kind = K::kRestarting,
            .count = static_cast<int64_t>(launcher.restarts),
            .about = to_blame,
            .limit_ns = kTick});
}

void ScriptedRun::Fire(int worker, RecordFault fault) {
  const TrainingPosition& position = positions_[static_cast<size_t>(worker)];
  const bool is_in_step = position.phase == RecordPhase::kInEpoch;
  Emit(worker, {.kind = K::kFaultFired,
                .step = position.step + (is_in_step ? 1 : 0),
                .epoch = EpochAt(position),
                .path = fault.point,
                .detail = fault.id});
  fault.worker = std::to_string(worker);
  if (std::ranges::find(facts.faults, fault.id, &RecordFault::id) ==
      facts.faults.end()) {
    facts.faults.push_back(std::move(fault));
  }
}

void ScriptedRun::SeeNotice(int worker) {
  Emit(worker, {.kind = K::kNotice,
                .generation = generation_,
                .step = positions_[static_cast<size_t>(worker)].step});
}

void ScriptedRun::EmitExit(int worker, int64_t code, RecordReason reason) {
  running_[static_cast<size_t>(worker)] = false;
  const RecordEvent gone = {.kind = K::kProcessEnded,
                            .count = code,
                            .about = worker,
                            .incarnation = By(worker).incarnation,
                            .reason = reason};
  events.Append(kMachine, gone);
  RecordEvent exited = gone;
  exited.kind = K::kExited;
  Launcher(std::move(exited));
}

void ScriptedRun::Die(int worker, int64_t exit_code) {
  EmitExit(worker, exit_code, RecordReason::kExited);
}

void ScriptedRun::Exit(int worker, int64_t exit_code, RecordReason reason,
                       uint64_t unsaved) {
  Emit(worker, {.kind = K::kWorkerExited,
                .step = unsaved,
                .count = exit_code,
                .reason = reason});
  EmitExit(worker, exit_code, RecordReason::kExited);
}

void ScriptedRun::Lose(int worker, int rank, RecordReason reason) {
  Emit(worker, {.kind = K::kWorkerLost,
                .generation = generation_,
                .about = rank,
                .reason = reason,
                .limit_ns = 100 * kTick});
  Emit(worker, {.kind = K::kLeaving, .generation = generation_});
}

void ScriptedRun::LeaveToRejoin(int worker) {
  Emit(worker, {.kind = K::kLeft,
                .generation = generation_,
                .step = positions_[static_cast<size_t>(worker)].step,
                .reason = RecordReason::kLostWorker});
}

void ScriptedRun::EndLauncher(int exit_code, const std::string& status) {
  LauncherRun& launcher = facts.launchers.back();
  launcher.exit_code = exit_code;
  if (!status.empty()) {
    const TrainingPosition last = position();
    launcher.result = {.status = status,
                       .epochs = EpochAt(last),
                       .steps = last.step,
                       .digest = DigestAt(last.step, last.phase)};
    if (launcher.result->epochs > 0) {
      launcher.result->loss_bits =
          LossAt(launcher.result->epochs * kStepsPerEpoch) + 1;
    }
  }
  Launcher({.kind = K::kLauncherEnd, .count = exit_code});
  events.Append(kMachine, {.kind = K::kProcessEnded,
                           .count = exit_code,
                           .about = kLauncherWorker,
                           .reason = RecordReason::kExited});
}

void ScriptedRun::CutPower(const std::string& disk) {
  events.Append(kMachine,
                {.kind = K::kPowerCut, .path = "host", .detail = disk});
  facts.launchers.back().exit_code = kSignal;
  for (int worker = kLauncherWorker; worker < workers_; ++worker) {
    if (worker != kLauncherWorker && !IsRunning(worker)) continue;
    const int incarnation =
        worker == kLauncherWorker ? 0 : By(worker).incarnation;
    events.Append(kMachine, {.kind = K::kProcessEnded,
                             .count = kSignal,
                             .about = worker,
                             .incarnation = incarnation,
                             .reason = RecordReason::kSignal});
  }
  running_.assign(running_.size(), false);
}

std::string ScriptedRun::DigestOfSave(std::string_view name) const {
  const auto saved =
      std::ranges::find(facts.left.checkpoints, name, &StoredCheckpoint::name);
  return saved == facts.left.checkpoints.end() ? "" : saved->digest;
}

void ScriptedRun::Claim(const std::string& parent) {
  ClaimNumber(generation_ + 1, parent);
}

void ScriptedRun::ClaimNumber(uint64_t number, const std::string& parent) {
  generation_ = number;
  Emit(0, {.kind = K::kClaimBegin, .count = static_cast<int64_t>(number)});
  Emit(0, {.kind = K::kGeneration,
           .generation = number,
           .digest = DigestOfSave(parent),
           .path = parent.empty() ? "" : PathOf(parent)});
}

void ScriptedRun::Initialize() {
  EmitAll({.kind = K::kInitialized,
           .generation = generation_,
           .digest = DigestAt(0)});
}

// Returns an event with the worker's state. `position` includes the samples of
// the newest step.
RecordEvent ScriptedRun::StateEvent(RecordKind kind, int worker) const {
  const TrainingPosition& position = positions_[static_cast<size_t>(worker)];
  return {.kind = kind,
          .generation = generation_,
          .step = position.step,
          .epoch = EpochAt(position),
          .position = PositionAt(position),
          .phase = position.phase,
          .digest = DigestAt(position.step, position.phase)};
}

void ScriptedRun::Resume(const std::string& name,
                         const TrainingPosition& position) {
  for (int worker = 0; worker < workers_; ++worker) {
    if (!IsRunning(worker)) continue;
    positions_[static_cast<size_t>(worker)] = position;
    Emit(worker, {.kind = K::kLoaded,
                  .step = position.step,
                  .digest = DigestAt(position.step, position.phase),
                  .path = PathOf(name)});
    RecordEvent resumed = StateEvent(K::kResumed, worker);
    resumed.path = name;
    Emit(worker, std::move(resumed));
  }
}

void ScriptedRun::ResumeFromMemory(int holder) {
  const TrainingPosition held = positions_[static_cast<size_t>(holder)];
  for (int worker = 0; worker < workers_; ++worker) {
    TrainingPosition& position = positions_[static_cast<size_t>(worker)];
    const bool kept = position == held;
    position = held;
    RecordEvent event = StateEvent(K::kResumedFromMemory, worker);
    event.detail = kept ? "kept" : fmt::format("from rank {}", holder);
    Emit(worker, std::move(event));
  }
}

void ScriptedRun::Step(int worker, uint64_t step) {
  positions_[static_cast<size_t>(worker)] = {.step = step,
                                             .phase = PhaseAfter(step)};
  RecordEvent event = StateEvent(K::kStep, worker);
  event.position -= kRowsPerStep;  // before the step
  event.count = 1;
  event.loss_bits = LossAt(step);
  event.samples = RowsOf(step, worker, workers_);
  Emit(worker, std::move(event));
}

void ScriptedRun::StepAll(uint64_t step) {
  for (int worker = 0; worker < workers_; ++worker) {
    if (IsRunning(worker)) Step(worker, step);
  }
}

void ScriptedRun::Evaluate() {
  for (int worker = 0; worker < workers_; ++worker) {
    TrainingPosition& position = positions_[static_cast<size_t>(worker)];
    position.phase = RecordPhase::kCallbacksDue;
    RecordEvent event = StateEvent(K::kEvaluated, worker);
    event.position = 0;
    event.count = 3;
    event.loss_bits = LossAt(position.step) + 1;
    Emit(worker, std::move(event));
  }
}

void ScriptedRun::EndEpoch() {
  for (int worker = 0; worker < workers_; ++worker) {
    TrainingPosition& position = positions_[static_cast<size_t>(worker)];
    position.phase = RecordPhase::kInEpoch;
    RecordEvent event = StateEvent(K::kEpochEnd, worker);
    --event.epoch;
    event.count = 3;
    event.loss_bits = LossAt(position.step) + 1;
    Emit(worker, std::move(event));
  }
}

void ScriptedRun::TrainTo(uint64_t step) {
  const uint64_t every = facts.setup.save_interval_steps;
  for (uint64_t next = position().step + 1; next <= step; ++next) {
    StepAll(next);
    if (every > 0 && next % every == 0) Save();
    if (PhaseAfter(next) == RecordPhase::kInEpoch) continue;
    Evaluate();
    EndEpoch();
  }
}

void ScriptedRun::StopAgreed() {
  EmitAll({.kind = K::kStopAgreed,
           .generation = generation_,
           .step = position().step,
           .epoch = EpochAt(position())});
}

void ScriptedRun::BeginSave() {
  saved_position_ = position();
  saving_ = NameOfSave(saved_position_, generation_);
  Emit(0, {.kind = K::kSaveBegin,
           .generation = generation_,
           .step = position().step,
           .phase = position().phase,
           .path = PathOf(saving_)});
}

void ScriptedRun::CopyForSave() {
  EmitAll({.kind = K::kSaveCopied,
           .step = saved_position_.step,
           .phase = saved_position_.phase});
}

void ScriptedRun::Acknowledge() {
  const std::string digest =
      DigestAt(saved_position_.step, saved_position_.phase);
  Emit(0, {.kind = K::kSaveAcknowledged,
           .generation = generation_,
           .step = saved_position_.step,
           .phase = saved_position_.phase,
           .digest = digest,
           .path = PathOf(saving_)});
  facts.left.checkpoints.push_back({.name = saving_,
                                    .step = saved_position_.step,
                                    .valid = true,
                                    .reason = "",
                                    .digest = digest});
}

void ScriptedRun::Retire(const std::string& name) {
  Emit(0, {.kind = K::kRetireBegin, .path = PathOf(name)});
  Emit(0, {.kind = K::kRetired, .path = PathOf(name)});
  std::erase_if(facts.left.checkpoints,
                [&](const StoredCheckpoint& one) { return one.name == name; });
}

void ScriptedRun::Keep() {
  const auto keep = static_cast<size_t>(facts.setup.keep);
  while (facts.left.checkpoints.size() > keep) {
    Retire(std::string(facts.left.checkpoints.front().name));
  }
}

void ScriptedRun::Save() {
  BeginSave();
  Acknowledge();
  Keep();
}

void ScriptedRun::DeleteAll() {
  Emit(0, {.kind = K::kResultAcknowledged,
           .generation = generation_,
           .step = position().step,
           .epoch = EpochAt(position())});
  Emit(0, {.kind = K::kDeleteBegin, .path = "/ckpt"});
  for (const StoredCheckpoint& one : facts.left.checkpoints) {
    Emit(0, {.kind = K::kRetireBegin, .path = PathOf(one.name)});
  }
  Emit(0, {.kind = K::kBackupDeleted, .path = "/ckpt"});
  facts.left.checkpoints.clear();
}

void ScriptedRun::SendResult() {
  Launcher({.kind = K::kResultReceived,
            .step = position().step,
            .about = 0,
            .incarnation = By(0).incarnation});
}

void ScriptedRun::FinishTraining() {
  const bool deletes = facts.setup.delete_at_success;
  if (!deletes && facts.setup.save_interval_steps > 0) Save();
  EmitAll({.kind = K::kFinished,
           .generation = generation_,
           .step = position().step,
           .epoch = EpochAt(position()),
           .digest = DigestAt(position().step, position().phase)});
  SendResult();
  if (deletes) DeleteAll();
}

void ScriptedRun::Finish() {
  FinishTraining();
  for (int worker = 0; worker < workers_; ++worker) Exit(worker, 0);
  EndLauncher(0, "done");
}

std::vector<std::string> FindingsOf(const Record& record) {
  std::vector<std::string> names;
  for (const InvariantReport& report : Judge(record).invariants) {
    for (const Finding& finding : report.findings) {
      names.push_back(finding.invariant + "/" + finding.name);
    }
  }
  return names;
}

std::vector<std::string> FindingsOf(const ScriptedRun& run) {
  return FindingsOf(run.record());
}

}  // namespace gauntlet
