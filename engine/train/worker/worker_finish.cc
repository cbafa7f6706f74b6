#include "engine/train/worker/worker_finish.h"

#include <string>
#include <vector>

#include "engine/ckpt/io/retrying.h"
#include "engine/train/save/model_export.h"
#include "engine/train/state/finiteness.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

const char* EndStatus(LoopEnd end) {
  switch (end) {
    case LoopEnd::kFinished:
      return "done";
    case LoopEnd::kStopped:
      return "stopped";
    case LoopEnd::kNotFinite:
      return "not_finite";
  }
  return "?";
}

TrainResult ResultOf(const TrainState& state, LoopEnd end,
                     const Digest& digest) {
  const History& history = state.history;
  TrainResult result = {
      .status = EndStatus(end),
      .epochs = state.position.epoch,
      .steps = state.position.step,
      .digest = digest.ToString(),
  };
  if (!history.loss.empty()) {
    result.loss = history.loss.back();
    result.accuracy = ShareOf(history.correct.back(), history.samples.back());
  } else if (state.metrics.samples > 0) {
    result.loss =
        state.metrics.loss_sum / static_cast<float>(state.metrics.samples);
    result.accuracy = ShareOf(state.metrics.correct, state.metrics.samples);
  }
  if (!history.val_samples.empty() && history.val_samples.back() > 0) {
    result.val_accuracy =
        ShareOf(history.val_correct.back(), history.val_samples.back());
  }
  return result;
}

// Returns the part of the final state that is not finite; empty if all is
// finite.
std::string NotFiniteAtTheEnd(const TrainState& state) {
  return LossIsFinite(state) ? FindNotFinite(state) : "the loss";
}

// Returns the line about the export. A model that is not finite is exported
// too, for the user to inspect.
std::string ExportLine(const std::string& directory,
                       const std::string& not_finite) {
  const std::string line = fmt::format("exported the model to {}", directory);
  if (not_finite.empty()) return line;
  return fmt::format("{}; warning: the final state is not finite ({})", line,
                     not_finite);
}

// Exports the model, before the result is sent: a run without its export is not
// finished. If the disk still fails after retries, the job ends, since a
// restart would not help. If disk space is missing, or the state is not saved
// either, returns kResourceExhausted: a later start may succeed.
Status Export(WorkerParts& parts, const Digest& digest,
              const std::string& not_finite, const Status& unsaved) {
  const std::string& directory = parts.options().export_directory;
  if (directory.empty()) return OkStatus();
  // All other errors come from the disk, and may be transient.
  const auto is_transient = [](Code code) {
    return code != Code::kOk && code != Code::kInvalidArgument &&
           code != Code::kCancelled;
  };
  const Status exported = RetryWhile(parts.world, is_transient, [&] {
    return ExportModel(parts.world, directory,
                       {.model = *parts.built.model,
                        .state = *parts.state,
                        .data = parts.inputs.data.train,
                        .job_json = parts.inputs.job_json,
                        .state_digest = digest});
  });
  if (!exported.ok()) {
    const std::string why = fmt::format(
        "training finished, but the export failed: {}", exported.message());
    if (!unsaved.ok()) {
      return ResourceExhausted(fmt::format("{}; {}", why, unsaved.message()));
    }
    return exported.code() == Code::kResourceExhausted
               ? ResourceExhausted(why)
               : FailedPrecondition(why);
  }
  parts.reporter.Progress({.step = parts.state->position.step,
                           .epoch = parts.state->position.epoch,
                           .line = ExportLine(directory, not_finite)});
  return OkStatus();
}

// Warns, after an error of the last save, that the last state exists only as
// the exported model.
void WarnOfUnsavedState(WorkerParts& parts, const Status& unsaved) {
  if (unsaved.ok()) return;
  parts.reporter.Progress(
      {.step = parts.state->position.step,
       .epoch = parts.state->position.epoch,
       .line = fmt::format("warning: the model is exported, but the last "
                           "checkpoint is missing: {}",
                           unsaved.message())});
}

// Waits until all ranks have reached the end, and checks that they have the
// same state. No checkpoint is deleted before that.
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

// Waits until the launcher has the result. The checkpoints must stay until
// then: a restart would need them to produce the result again.
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

// Returns the count for the event kFinished: 0 if the final state is finite,
// else the first step at which it was not, if known.
int64_t NotFiniteCount(const TrainResult& result) {
  return result.finite
             ? 0
             : static_cast<int64_t>(result.not_finite_since.value_or(0));
}

// Deletes the checkpoints, if requested, once the launcher has acknowledged the
// result. Keeps them if the final state is not finite: the run may be continued
// from its last finite checkpoint. REQUIRES: the result was sent.
Status DeleteBackup(WorkerParts& parts, const std::string& not_finite) {
  if (!parts.store ||
      parts.options().checkpoint.at_success != AtSuccess::kDeleteCheckpoints) {
    return OkStatus();
  }
  if (!not_finite.empty()) {
    parts.reporter.Progress(
        {.step = parts.state->position.step,
         .epoch = parts.state->position.epoch,
         .line =
             fmt::format("checkpoints kept: the final state is not finite ({})",
                         not_finite)});
    return OkStatus();
  }
  const Status acknowledged = AwaitAcknowledgement(parts);
  const Status deleted =
      acknowledged.ok() ? parts.store->DeleteAll() : acknowledged;
  // kFenced is no error: the run is finished, and the remaining checkpoints
  // belong to a later generation.
  if (acknowledged.ok() && deleted.code() != Code::kFenced) return deleted;
  parts.reporter.Progress(
      {.step = parts.state->position.step,
       .epoch = parts.state->position.epoch,
       .line = fmt::format("checkpoints kept: {}", deleted.message())});
  return OkStatus();
}

}  // namespace

bool FinalStateIsLost(const WorkerParts& parts, const FinishedLoop& loop) {
  const bool exports = loop.end == LoopEnd::kFinished &&
                       !parts.options().export_directory.empty();
  return loop.end != LoopEnd::kNotFinite && !loop.unsaved.ok() && !exports;
}

Result<LoopEnd> FinishRun(WorkerParts& parts, FinishedLoop loop) {
  parts.AnnounceReportWithin(parts.options().cluster.save_timeout);
  const Position& position = parts.state->position;
  RETURN_IF_ERROR(parts.world.faults.Hit(
      Point::kFinish, {.step = position.step, .epoch = position.epoch}));
  RETURN_IF_ERROR(parts.resident->SyncToHost());
  const Digest digest = parts.state->ComputeDigest();
  const std::string not_finite = NotFiniteAtTheEnd(*parts.state);
  if (!not_finite.empty() && !parts.state->not_finite_since) {
    parts.state->not_finite_since = position.step;
  }
  if (!not_finite.empty() && loop.end == LoopEnd::kFinished &&
      parts.options().on_not_finite == OnNotFinite::kStop) {
    loop.end = LoopEnd::kNotFinite;
  }
  TrainResult result = ResultOf(*parts.state, loop.end, digest);
  result.resumed_from = loop.resumed_from;
  result.times = loop.times;
  result.finite = not_finite.empty();
  result.not_finite_since = parts.state->not_finite_since;
  const bool final_state_is_lost = FinalStateIsLost(parts, loop);
  const bool finished = loop.end == LoopEnd::kFinished && !final_state_is_lost;
  if (finished) {
    parts.world.events.Emit({.kind = EventKind::kFinished,
                             .generation = parts.generation(),
                             .step = position.step,
                             .epoch = position.epoch,
                             .phase = position.phase_of(),
                             .count = NotFiniteCount(result),
                             .digest = digest});
  }
  RETURN_IF_ERROR(AgreeOnEnd(parts, result.digest));
  if (parts.is_chief() && !final_state_is_lost) {
    if (finished) {
      RETURN_IF_ERROR(Export(parts, digest, not_finite, loop.unsaved));
      WarnOfUnsavedState(parts, loop.unsaved);
    }
    parts.reporter.Result(result);
    if (finished) RETURN_IF_ERROR(DeleteBackup(parts, not_finite));
  }
  parts.session->Leave();
  return loop.end;
}

}  // namespace gauntlet
