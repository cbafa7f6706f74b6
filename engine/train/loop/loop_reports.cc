#include "engine/train/loop/loop_reports.h"

#include <utility>

#include "engine/epoch_text.h"
#include "engine/finite.h"
#include "engine/train/loop/trainer.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kReportEvery = std::chrono::milliseconds(200);

}  // namespace

LoopReports::LoopReports(World& world, const TrainOptions& options,
                         const TrainState& state)
    : world_(&world),
      options_(&options),
      state_(&state),
      last_report_(world.clock.Now() - kReportEvery) {}

void LoopReports::SetReporter(ProgressReporter& reporter,
                              uint64_t steps_per_epoch) {
  reporter_ = &reporter;
  steps_per_epoch_ = steps_per_epoch;
}

void LoopReports::ReportLine(std::string line) {
  if (reporter_ == nullptr) return;
  reporter_->Progress({.step = state_->position.step,
                       .epoch = state_->position.epoch,
                       .steps_per_epoch = steps_per_epoch_,
                       .line = std::move(line)});
}

void LoopReports::ReportNotFinite(uint64_t since, std::string line) {
  if (reporter_ == nullptr) return;
  reporter_->Progress({.step = state_->position.step,
                       .epoch = state_->position.epoch,
                       .steps_per_epoch = steps_per_epoch_,
                       .line = std::move(line),
                       .not_finite_since = since});
}

void LoopReports::ReportStep(const StepOutcome& outcome) {
  if (reporter_ == nullptr) return;
  const Time now = world_->clock.Now();
  if (now - last_report_ < kReportEvery) return;
  last_report_ = now;
  reporter_->Progress({.step = state_->position.step,
                       .epoch = state_->position.epoch,
                       .steps_per_epoch = steps_per_epoch_,
                       .loss = outcome.loss});
}

void LoopReports::ReportEpoch(const StepOutcome& outcome) {
  if (reporter_ == nullptr) return;
  reporter_->Progress({.step = state_->position.step,
                       .epoch = state_->position.epoch,
                       .steps_per_epoch = steps_per_epoch_,
                       .loss = outcome.loss,
                       .line = reporter_->reads_lines() ? EpochLine() : ""});
}

std::string LoopReports::EpochLine() const {
  const History& history = state_->history;
  // A run that is limited by steps has no fixed number of epochs.
  const std::string of_epochs =
      options_->horizon.max_steps
          ? ""
          : fmt::format("/{}", options_->horizon.epochs);
  std::string line =
      fmt::format("{}{}  step {}  loss {:.4f}  accuracy {:.4f}",
                  EpochName(state_->position.epoch - 1), of_epochs,
                  state_->position.step, CanonicalNan(history.loss.back()),
                  ShareOf(history.correct.back(), history.samples.back()));
  if (history.val_samples.back() > 0) {
    line += fmt::format(
        "  val_loss {:.4f}  val_accuracy {:.4f}",
        CanonicalNan(history.val_loss.back()),
        ShareOf(history.val_correct.back(), history.val_samples.back()));
  }
  return line;
}

void LoopReports::AnnounceReportWithin(Duration bound) {
  if (reporter_ == nullptr) return;
  const Time now = world_->clock.Now();
  if (bound == sent_bound_ && now - bound_sent_at_ < kReportEvery) return;
  sent_bound_ = bound;
  bound_sent_at_ = now;
  reporter_->Progress({.patience = bound + options_->cluster.lost_after});
}

void LoopReports::ReportSave(Duration bound) {
  if (save_reporter_ != nullptr) save_reporter_->Progress({.saving = bound});
}

}  // namespace gauntlet
