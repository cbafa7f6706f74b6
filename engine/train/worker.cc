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
#include "engine/train/notice_watch.h"
#include "engine/train/resume.h"
#include "engine/train/train_state.h"
#include "engine/train/trainer.h"
#include "engine/train/training_loop.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// It goes round with the gradients of every step.
constexpr uint64_t kMaxReplicaState = uint64_t{1} << 24;

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
        weights_(inputs.weights) {}

  // From the first event of its life to the last.
  WorkerEnd Live();
  // Ends what Live may have left, so that nothing of the worker waits any more.
  TrainedWorker Abandon(WorkerEnd end);

 private:
  WorkerEnd Run();
  bool chief() const { return place_.rank == 0; }
  Status Build();
  Status Form();
  void Expect(Duration bound);
  Result<Decision> Decide();
  Status Resume();
  Status Load(const CheckpointRef& parent);
  Status AgreeOnStart();
  Result<LoopEnd> Train();
  Status Finish(LoopEnd end);
  TrainResult Outcome(LoopEnd end, const Digest& digest) const;
  WorkerEnd End(const Status& status, Stage stage);

  World& world_;
  const TrainOptions& options_;
  const WorkerSpec& place_;
  const DataSplit& data_;
  ProgressReporter& reporter_;
  const std::string& job_json_;
  TrainMemo* const memo_;
  LoopHooks* const hooks_;
  const std::span<const float> weights_;

  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<TrainState> state_;
  std::optional<CheckpointStore> store_;
  std::unique_ptr<Session> session_;
  std::optional<uint64_t> resumed_from_;
  Digest started_as_;  // the state that training goes on from
};

Status Worker::Build() {
  RETURN_IF_ERROR(Validate(options_.job));
  RETURN_IF_ERROR(
      CheckCluster(options_.job, place_.addresses.size(), data_.train.rows));
  ASSIGN_OR_RETURN(kernels_, Kernels::Create(options_.kernels));
  ASSIGN_OR_RETURN(
      model_, Model::Build(options_.job.model, data_.train.height,
                           data_.train.width, data_.train.classes, *kernels_));
  const uint64_t replica_state = model_->replica_state_size() *
                                 static_cast<uint64_t>(options_.job.replicas);
  if (replica_state > kMaxReplicaState) {
    return InvalidArgument(fmt::format(
        "model.layers: expected at most {} floats that all replicas keep for "
        "themselves, found {}",
        kMaxReplicaState, replica_state));
  }
  if (options_.job.start.weights &&
      weights_.size() != model_->parameter_count()) {
    return InvalidArgument(
        fmt::format("start.weights: expected {} floats, found {}",
                    model_->parameter_count(), weights_.size()));
  }
  if (memo_ != nullptr) model_ = WithMemo(std::move(model_), *memo_);
  optimizer_ = Optimizer::Build(options_.job.optimizer, *kernels_);
  if (!options_.checkpoint.directory.empty()) {
    ASSIGN_OR_RETURN(
        store_, CheckpointStore::Open(
                    world_, {.directory = options_.checkpoint.directory,
                             .keep = options_.checkpoint.keep,
                             .cold_start = options_.checkpoint.allow_cold_start
                                               ? ColdStart::kAllow
                                               : ColdStart::kRefuse,
                             .tenure = place_.tenure}));
  }
  return OkStatus();
}

Result<Decision> Worker::Decide() {
  // Without a store the launcher's count of lives numbers the generations.
  if (!store_) {
    return Decision{.generation = static_cast<uint64_t>(place_.life)};
  }
  ASSIGN_OR_RETURN(const Claim claim, store_->ClaimGeneration(job_json_));
  reporter_.Progress({.claimed = claim.generation});
  for (std::string& line : store_->TakeWarnings()) {
    reporter_.Progress({.line = std::move(line)});
  }
  return Decision{.generation = claim.generation,
                  .text = EncodeParent(claim.parent)};
}

// How long the launcher is to wait for the next sign of the chief.
void Worker::Expect(Duration bound) {
  if (!chief()) return;
  reporter_.Progress({.patience = bound + options_.cluster.lost_after});
}

Status Worker::Form() {
  const ClusterOptions& cluster = options_.cluster;
  Expect(cluster.rendezvous_timeout + cluster.save_timeout);
  ASSIGN_OR_RETURN(
      session_, Session::Form(world_, *kernels_,
                              {.rank = place_.rank,
                               .addresses = place_.addresses,
                               .rendezvous_timeout = cluster.rendezvous_timeout,
                               .decision_timeout = cluster.save_timeout,
                               .heartbeat_every = cluster.heartbeat_every,
                               .lost_after = cluster.lost_after},
                              [this] { return Decide(); }));
  return OkStatus();
}

Status Worker::Load(const CheckpointRef& parent) {
  RETURN_IF_ERROR(LoadState(world_, *store_, parent, data_.train, *state_));
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

Status Worker::Resume() {
  Expect(options_.cluster.save_timeout);
  ASSIGN_OR_RETURN(const std::optional<CheckpointRef> parent,
                   DecodeParent(session_->decision().text));
  const std::vector<HookState> hook_states =
      hooks_ == nullptr ? std::vector<HookState>()
                        : hooks_->states(model_->parameter_count());
  state_.emplace(
      *model_, *optimizer_, options_.job,
      parent ? StartFrom::kCheckpoint : StartFrom::kInitialParameters,
      hook_states);
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
  return OkStatus();
}

Result<LoopEnd> Worker::Train() {
  Trainer trainer(world_, session_->ring(),
                  {.job = options_.job,
                   .data = data_,
                   .optimizer = *optimizer_,
                   .model = *model_,
                   .kernels = *kernels_,
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
    loop.ReportTo(reporter_, StepsPerEpoch(options_.job, data_.train.rows));
  }
  if (hooks_ != nullptr) loop.CallAt(*hooks_);
  return loop.Run(generation);
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
    result.accuracy = static_cast<double>(history.correct.back()) /
                      static_cast<double>(history.rows.back());
  } else if (state_->metrics.rows > 0) {
    result.loss =
        state_->metrics.loss_sum / static_cast<float>(state_->metrics.rows);
    result.accuracy = static_cast<double>(state_->metrics.correct) /
                      static_cast<double>(state_->metrics.rows);
  }
  result.val_accuracy = std::numeric_limits<double>::quiet_NaN();
  if (!history.val_rows.empty() && history.val_rows.back() > 0) {
    result.val_accuracy = static_cast<double>(history.val_correct.back()) /
                          static_cast<double>(history.val_rows.back());
  }
  return result;
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
    if (end == LoopEnd::kFinished && store_ &&
        options_.checkpoint.at_success == AtSuccess::kDeleteCheckpoints) {
      RETURN_IF_ERROR(store_->DeleteAll());
    }
  }
  session_->Leave();
  return OkStatus();
}

WorkerEnd Worker::End(const Status& status, Stage stage) {
  if (session_) session_->Silence();
  if (status.code() == Code::kUnavailable ||
      status.code() == Code::kDeadlineExceeded) {
    world_.events.Emit(
        {.kind = EventKind::kWorkerLost, .detail = status.message()});
  }
  return {.exit = ExitFor(status, stage), .reason = status.message()};
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
  if (!status.ok()) return End(status, Stage::kSetUp);
  status = Form();
  if (status.ok()) status = Resume();
  if (!status.ok()) return End(status, Stage::kForming);
  status = AgreeOnStart();
  if (!status.ok()) return End(status, Stage::kTraining);
  const Result<LoopEnd> end = Train();
  if (!end.ok()) return End(end.status(), Stage::kTraining);
  status = Finish(*end);
  if (!status.ok()) return End(status, Stage::kTraining);
  return {.exit = *end == LoopEnd::kFinished ? WorkerExit::kDone
                                             : WorkerExit::kStopped};
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
