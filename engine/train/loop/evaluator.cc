#include "engine/train/loop/evaluator.h"

#include <algorithm>
#include <span>

#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/ckpt/protocol/parent_choice.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/notice/wait_or_notice.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool IsLast(const Evaluation& evaluation, const EvaluatorLoop& loop) {
  return (loop.until_epoch && evaluation.epoch >= *loop.until_epoch) ||
         (loop.until_step && evaluation.step >= *loop.until_step);
}

}  // namespace

Status Evaluator::Begin(const std::string& job_json) {
  Result<EvaluatedJob> job = source_.job_of(job_json);
  if (!job.ok()) return InvalidArgument(job.status().message());
  if (EvaluatedSamples(job->job, job->data->validation.samples) == 0) {
    return InvalidArgument(
        "the job's data: expected validation samples, found 0");
  }
  const Dataset& train = job->data->train;
  ASSIGN_OR_RETURN(built_, BuildJobModel(job->job, train.shape(), train.classes,
                                         source_.kernels));
  job_ = *std::move(job);
  return OkStatus();
}

void Evaluator::Warn(const std::string& line) {
  if (reported_.insert(line).second) warnings_.push_back(line);
}

// Records if the store has checkpoints now, and if it was deleted: it existed
// before, and has neither a claim nor a checkpoint now. (A deletion removes the
// newest checkpoint last, after the claims.)
void Evaluator::RecordStoreState(const StoreScan& scan) {
  const bool there = scan.highest_claim > 0 || !scan.checkpoints.empty();
  store_deleted_ = store_seen_ && !there;
  store_seen_ = store_seen_ || there;
  found_none_ = scan.checkpoints.empty();
}

bool Evaluator::IsNew(const ScannedCheckpoint& checkpoint) const {
  if (damaged_.contains(checkpoint.name)) return false;
  return !checkpoint.manifest ||
         !evaluated_.contains(checkpoint.manifest->head.state_digest);
}

void Evaluator::SkipCheckpoint(const ScannedCheckpoint& checkpoint,
                               const Status& why) {
  if (why.code() == Code::kNotFound) return;  // retired
  Warn(fmt::format("{}: skipped: {}", checkpoint.name, why.message()));
  // Only these errors are permanent: after a read error the checkpoint may
  // still be intact.
  if (why.code() == Code::kDataLoss ||
      why.code() == Code::kFailedPrecondition) {
    damaged_.insert(checkpoint.name);
  }
}

Result<TrainState> Evaluator::Load(const ScannedCheckpoint& checkpoint) {
  TrainState state(*built_.model, *built_.optimizer, job_->job,
                   StartFrom::kCheckpoint);
  ASSIGN_OR_RETURN(
      LoadedCheckpoint loaded,
      ReadCheckpoint(*world_, source_.directory + "/" + checkpoint.name,
                     [&state](const TensorView& tensor) {
                       return state.PlaceToRestore(tensor);
                     }));
  DropHookState(state, loaded.tensors);
  RETURN_IF_ERROR(state.Restore(loaded.tensors, world_->faults));
  return state;
}

Result<std::optional<Evaluation>> Evaluator::Evaluate(
    const ScannedCheckpoint& checkpoint) {
  if (!checkpoint.manifest) {
    SkipCheckpoint(checkpoint, checkpoint.status);
    return std::optional<Evaluation>();
  }
  const CheckpointHead& head = checkpoint.manifest->head;
  if (!job_) RETURN_IF_ERROR(Annotate(Begin(head.job_json), checkpoint.name));
  RETURN_IF_ERROR(CheckJob(checkpoint, job_->json));
  const Result<TrainState> state = Load(checkpoint);
  if (!state.ok()) {
    SkipCheckpoint(checkpoint, state.status());
    return std::optional<Evaluation>();
  }
  const int replicas = job_->job.replicas;
  const EvaluatedPart all = EvaluateReplicas(
      {.first = 0, .count = replicas}, job_->job, job_->data->validation,
      {.model = *built_.model,
       .parameters = state->parameters,
       .replica_state = CombinedReplicaState(*built_.model, *state)});
  // Adds the losses in the order of the replicas, as the workers do.
  float loss = all.losses.front();
  for (const float& part : std::span(all.losses).subspan(1)) {
    built_.kernels->Accumulate(std::span(&part, 1), std::span(&loss, 1));
  }
  evaluated_.insert(head.state_digest);
  const Position& position = state->position;
  const bool epoch_trained = position.phase_of() != Phase::kInEpoch;
  return std::optional(
      Evaluation{.checkpoint = checkpoint.name,
                 .step = position.step,
                 .epoch = position.epoch + (epoch_trained ? 1 : 0),
                 .loss = loss,
                 .correct = all.correct,
                 .samples = all.samples});
}

Result<std::optional<Evaluation>> Evaluator::EvaluateNext() {
  const Result<StoreScan> scan = ScanStore(*world_, source_.directory);
  if (scan.status().code() == Code::kInvalidArgument) return scan.status();
  if (!scan.ok()) {
    const bool missing = scan.status().code() == Code::kNotFound;
    store_deleted_ = store_seen_ && missing;
    found_none_ = missing;
    if (!missing) Warn(scan.status().message());
    return std::optional<Evaluation>();
  }
  RecordStoreState(*scan);
  const std::vector<size_t>& members = scan->lineage.members;
  for (auto oldest = members.rbegin(); oldest != members.rend(); ++oldest) {
    const ScannedCheckpoint& checkpoint = scan->checkpoints[*oldest];
    if (!IsNew(checkpoint)) continue;
    ASSIGN_OR_RETURN(std::optional<Evaluation> evaluation,
                     Evaluate(checkpoint));
    if (evaluation) return evaluation;
  }
  return std::optional<Evaluation>();
}

Result<EvaluatorEnd> RunEvaluator(World& world, Evaluator& evaluator,
                                  const EvaluatorLoop& loop,
                                  EvaluationReporter& reporter) {
  bool waits = false;
  while (!HasNotice(world)) {
    ASSIGN_OR_RETURN(const std::optional<Evaluation> evaluation,
                     evaluator.EvaluateNext());
    for (const std::string& line : evaluator.TakeWarnings()) {
      reporter.Warn(line);
    }
    if (evaluation) {
      reporter.Evaluated(*evaluation);
      if (IsLast(*evaluation, loop)) return EvaluatorEnd::kReachedLast;
      continue;
    }
    if (evaluator.store_deleted()) return EvaluatorEnd::kStoreDeleted;
    if (loop.scans == EvaluatorLoop::Scans::kOnce) {
      return EvaluatorEnd::kScannedOnce;
    }
    if (evaluator.found_none() && !waits) {
      reporter.Warn(fmt::format("waiting for {}: no checkpoint there yet",
                                evaluator.directory()));
      waits = true;
    }
    WaitOrNotice(world, world.clock.Now() + loop.every);
  }
  return EvaluatorEnd::kPreempted;
}

}  // namespace gauntlet
