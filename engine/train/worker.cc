#include "engine/train/worker.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/cluster/session.h"
#include "engine/model/model.h"
#include "engine/model/optimizer.h"
#include "engine/train/collective_save.h"
#include "engine/train/held_state.h"
#include "engine/train/job_model.h"
#include "engine/train/meeting.h"
#include "engine/train/model_export.h"
#include "engine/train/notice_watch.h"
#include "engine/train/resume.h"
#include "engine/train/run_summary.h"
#include "engine/train/state_transfer.h"
#include "engine/train/train_state.h"
#include "engine/train/trainer.h"
#include "engine/train/training_loop.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Which part of a run an error comes from decides how the worker ends.
enum class Stage { kSetUp, kForming, kTraining };

WorkerExit ExitFor(const Status& status, Stage stage) {
  switch (status.code()) {
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    // A survivor of an earlier life may claim after its successors did. Who is
    // still asked for starts again, with a newer claim; nobody starts a
    // survivor. Where it was a later launch that claimed, that claim is refused
    // (Tenure).
    case Code::kFenced:
      return WorkerExit::kLostWorker;
    // A disk that fails once may not fail again; one that does uses up the
    // restarts. So does one that loses a file; where it was the store that
    // somebody deleted, that is kFailedPrecondition.
    case Code::kIoError:
    case Code::kResourceExhausted:
    case Code::kNotFound:
    case Code::kAlreadyExists:
      return stage == Stage::kSetUp ? WorkerExit::kFailed
                                    : WorkerExit::kLostWorker;
    case Code::kInvalidArgument:
      return WorkerExit::kBadInput;
    case Code::kFailedPrecondition:
    case Code::kDataLoss:
      return stage == Stage::kForming ? WorkerExit::kNoCheckpoint
                                      : WorkerExit::kFailed;
    default:
      return WorkerExit::kFailed;
  }
}

// Of the model as this worker computes it.
Digest IdentityOf(std::string_view job_json, const KernelOptions& kernels) {
  const Digest job = DigestOf(job_json);
  const uint64_t words[] = {job.high, job.low,
                            static_cast<uint64_t>(kernels.isa),
                            static_cast<uint64_t>(kernels.math),
                            static_cast<uint64_t>(kernels.threads)};
  return DigestOf(std::as_bytes(std::span(words)));
}

class Worker {
 public:
  Worker(World& world, const TrainInputs& inputs, const WorkerSpec& place,
         ProgressReporter& reporter)
      : world_(world),
        options_(inputs.options),
        place_(place),
        data_(inputs.data),
        reporter_(reporter),
        job_json_(inputs.job_json),
        memo_(inputs.memo),
        hooks_(inputs.hooks),
        weights_(inputs.weights),
        tenure_(place.tenure) {}

  // From the first event of its life to the last.
  WorkerEnd Live();
  // Ends what Live may have left, so that nothing of the worker waits any more.
  TrainedWorker Abandon(WorkerEnd end);

 private:
  WorkerEnd Run();
  bool chief() const { return place_.rank == 0; }
  bool rejoins() const {
    return options_.cluster.on_loss == OnLoss::kRejoin &&
           place_.addresses.size() > 1;
  }
  Status Build();
  Status OpenStore();
  Result<LoopEnd> LiveOneGeneration();
  bool MayRejoin(const Status& status) const;
  Status LeaveGeneration(const Status& why);
  Status Form();
  SessionOptions MeetingOptions() const;
  void Expect(Duration bound);
  Result<Decision> Decide(const std::vector<Attendant>& by_rank);
  void MakeState(StartFrom start);
  Status Resume();
  Status CarryOn(const StartDecision::Memory& memory);
  Status Load(const CheckpointRef& parent);
  Status AgreeOnStart();
  Result<LoopEnd> Train();
  Status Export(const Digest& digest);
  Status Finish(LoopEnd end);
  TrainResult Outcome(LoopEnd end, const Digest& digest) const;
  WorkerEnd End(const Status& status);

  World& world_;
  const TrainOptions& options_;
  const WorkerSpec& place_;
  const DataSplit& data_;
  ProgressReporter& reporter_;
  const std::string& job_json_;
  TrainMemo* const memo_;
  LoopHooks* const hooks_;
  const std::span<const float> weights_;

  std::optional<RowSchedule> schedule_;
  JobModel built_;
  std::optional<TrainState> state_;
  std::optional<CheckpointStore> store_;
  std::unique_ptr<Session> session_;
  std::optional<uint64_t> resumed_from_;
  Digest started_as_;  // the state that training goes on from

  Stage stage_ = Stage::kSetUp;
  Tenure tenure_;
  Time meet_by_{};                 // the others have to be met again until then
  uint64_t last_generation_ = 0;   // that this worker belonged to
  std::optional<HeldState> held_;  // a state that a generation agreed on
  bool carries_on_ = false;        // from memory, not from the store
  bool state_is_void_ = false;     // nothing in memory is good for a rejoin
  std::optional<LoopMemory> loop_memory_;
};

Status Worker::Build() {
  RETURN_IF_ERROR(Validate(options_.job));
  RETURN_IF_ERROR(CheckCluster(options_.job, place_.addresses.size()));
  ASSIGN_OR_RETURN(
      schedule_,
      RowSchedule::Make(options_.job,
                        {.rows = data_.train.rows,
                         .rows_of_files = data_.train.rows_of_files}));
  if (chief() && !schedule_->warning().empty()) {
    reporter_.Progress({.line = schedule_->warning()});
  }
  ASSIGN_OR_RETURN(built_,
                   BuildJobModel(options_.job, data_.train.shape(),
                                 data_.train.classes, options_.kernels));
  if (options_.job.start.weights &&
      weights_.size() != built_.model->parameter_count()) {
    return InvalidArgument(
        fmt::format("start.weights: expected {} floats, found {}",
                    built_.model->parameter_count(), weights_.size()));
  }
  if (memo_ != nullptr) {
    built_.model = WithMemo(std::move(built_.model),
                            IdentityOf(job_json_, options_.kernels), *memo_);
  }
  if (!options_.export_directory.empty()) {
    RETURN_IF_ERROR(
        CheckExportDirectory(world_.storage, options_.export_directory));
  }
  return OpenStore();
}

Status Worker::OpenStore() {
  if (options_.checkpoint.directory.empty()) return OkStatus();
  ASSIGN_OR_RETURN(
      store_, CheckpointStore::Open(
                  world_, {.directory = options_.checkpoint.directory,
                           .keep = options_.checkpoint.keep,
                           .keep_every_seconds = static_cast<int64_t>(
                               options_.checkpoint.keep_every_hours * 3600),
                           .cold_start = options_.checkpoint.allow_cold_start
                                             ? ColdStart::kAllow
                                             : ColdStart::kRefuse,
                           .tenure = tenure_}));
  return OkStatus();
}

// Once all have come, and so have left whatever generation they were of: the
// claim first, then what it goes on from.
Result<Decision> Worker::Decide(const std::vector<Attendant>& by_rank) {
  std::vector<std::optional<HeldState>> held;
  uint64_t known = 0;
  for (const Attendant& attendant : by_rank) {
    known = std::max(known, attendant.generation);
    Result<std::optional<HeldState>> state = DecodeHeld(attendant.said);
    if (!state.ok()) return Unavailable(state.status().message());
    held.push_back(*state);
  }
  // Without a store the launcher's count of lives numbers the generations.
  if (!store_) {
    const auto life = static_cast<uint64_t>(place_.life);
    return Decision{.generation = std::max(life, known + 1),
                    .text = EncodeStart(DecideStart(held, {}, {}))};
  }
  ASSIGN_OR_RETURN(const Claim claim, store_->ClaimGeneration(job_json_));
  tenure_.claimed = claim.generation;
  reporter_.Progress({.claimed = claim.generation});
  for (std::string& line : store_->TakeWarnings()) {
    reporter_.Progress({.line = std::move(line)});
  }
  std::optional<HeldState> parent_state;
  if (claim.parent) {
    parent_state = {.step = claim.parent->step,
                    .phase = claim.parent_phase,
                    .digest = claim.parent_digest};
  }
  return Decision{
      .generation = claim.generation,
      .text = EncodeStart(DecideStart(held, claim.parent, parent_state))};
}

// How long the launcher is to wait for the next sign of the chief.
void Worker::Expect(Duration bound) {
  if (!chief()) return;
  reporter_.Progress({.patience = bound + options_.cluster.lost_after});
}

SessionOptions Worker::MeetingOptions() const {
  const ClusterOptions& cluster = options_.cluster;
  SessionOptions options = MeetingOf(place_, cluster);
  if (!rejoins()) return options;
  options.rendezvous_timeout = meet_by_ - world_.clock.Now();
  options.ring_timeout = cluster.lost_after;
  options.life = static_cast<uint64_t>(place_.life);
  options.generation = last_generation_;
  options.said = EncodeHeld(held_);
  return options;
}

Status Worker::Form() {
  const ClusterOptions& cluster = options_.cluster;
  Expect(cluster.rendezvous_timeout + cluster.save_timeout);
  if (rejoins()) {
    reporter_.Progress(
        {.step = held_ ? held_->step : 0, .meeting = last_generation_});
  }
  ASSIGN_OR_RETURN(session_,
                   Session::Form(world_, *built_.kernels, MeetingOptions(),
                                 [this](const std::vector<Attendant>& by_rank) {
                                   return Decide(by_rank);
                                 }));
  last_generation_ = session_->decision().generation;
  return OkStatus();
}

Status Worker::Load(const CheckpointRef& parent) {
  RETURN_IF_ERROR(LoadState(world_, *store_, parent, *schedule_, *state_));
  resumed_from_ = state_->position.step;
  started_as_ = state_->ComputeDigest();
  world_.events.Emit({.kind = EventKind::kResumed,
                      .generation = session_->decision().generation,
                      .step = state_->position.step,
                      .epoch = state_->position.epoch,
                      .position = state_->position.sample,
                      .phase = state_->position.phase_of(),
                      .digest = started_as_,
                      .path = parent.name});
  if (chief()) {
    reporter_.Progress(
        {.step = state_->position.step,
         .epoch = state_->position.epoch,
         .line = fmt::format("resumed {}: step {}, epoch {}, row {}",
                             parent.name, state_->position.step,
                             state_->position.epoch, state_->position.sample)});
  }
  return OkStatus();
}

void Worker::MakeState(StartFrom start) {
  const std::vector<HookState> hook_states =
      hooks_ == nullptr ? std::vector<HookState>()
                        : hooks_->states(built_.model->parameter_count());
  state_.emplace(*built_.model, *built_.optimizer, options_.job, start,
                 hook_states);
}

Status Worker::Resume() {
  Expect(options_.cluster.save_timeout);
  ASSIGN_OR_RETURN(const StartDecision start,
                   DecodeStart(session_->decision().text));
  carries_on_ = start.from_memory.has_value();
  if (carries_on_) return CarryOn(*start.from_memory);
  held_.reset();
  const std::optional<CheckpointRef>& parent = start.checkpoint;
  MakeState(parent ? StartFrom::kCheckpoint : StartFrom::kInitialParameters);
  if (parent) return Load(*parent);
  if (options_.job.start.weights) {
    std::ranges::copy(weights_, state_->parameters.begin());
  }
  started_as_ = state_->ComputeDigest();
  world_.events.Emit({.kind = EventKind::kInitialized,
                      .generation = session_->decision().generation,
                      .digest = started_as_});
  return OkStatus();
}

// From the state that a worker holds in memory. An error of the ring leaves
// what this one holds as it was.
Status Worker::CarryOn(const StartDecision::Memory& memory) {
  const HeldState& decided = memory.state;
  if (held_ && IsSameMoment(*held_, decided) && *held_ != decided) {
    stage_ = Stage::kTraining;
    return FailedPrecondition(fmt::format(
        "step {}: state digests differ between workers: rank {} has {}, rank "
        "{} has {}",
        decided.step, memory.holder, decided.digest.ToString(), place_.rank,
        held_->digest.ToString()));
  }
  const bool keeps = held_ == decided;
  if (!keeps && !held_) MakeState(StartFrom::kCheckpoint);
  if (memory.is_needed) {
    const Status shared = ShareState(world_, session_->ring(),
                                     {.memory = memory,
                                      .holds_it = keeps,
                                      .timeout = options_.cluster.save_timeout},
                                     *state_);
    if (shared.code() == Code::kDataLoss) {
      held_.reset();
      state_is_void_ = true;
      return Unavailable(shared.message());
    }
    RETURN_IF_ERROR(shared);
  }
  held_ = decided;
  started_as_ = decided.digest;
  const Position& position = state_->position;
  const std::string from =
      keeps ? "kept" : fmt::format("from rank {}", memory.holder);
  world_.events.Emit({.kind = EventKind::kCarriedOn,
                      .generation = session_->decision().generation,
                      .step = position.step,
                      .epoch = position.epoch,
                      .position = position.sample,
                      .phase = position.phase_of(),
                      .digest = started_as_,
                      .detail = from});
  if (chief()) {
    reporter_.Progress(
        {.step = position.step,
         .epoch = position.epoch,
         .line = fmt::format("rejoined: step {}, epoch {}, row {} ({})",
                             position.step, position.epoch, position.sample,
                             from)});
  }
  return OkStatus();
}

// All ranks start from one state of one job, or not at all.
Status Worker::AgreeOnStart() {
  Expect(options_.cluster.save_timeout);
  const std::string mine = EncodeList(std::vector<std::string>{
      started_as_.ToString(), JobDigest(job_json_).ToString()});
  ASSIGN_OR_RETURN(
      const std::vector<std::string> all,
      session_->ring().AllGather(
          {.step = state_->position.step, .phase = state_->position.phase_of()},
          mine, options_.cluster.save_timeout));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    return FailedPrecondition(fmt::format(
        "rank {} starts from another state or job than the chief", rank));
  }
  if (rejoins() && chief()) {
    reporter_.Progress({.formed = session_->decision().generation});
  }
  return OkStatus();
}

Result<LoopEnd> Worker::Train() {
  Trainer trainer(world_, session_->ring(),
                  {.job = options_.job,
                   .data = data_,
                   .schedule = *schedule_,
                   .optimizer = *built_.optimizer,
                   .model = *built_.model,
                   .kernels = *built_.kernels,
                   .memo = memo_,
                   .probe = reporter_.probe()});
  const uint64_t generation = session_->decision().generation;
  std::optional<CollectiveSave> save;
  if (store_) {
    save.emplace(world_, *store_, session_->ring(), job_json_, generation,
                 options_.cluster.save_timeout);
  }
  TrainingLoop loop(world_, options_, trainer, *state_,
                    save ? &*save : nullptr);
  if (chief()) {
    loop.ReportTo(reporter_, schedule_->steps_per_epoch());
  }
  std::optional<RunSummary> summary;
  if (chief() && !options_.summary.directory.empty()) {
    summary.emplace(world_, options_.summary, state_->position);
    loop.DrawOn(*summary);
  }
  if (hooks_ != nullptr) loop.CallAt(*hooks_);
  if (loop_memory_) loop.Remember(*loop_memory_);
  const Result<LoopEnd> end =
      carries_on_ ? loop.GoOn(generation) : loop.Run(generation);
  loop_memory_ = loop.memory();
  return end;
}

TrainResult Worker::Outcome(LoopEnd end, const Digest& digest) const {
  const History& history = state_->history;
  TrainResult result = {
      .status = end == LoopEnd::kFinished ? "done" : "stopped",
      .epochs = state_->position.epoch,
      .steps = state_->position.step,
      .digest = digest.ToString(),
      .resumed_from = resumed_from_,
  };
  if (!history.loss.empty()) {
    result.loss = history.loss.back();
    result.accuracy = ShareOf(history.correct.back(), history.rows.back());
  } else if (state_->metrics.rows > 0) {
    result.loss =
        state_->metrics.loss_sum / static_cast<float>(state_->metrics.rows);
    result.accuracy = ShareOf(state_->metrics.correct, state_->metrics.rows);
  }
  result.val_accuracy = std::numeric_limits<double>::quiet_NaN();
  if (!history.val_rows.empty() && history.val_rows.back() > 0) {
    result.val_accuracy =
        ShareOf(history.val_correct.back(), history.val_rows.back());
  }
  return result;
}

Status Worker::Export(const Digest& digest) {
  if (options_.export_directory.empty()) return OkStatus();
  RETURN_IF_ERROR(Annotate(ExportModel(world_, options_.export_directory,
                                       {.model = *built_.model,
                                        .state = *state_,
                                        .data = data_.train,
                                        .job_json = job_json_,
                                        .state_digest = digest}),
                           "export"));
  reporter_.Progress({.step = state_->position.step,
                      .epoch = state_->position.epoch,
                      .line = fmt::format("exported the model to {}",
                                          options_.export_directory)});
  return OkStatus();
}

Status Worker::Finish(LoopEnd end) {
  Expect(options_.cluster.save_timeout);
  RETURN_IF_ERROR(world_.faults.Hit(
      Point::kFinish,
      {.step = state_->position.step, .epoch = state_->position.epoch}));
  const Digest digest = state_->ComputeDigest();
  const TrainResult result = Outcome(end, digest);
  if (end == LoopEnd::kFinished) {
    world_.events.Emit({.kind = EventKind::kFinished,
                        .generation = session_->decision().generation,
                        .step = state_->position.step,
                        .epoch = state_->position.epoch,
                        .phase = state_->position.phase_of(),
                        .digest = digest});
  }
  // Nobody clears anything away before all have come this far.
  ASSIGN_OR_RETURN(
      const std::vector<std::string> digests,
      session_->ring().AllGather(
          {.step = state_->position.step, .phase = state_->position.phase_of()},
          result.digest, options_.cluster.save_timeout));
  for (size_t rank = 0; rank < digests.size(); ++rank) {
    if (digests[rank] == result.digest) continue;
    return FailedPrecondition(fmt::format(
        "final state digests differ: rank {} has {}, rank {} has {}",
        place_.rank, result.digest, rank, digests[rank]));
  }
  if (chief()) {
    reporter_.Result(result);
    if (end == LoopEnd::kFinished) RETURN_IF_ERROR(Export(digest));
    if (end == LoopEnd::kFinished && store_ &&
        options_.checkpoint.at_success == AtSuccess::kDeleteCheckpoints) {
      RETURN_IF_ERROR(store_->DeleteAll());
    }
  }
  session_->Leave();
  return OkStatus();
}

WorkerEnd Worker::End(const Status& status) {
  if (session_) session_->Silence();
  if (status.code() == Code::kUnavailable ||
      status.code() == Code::kDeadlineExceeded) {
    world_.events.Emit(
        {.kind = EventKind::kWorkerLost, .detail = status.message()});
  }
  return {.exit = ExitFor(status, stage_), .reason = status.message()};
}

Result<LoopEnd> Worker::LiveOneGeneration() {
  stage_ = Stage::kForming;
  RETURN_IF_ERROR(Form());
  RETURN_IF_ERROR(Resume());
  stage_ = Stage::kTraining;
  RETURN_IF_ERROR(AgreeOnStart());
  meet_by_ = kNever;
  ASSIGN_OR_RETURN(const LoopEnd end, Train());
  RETURN_IF_ERROR(Finish(end));
  return end;
}

// Whether the others may be met again after this error. A worker that was
// fenced has successors, and leaves; so does one whose own doing failed, or
// that has not said what it did last.
bool Worker::MayRejoin(const Status& status) const {
  const bool lost = (status.code() == Code::kUnavailable ||
                     status.code() == Code::kDeadlineExceeded) &&
                    (!session_ || session_->ring().is_broken());
  const bool all_said = !loop_memory_ || loop_memory_->all_said;
  return rejoins() && lost && all_said && !state_is_void_ &&
         world_.clock.Now() < meet_by_;
}

// Ends the generation for this worker, which keeps its state: it is wholly
// before or wholly after every operation.
Status Worker::LeaveGeneration(const Status& why) {
  const bool formed = meet_by_ == kNever;
  const Time now = world_.clock.Now();
  if (session_) {
    session_->Abandon();
    session_.reset();
    world_.events.Emit(
        {.kind = EventKind::kWorkerLost, .detail = why.message()});
    world_.events.Emit({.kind = EventKind::kLeft,
                        .generation = last_generation_,
                        .step = state_ ? state_->position.step : 0,
                        .detail = why.message()});
  }
  if (formed) {
    meet_by_ = now + options_.cluster.rendezvous_timeout;
    held_ = HeldState{.step = state_->position.step,
                      .phase = state_->position.phase_of(),
                      .digest = state_->ComputeDigest()};
    if (world_.faults.Planted(PlantedBug::kForgetAtRejoin)) held_.reset();
  } else {
    // Another attempt at what has just failed.
    world_.clock.SleepUntil(now + options_.cluster.heartbeat_every);
  }
  RETURN_IF_ERROR(world_.faults.Hit(
      Point::kRejoin, {.step = state_ ? state_->position.step : 0}));
  return OpenStore();
}

WorkerEnd Worker::Live() {
  world_.events.Emit({.kind = EventKind::kLifeBegin, .count = place_.rank});
  WorkerEnd end = Run();
  world_.events.Emit({.kind = EventKind::kLifeEnd,
                      .count = static_cast<int64_t>(end.exit),
                      .detail = end.reason});
  return end;
}

// After an error the tasks of the session still wait for the others.
TrainedWorker Worker::Abandon(WorkerEnd end) {
  if (session_) session_->Abandon();
  return {.end = std::move(end),
          .state = std::move(state_),
          .resumed_from = resumed_from_};
}

WorkerEnd Worker::Run() {
  Status status = Build();
  if (!status.ok()) return End(status);
  meet_by_ = world_.clock.Now() + options_.cluster.rendezvous_timeout;
  while (true) {
    const Result<LoopEnd> end = LiveOneGeneration();
    if (end.ok()) {
      return {.exit = *end == LoopEnd::kFinished ? WorkerExit::kDone
                                                 : WorkerExit::kStopped};
    }
    if (!MayRejoin(end.status())) return End(end.status());
    status = LeaveGeneration(end.status());
    if (!status.ok()) return End(status);
  }
}

NoticeWatch::Say SayAs(int worker, ProgressReporter& reporter) {
  return [worker, &reporter](const std::string& line) {
    reporter.Progress({.line = fmt::format("worker {}: {}", worker, line)});
  };
}

}  // namespace

TrainedWorker TrainAsWorker(World& world, const TrainInputs& inputs,
                            const WorkerSpec& place,
                            ProgressReporter& reporter) {
  NoticeWatch watch(world, inputs.options.preemption,
                    SayAs(place.worker, reporter));
  watch.Start();
  Worker worker(watch.world(), inputs, place, reporter);
  WorkerEnd end = worker.Live();
  watch.Stop();
  return worker.Abandon(std::move(end));
}

void RunWorker(World& world, const TrainInputs& inputs, const WorkerSpec& place,
               ProgressReporter& reporter,
               const std::function<void(const WorkerEnd&)>& on_end) {
  NoticeWatch watch(world, inputs.options.preemption,
                    SayAs(place.worker, reporter));
  watch.Start();
  Worker worker(watch.world(), inputs, place, reporter);
  const WorkerEnd end = worker.Live();
  on_end(end);
  // The watch goes with the process: a look under way keeps nobody waiting.
  world.host.Exit(static_cast<int>(end.exit));
  // g++ does not see that a virtual call never returns.
  CheckFailed(__FILE__, __LINE__, "Exit", "returned");
}

}  // namespace gauntlet
