#include "engine/train/worker_finish.h"

#include <limits>
#include <string>
#include <vector>

#include "engine/train/model_export.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

TrainResult ResultOf(const TrainState& state, LoopEnd end,
                     const Digest& digest) {
  const History& history = state.history;
  TrainResult result = {
      .status = end == LoopEnd::kFinished ? "done" : "stopped",
      .epochs = state.position.epoch,
      .steps = state.position.step,
      .digest = digest.ToString(),
  };
  if (!history.loss.empty()) {
    result.loss = history.loss.back();
    result.accuracy = ShareOf(history.correct.back(), history.rows.back());
  } else if (state.metrics.rows > 0) {
    result.loss =
        state.metrics.loss_sum / static_cast<float>(state.metrics.rows);
    result.accuracy = ShareOf(state.metrics.correct, state.metrics.rows);
  }
  result.val_accuracy = std::numeric_limits<double>::quiet_NaN();
  if (!history.val_rows.empty() && history.val_rows.back() > 0) {
    result.val_accuracy =
        ShareOf(history.val_correct.back(), history.val_rows.back());
  }
  return result;
}

// Before the result: a run whose model is not where it was asked for is not
// done. No restart would mend what the disk refuses, so it is said at once.
Status Export(WorkerParts& parts, const Digest& digest) {
  const std::string& directory = parts.options().export_directory;
  if (directory.empty()) return OkStatus();
  const Status exported = ExportModel(parts.world, directory,
                                      {.model = *parts.built.model,
                                       .state = *parts.state,
                                       .data = parts.inputs.data.train,
                                       .job_json = parts.inputs.job_json,
                                       .state_digest = digest});
  if (!exported.ok()) {
    return FailedPrecondition(fmt::format(
        "training is done, but not the export: {}", exported.message()));
  }
  parts.reporter.Progress(
      {.step = parts.state->position.step,
       .epoch = parts.state->position.epoch,
       .line = fmt::format("exported the model to {}", directory)});
  return OkStatus();
}

// Nobody clears anything away before all have come this far.
Status AgreeOnEnd(WorkerParts& parts, const std::string& digest) {
  const Position& position = parts.state->position;
  ASSIGN_OR_RETURN(const std::vector<std::string> digests,
                   parts.session->ring().AllGather(
                       {.step = position.step, .phase = position.phase_of()},
                       digest, parts.options().cluster.save_timeout));
  for (size_t rank = 0; rank < digests.size(); ++rank) {
    if (digests[rank] == digest) continue;
    return FailedPrecondition(fmt::format(
        "final state digests differ: rank {} has {}, rank {} has {}",
        parts.place.rank, digest, rank, digests[rank]));
  }
  return OkStatus();
}

// A result that nobody has is made again from the checkpoints: they stay until
// the launcher has it.
Status AwaitAcknowledgement(WorkerParts& parts) {
  const Position& position = parts.state->position;
  RETURN_IF_ERROR(parts.world.faults.Hit(
      Point::kAcknowledge, {.step = position.step, .epoch = position.epoch}));
  RETURN_IF_ERROR(parts.reporter.AwaitAcknowledgement(
      parts.world.clock.Now() + parts.options().cluster.save_timeout));
  parts.world.events.Emit({.kind = EventKind::kResultAcknowledged,
                           .generation = parts.generation(),
                           .step = position.step,
                           .epoch = position.epoch});
  return OkStatus();
}

// REQUIRES: the result was sent.
Status DeleteBackup(WorkerParts& parts) {
  if (!parts.store ||
      parts.options().checkpoint.at_success != AtSuccess::kDeleteCheckpoints) {
    return OkStatus();
  }
  const Status acknowledged = AwaitAcknowledgement(parts);
  const Status deleted =
      acknowledged.ok() ? parts.store->DeleteAll() : acknowledged;
  // kFenced: all is done, and what is there is a later generation's.
  if (acknowledged.ok() && deleted.code() != Code::kFenced) return deleted;
  parts.reporter.Progress(
      {.step = parts.state->position.step,
       .epoch = parts.state->position.epoch,
       .line = fmt::format("the checkpoints stay: {}", deleted.message())});
  return OkStatus();
}

}  // namespace

Status FinishRun(WorkerParts& parts, LoopEnd end,
                 std::optional<uint64_t> resumed_from) {
  parts.Expect(parts.options().cluster.save_timeout);
  const Position& position = parts.state->position;
  RETURN_IF_ERROR(parts.world.faults.Hit(
      Point::kFinish, {.step = position.step, .epoch = position.epoch}));
  RETURN_IF_ERROR(parts.state->Settle());
  const Digest digest = parts.state->ComputeDigest();
  TrainResult result = ResultOf(*parts.state, end, digest);
  result.resumed_from = resumed_from;
  if (end == LoopEnd::kFinished) {
    parts.world.events.Emit({.kind = EventKind::kFinished,
                             .generation = parts.generation(),
                             .step = position.step,
                             .epoch = position.epoch,
                             .phase = position.phase_of(),
                             .digest = digest});
  }
  RETURN_IF_ERROR(AgreeOnEnd(parts, result.digest));
  if (parts.chief()) {
    const bool finished = end == LoopEnd::kFinished;
    if (finished) RETURN_IF_ERROR(Export(parts, digest));
    parts.reporter.Result(result);
    if (finished) RETURN_IF_ERROR(DeleteBackup(parts));
  }
  parts.session->Leave();
  return OkStatus();
}

}  // namespace gauntlet
