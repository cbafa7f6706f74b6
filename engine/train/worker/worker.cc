#include "engine/train/worker/worker.h"

#include <optional>
#include <utility>

#include "engine/train/loop/run_summary.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/loop/training_loop.h"
#include "engine/train/notice/notice_watch.h"
#include "engine/train/save/async_save.h"
#include "engine/train/save/collective_save.h"
#include "engine/train/state/state_copy.h"
#include "engine/train/worker/generation_join.h"
#include "engine/train/worker/worker_finish.h"
#include "engine/train/worker/worker_parts.h"
#include "engine/train/worker_exit.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns true iff the error means that another worker is lost, or that it has
// not answered in time.
bool IsLoss(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded;
}

class Worker {
 public:
  Worker(World& world, const TrainInputs& inputs, const WorkerSpec& place,
         ProgressReporter& reporter)
      : world_(world),
        options_(inputs.options),
        parts_{.world = world,
               .inputs = inputs,
               .place = place,
               .reporter = reporter,
               .launch_hold = place.launch_hold,
               .times = TimeSplit(world.clock, inputs.loaded_since.value_or(
                                                   world.clock.Now()))},
        join_(parts_) {}

  // Runs the worker, from its first event to its last.
  WorkerEnd RunAndReport();
  // Ends all tasks that RunAndReport may have left waiting.
  TrainedWorker Abort(WorkerEnd end);

 private:
  WorkerEnd Run();
  Result<LoopEnd> RunOneGeneration();
  Result<LoopEnd> Train();
  SaveStrategy MakeSaves();
  Trainer& PrepareTrainer();
  SpareArrays* Spare();
  bool IsSaving() const;
  Status EndSave();
  void TakeEndedSave();
  void EmitStartTimes();
  bool MayRejoin(const Status& status);
  Status LeaveGeneration(const Status& why);
  WorkerEnd End(const Status& status);
  WorkerEnd EndAfter(LoopEnd end);

  World& world_;
  const TrainOptions& options_;
  WorkerParts parts_;
  GenerationJoin join_;
  // Deadline of the next rendezvous; kNever: a generation has formed.
  Time rendezvous_deadline_{};
  std::optional<LoopCarryover> loop_carryover_;
  Status unsaved_;  // error of the last save; Ok if it did not fail
  StateCopy copy_;  // memory for the asynchronous saves of all generations
  // Saves of the newest generation; their tasks may outlive its loop.
  std::optional<CollectiveSave> save_;
  std::optional<AsyncSave> async_save_;
};

SaveStrategy Worker::MakeSaves() {
  if (!parts_.store) return {};
  const Duration timeout = options_.cluster.save_timeout;
  save_.emplace(world_, *parts_.store, parts_.session->ring(),
                parts_.inputs.job_json, parts_.generation(), timeout);
  save_->LimitShards(options_.checkpoint.shards);
  if (options_.checkpoint.mode == SaveMode::kSync) return {.sync = &*save_};
  async_save_.emplace(world_, *save_, timeout, copy_, Spare());
  async_save_->Reserve(*parts_.state);
  return {.sync = &*save_, .async = &*async_save_};
}

// Returns the spare arrays of the state; null if saves take copies.
SpareArrays* Worker::Spare() {
  if (options_.checkpoint.mode != SaveMode::kZeroCopy ||
      parts_.built.kernels->memory().kind() != MemoryKind::kHost) {
    return nullptr;
  }
  if (!parts_.spare) parts_.spare.emplace(*parts_.state);
  return &*parts_.spare;
}

// Returns true if a save is in flight, or a task retires old checkpoints.
bool Worker::IsSaving() const {
  return (async_save_ && async_save_->is_in_flight()) ||
         (save_ && save_->has_retirement_task());
}

// Waits for the tasks of saves in a lost generation. After that, a save in
// flight has failed or is acknowledged, and this worker no longer changes the
// store. Only then may it emit kLeft. kDeadlineExceeded: a task hangs. After
// other errors, such as kFenced, this worker must exit.
Status Worker::EndSave() {
  if (!IsSaving()) return OkStatus();
  // Aborts the session, so that the other workers detect the loss of this
  // worker now, not only after the save.
  if (parts_.session) parts_.session->Abort();
  const Duration bound = options_.cluster.save_timeout;
  parts_.AnnounceReportWithin(bound);
  if (parts_.rejoins()) parts_.reporter.Progress({.saving = bound});
  Status ended = async_save_ ? async_save_->EndTask() : OkStatus();
  if (ended.ok()) ended = save_->EndTask();
  if (parts_.rejoins()) parts_.reporter.Progress({.saving = Duration::zero()});
  if (ended.code() != Code::kDeadlineExceeded) TakeEndedSave();
  return ended;
}

// Adds the times of saves that ended after their loop to loop_carryover_, and
// reports their warnings.
void Worker::TakeEndedSave() {
  for (const TimedSave& save : save_->TakeTimedSaves()) {
    loop_carryover_->times.AddSave(save);
  }
  for (std::string& line : save_->TakeWarnings()) {
    parts_.reporter.Progress({.step = parts_.step(), .line = std::move(line)});
  }
}

void Worker::EmitStartTimes() {
  world_.events.Emit({.kind = EventKind::kStartTimes,
                      .generation = parts_.generation(),
                      .step = parts_.step(),
                      .parts = parts_.times.Take()});
}

// Returns the trainer, with the rings of this generation. Creates the trainer
// if there is none from an earlier generation.
Trainer& Worker::PrepareTrainer() {
  Ring& ring = parts_.session->ring();
  DeviceRing* const device_ring = parts_.device_ring.get();
  if (parts_.trainer) {
    parts_.trainer->Rejoin(ring, device_ring);
    return *parts_.trainer;
  }
  const JobModel& built = parts_.built;
  return parts_.trainer.emplace(
      world_, ring,
      Trainer::Parts{.device_ring = device_ring,
                     .job = options_.job,
                     .data = parts_.inputs.data,
                     .schedule = *parts_.schedule,
                     .optimizer = *built.optimizer,
                     .model = *built.model,
                     .kernels = *built.kernels,
                     .memo = parts_.inputs.memo,
                     .probe = parts_.reporter.probe()});
}

Result<LoopEnd> Worker::Train() {
  const TrainInputs& inputs = parts_.inputs;
  ResidentState& resident = *parts_.resident;
  Trainer& trainer = PrepareTrainer();
  const SaveStrategy saves = MakeSaves();
  parts_.times.Lap(TimePart::kBuild);
  const uint64_t generation = parts_.generation();
  EmitStartTimes();
  trainer.times().Restart();
  TrainingLoop loop({.world = world_,
                     .options = options_,
                     .trainer = trainer,
                     .resident = resident},
                    saves);
  if (parts_.is_chief()) {
    loop.reports().SetReporter(parts_.reporter,
                               parts_.schedule->steps_per_epoch());
  }
  if (parts_.rejoins()) loop.reports().set_save_reporter(parts_.reporter);
  std::optional<RunSummary> summary;
  if (parts_.is_chief() && !options_.summary.directory.empty()) {
    summary.emplace(world_, options_.summary, resident.host().position);
    loop.SetSummary(*summary);
  }
  if (inputs.hooks != nullptr) loop.set_hooks(*inputs.hooks);
  if (loop_carryover_) loop.Restore(*loop_carryover_);
  const auto first_save = join_.saves_first()
                              ? TrainingLoop::FirstSave::kImmediately
                              : TrainingLoop::FirstSave::kWhenDue;
  const Result<LoopEnd> end =
      join_.resumes_from_memory()
          ? loop.ResumeFromMemory(generation, first_save)
          : loop.Run(generation);
  loop_carryover_ = loop.carryover();
  unsaved_ = loop.unsaved();
  // Copies to the host the values that only the device has, because other
  // workers may need them at the next rendezvous.
  const Status kept = resident.SyncToHost();
  if (end.ok() && kept.ok()) return end;
  // The status is final: SyncToHost has waited for the device if necessary.
  parts_.device_failure = parts_.built.kernels->status().message();
  if (end.ok()) return kept;
  return end;
}

Result<LoopEnd> Worker::RunOneGeneration() {
  parts_.stage = Stage::kForming;
  RETURN_IF_ERROR(join_.Rendezvous(rendezvous_deadline_));
  parts_.times.Lap(TimePart::kJoin);
  RETURN_IF_ERROR(join_.Resume());
  parts_.stage = Stage::kTraining;
  RETURN_IF_ERROR(join_.AgreeOnStart());
  parts_.times.Lap(TimePart::kAgree);
  rendezvous_deadline_ = kNever;
  ASSIGN_OR_RETURN(const LoopEnd end, Train());
  return FinishRun(parts_, {.end = end,
                            .unsaved = unsaved_,
                            .resumed_from = join_.resumed_from(),
                            .times = loop_carryover_->times});
}

// Returns true if the worker may rejoin after this error: another worker is
// lost, this worker's state and device are intact, the event of its last
// operation was emitted, and rendezvous_deadline_ has not passed. Otherwise the
// worker must exit. Records a failure of the device in parts_.
bool Worker::MayRejoin(const Status& status) {
  const bool lost = IsLoss(status.code()) &&
                    (!parts_.session || parts_.session->ring().is_broken());
  const bool all_emitted = !loop_carryover_ || loop_carryover_->all_emitted;
  if (!parts_.rejoins() || !lost || !all_emitted || join_.state_is_unusable() ||
      world_.clock.Now() >= rendezvous_deadline_) {
    return false;
  }
  // If the device has failed, the newest state, which only the device had, is
  // lost.
  parts_.device_failure = parts_.built.kernels->status().message();
  return parts_.device_failure.empty();
}

// Leaves a lost generation. The worker keeps its state, which is never in the
// middle of an operation. Returns an error if the worker must exit.
Status Worker::LeaveGeneration(const Status& why) {
  const bool formed = rendezvous_deadline_ == kNever;
  if (formed) parts_.times.Restart();
  const Time now = world_.clock.Now();
  if (parts_.session) {
    parts_.session->Abort();
    join_.SetSilentRank(parts_.session->silent_rank());
    parts_.device_ring.reset();
    parts_.session.reset();
    const Status saved = EndSave();
    if (saved.code() == Code::kDeadlineExceeded) return why;
    // After an error the worker exits, and does not emit kLeft: kLeft means
    // that the worker may join the next generation.
    RETURN_IF_ERROR(saved);
    async_save_.reset();
    save_.reset();
    world_.events.Emit({.kind = EventKind::kLeft,
                        .generation = join_.last_generation(),
                        .step = parts_.step(),
                        .detail = why.message(),
                        .reason = ReasonOf(why.code())});
  }
  if (formed) {
    // Other workers may arrive late: a worker in a save detects the loss only
    // after the save, and the chief leaves only after its retirement of
    // old checkpoints.
    rendezvous_deadline_ = now + options_.cluster.rendezvous_timeout;
    if (loop_carryover_ && loop_carryover_->in_save) {
      rendezvous_deadline_ += options_.cluster.save_timeout;
    }
    parts_.times.Lap(TimePart::kJoin);
    join_.HoldState();
    parts_.times.Lap(TimePart::kDigest);
    if (world_.faults.Planted(PlantedBug::kForgetAtRejoin)) {
      join_.DropHeldState();
    }
  } else {
    // The rendezvous failed: pauses before the next try.
    world_.clock.SleepUntil(now + options_.cluster.heartbeat_every);
  }
  RETURN_IF_ERROR(world_.faults.Hit(Point::kRejoin, {.step = parts_.step()}));
  parts_.times.Lap(TimePart::kJoin);
  const Status opened = OpenStore(parts_);
  parts_.times.Lap(TimePart::kBuild);
  return opened;
}

WorkerEnd Worker::End(const Status& status) {
  if (parts_.session) parts_.session->StopReportingLosses();
  return {.exit = ExitFor(status, parts_.stage),
          .reason = status.message(),
          .code = status.code()};
}

// Returns the exit code of a run that ended without an error.
WorkerExit ExitForEnd(LoopEnd end) {
  switch (end) {
    case LoopEnd::kFinished:
      return WorkerExit::kDone;
    case LoopEnd::kStopped:
      return WorkerExit::kStopped;
    case LoopEnd::kNotFinite:
      return WorkerExit::kNotFinite;
  }
  return WorkerExit::kFailed;
}

// Returns advice to the user about a save that failed with that code.
std::string_view RemedyFor(Code code) {
  switch (code) {
    case Code::kResourceExhausted:
      return "Make room";
    case Code::kIoError:
      return "Check the disk, or choose another one";
    case Code::kForbidden:
      return "Allow this user to write there";
    default:
      return "Remove the cause";
  }
}

WorkerEnd Worker::EndAfter(LoopEnd end) {
  const FinishedLoop finished = {.end = end, .unsaved = unsaved_};
  if (FinalStateIsLost(parts_, finished)) {
    return {.exit = WorkerExit::kStartLater,
            .reason = fmt::format(
                "{}. {}, then run the same command again: it resumes from the "
                "newest checkpoint, or starts from step 0 if there is none",
                unsaved_.message(), RemedyFor(unsaved_.code())),
            .code = unsaved_.code(),
            .unsaved_step = parts_.step()};
  }
  return {.exit = ExitForEnd(end)};
}

WorkerEnd Worker::RunAndReport() {
  world_.events.Emit(
      {.kind = EventKind::kWorkerStarted, .count = parts_.place.rank});
  WorkerEnd end = Run();
  const bool own_device_failed = !parts_.device_failure.empty();
  if (own_device_failed && end.exit == WorkerExit::kLostWorker) {
    // The exit code alone would mean that another worker failed.
    parts_.reporter.Progress(
        {.failure = parts_.device_failure, .own_device_failed = true});
  } else if (IsSaving()) {
    // The worker may be killed while it waits for the save below.
    parts_.reporter.Progress({.failure = end.reason});
  }
  const Status saved = EndSave();
  if (IsLoss(end.code) && !saved.ok() && !IsLoss(saved.code())) {
    end = End(saved);
  }
  world_.events.Emit(
      {.kind = EventKind::kWorkerExited,
       .step = end.unsaved_step,
       .count = static_cast<int64_t>(end.exit),
       .detail = end.reason,
       .reason = own_device_failed ? Reason::kDevice : ReasonOf(end.code)});
  return end;
}

// Aborts the session first: after an error, tasks of this worker may still wait
// for other workers.
TrainedWorker Worker::Abort(WorkerEnd end) {
  if (parts_.session) parts_.session->Abort();
  if (async_save_) async_save_->JoinTask();
  if (save_) save_->JoinTask();
  return {.end = std::move(end),
          .state = parts_.TakeState(),
          .resumed_from = join_.resumed_from()};
}

WorkerEnd Worker::Run() {
  Status status = Build(parts_);
  parts_.times.Lap(TimePart::kBuild);
  if (!status.ok()) return End(status);
  rendezvous_deadline_ =
      world_.clock.Now() + options_.cluster.rendezvous_timeout;
  while (true) {
    const Result<LoopEnd> end = RunOneGeneration();
    if (end.ok()) return EndAfter(*end);
    if (!MayRejoin(end.status())) return End(end.status());
    status = LeaveGeneration(end.status());
    if (!status.ok()) return End(status);
  }
}

NoticeSources::ReportLine ReportAs(int worker, ProgressReporter& reporter) {
  return [worker, &reporter](const std::string& line) {
    reporter.Progress({.line = fmt::format("worker {}: {}", worker, line)});
  };
}

}  // namespace

TrainedWorker TrainAsWorker(World& world, const TrainInputs& inputs,
                            const WorkerSpec& place,
                            ProgressReporter& reporter) {
  NoticeWatch watch(world, inputs.options.preemption,
                    ReportAs(place.worker, reporter));
  watch.Start();
  Worker worker(watch.world(), inputs, place, reporter);
  WorkerEnd end = worker.RunAndReport();
  watch.Stop();
  return worker.Abort(std::move(end));
}

int RunWorker(World& world, const TrainInputs& inputs, const WorkerSpec& place,
              ProgressReporter& reporter,
              const std::function<void(const WorkerEnd&)>& on_end) {
  NoticeWatch watch(world, inputs.options.preemption,
                    ReportAs(place.worker, reporter));
  watch.Start();
  Worker worker(watch.world(), inputs, place, reporter);
  const WorkerEnd end = worker.RunAndReport();
  // Does not stop the watch: Stop would wait for a check in progress, and the
  // watch ends with the process anyway.
  on_end(end);
  return static_cast<int>(end.exit);
}

void RunWorkerAndExit(World& world, const TrainInputs& inputs,
                      const WorkerSpec& place, ProgressReporter& reporter,
                      const std::function<void(const WorkerEnd&)>& on_end) {
  RunWorker(world, inputs, place, reporter, [&](const WorkerEnd& end) {
    on_end(end);
    world.host.Exit(static_cast<int>(end.exit));
  });
  // g++ does not see that a virtual call never returns.
  CheckFailed(__FILE__, __LINE__, "Exit", "returned");
}

}  // namespace gauntlet
