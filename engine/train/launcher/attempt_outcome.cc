#include "engine/train/launcher/attempt_outcome.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/train/worker_exit.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Exit code of the program after a second interrupt.
constexpr int kInterrupted = 130;

WorkerExit ExitForStatus(const std::string& status) {
  if (status == "done") return WorkerExit::kDone;
  return status == "stopped" ? WorkerExit::kStopped : WorkerExit::kNotFinite;
}

}  // namespace

void AttemptOutcome::AddLoss(Loss loss) { losses_.push_back(std::move(loss)); }

void AttemptOutcome::SetResult(const TrainResult& result) {
  result_ = result;
  losses_before_result_ = losses_.size();
  if (launch_.not_finite_since) {
    result_->not_finite_since =
        std::min(*launch_.not_finite_since,
                 result.not_finite_since.value_or(UINT64_MAX));
  }
}

void AttemptOutcome::SetHang(std::string hang) { hang_ = std::move(hang); }

std::string AttemptOutcome::ExplainLosses() {
  const std::span<const Loss> unexplained =
      std::span(losses_).subspan(explained_);
  const bool somebody_failed = std::ranges::any_of(unexplained, FailedItself);
  const Loss* const culprit = CulpritOf(unexplained);
  std::string reason = !hang_.empty()        ? hang_
                       : losses_.empty()     ? "no worker reported a result"
                       : unexplained.empty() ? Describe(losses_.back())
                                             : DescribeAll(unexplained);
  launch_.culprit =
      culprit != nullptr ? std::optional(culprit->worker) : std::nullopt;
  if (somebody_failed || explained_ == 0) {
    const std::string follows =
        launch_.membership.RecordCulprit(launch_.culprit);
    if (!follows.empty()) reason += "; " + follows;
  }
  explained_ = losses_.size();
  return reason;
}

// Returns the outcome of an attempt with a result. The chief sends the result
// once all workers have reached the end, so later exits of other workers do not
// change the outcome. A chief that dies after it sent the result may leave
// checkpoints that should have been deleted. If the chief exits with an error,
// it could not delete the checkpoints, and the job has failed.
LaunchEnd AttemptOutcome::WithResult(int chief) const {
  LaunchEnd end = {.exit_code = WorkerExitCode(ExitForStatus(result_->status)),
                   .result = result_};
  for (const Loss& loss : std::span(losses_).subspan(losses_before_result_)) {
    if (loss.worker != chief ||
        loss.exited.code == WorkerExitCode(WorkerExit::kStopped) ||
        loss.exited.code == WorkerExitCode(WorkerExit::kNotFinite)) {
      continue;
    }
    if (Died(loss.exited)) {
      end.reason = fmt::format(
          "{}; {} after sending the result: some checkpoints may not have "
          "been deleted",
          result_->status, Describe(loss));
      continue;
    }
    end.exit_code = WorkerExitCode(WorkerExit::kFailed);
    end.reason = fmt::format("{}, but its checkpoints could not be deleted: {}",
                             result_->status, loss.failure);
  }
  return end;
}

// Returns the loss whose cause no restart can fix; null if there is none. Of
// several workers with the same exit code, prefers the chief: an error of the
// chief also ends the other workers.
const Loss* AttemptOutcome::PermanentLoss(int chief) const {
  for (const WorkerExit permanent :
       {WorkerExit::kBadInput, WorkerExit::kNoCheckpoint, WorkerExit::kOtherJob,
        WorkerExit::kFailed, WorkerExit::kNotFinite, WorkerExit::kStartLater}) {
    const Loss* found = nullptr;
    for (const Loss& loss : losses_) {
      if (loss.exited.signal != 0 ||
          loss.exited.code != WorkerExitCode(permanent)) {
        continue;
      }
      if (found == nullptr || loss.worker == chief) found = &loss;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::optional<LaunchEnd> AttemptOutcome::Final(int chief) const {
  if (result_) return WithResult(chief);
  if (const Loss* const loss = PermanentLoss(chief)) {
    const auto exit = static_cast<WorkerExit>(loss->exited.code);
    return LaunchEnd{.exit_code = WorkerExitCode(JobExitFor(exit)),
                     .reason = Describe(*loss)};
  }
  if (launch_.interrupted_twice) {
    return LaunchEnd{.exit_code = kInterrupted, .reason = "interrupted twice"};
  }
  if (launch_.stop_requested) {
    // The work since the last save is lost.
    return LaunchEnd{.exit_code = WorkerExitCode(WorkerExit::kLostWorker),
                     .reason = "stop requested, but no worker saved: " +
                               (losses_.empty() ? "no worker reported a result"
                                                : Describe(losses_.front()))};
  }
  return std::nullopt;
}

}  // namespace gauntlet
