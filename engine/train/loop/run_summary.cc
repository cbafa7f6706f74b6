#include "engine/train/loop/run_summary.h"

#include <chrono>
#include <utility>

#include "engine/finite.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kQuietPeriod = std::chrono::minutes(1);

// Returns the first step whose points this incarnation writes. Readers discard
// the points of earlier incarnations from this step on. If the end of an epoch
// is still due, this incarnation writes the epoch's points at the current step,
// so readers must discard that step too. The batch_loss of that step may then
// be missing, but no point appears twice.
uint64_t FirstStep(const Position& position) {
  return position.phase_of() == Phase::kInEpoch ? position.step + 1
                                                : position.step;
}

}  // namespace

RunSummary::RunSummary(World& world, const SummaryOptions& options,
                       const Position& position)
    : world_(&world),
      options_(&options),
      measured_step_(position.step),
      measured_at_(world.clock.Now()) {
  Result<std::unique_ptr<SummaryWriter>> opened = SummaryWriter::Open(
      world, WithoutLastSlashes(options.directory), FirstStep(position));
  Note(opened.status());
  if (opened.ok()) writer_ = *std::move(opened);
}

void RunSummary::StepDone(uint64_t step, float loss) {
  if (step % options_->every != 0) return;
  std::vector<Scalar> scalars = {
      {.tag = "batch_loss", .value = CanonicalNan(loss)}};
  const Time now = world_->clock.Now();
  const double seconds =
      std::chrono::duration<double>(now - measured_at_).count();
  if (seconds > 0.0) {
    const double rate = static_cast<double>(step - measured_step_) / seconds;
    scalars.push_back(
        {.tag = "global_step/sec", .value = static_cast<float>(rate)});
  }
  const double steps = static_cast<double>(step - measured_step_);
  for (const PartTime& part : std::exchange(part_times_, {})) {
    const double took = std::chrono::duration<double>(part.took).count();
    scalars.push_back({.tag = fmt::format("time/{}", TimePartName(part.part)),
                       .value = static_cast<float>(took / steps)});
  }
  measured_step_ = step;
  measured_at_ = now;
  Write(step, scalars);
}

void RunSummary::EpochDone(const TrainState& state) {
  const History& history = state.history;
  std::vector<Scalar> scalars = {
      {.tag = "epoch_loss", .value = CanonicalNan(history.loss.back())},
      {.tag = "epoch_accuracy",
       .value = static_cast<float>(
           ShareOf(history.correct.back(), history.samples.back()))}};
  if (!history.val_samples.empty() && history.val_samples.back() > 0) {
    scalars.push_back({.tag = "epoch_val_loss",
                       .value = CanonicalNan(history.val_loss.back())});
    scalars.push_back(
        {.tag = "epoch_val_accuracy",
         .value = static_cast<float>(
             ShareOf(history.val_correct.back(), history.val_samples.back()))});
  }
  Write(state.position.step, scalars);
}

void RunSummary::BeforeSave() {
  if (writer_ != nullptr) Note(writer_->Sync());
}

void RunSummary::Write(uint64_t step, std::span<const Scalar> scalars) {
  if (writer_ != nullptr) Note(writer_->Write(step, scalars));
}

void RunSummary::Note(const Status& status) {
  const bool begins = !status.ok() && !failing_;
  failing_ = !status.ok();
  if (!begins || world_->clock.Now() < next_warning_) return;
  next_warning_ = world_->clock.Now() + kQuietPeriod;
  warnings_.push_back(
      fmt::format("TensorBoard events are not written: {}", status.message()));
}

}  // namespace gauntlet
