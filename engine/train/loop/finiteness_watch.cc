#include "engine/train/loop/finiteness_watch.h"

#include <bit>
#include <cmath>
#include <optional>
#include <string_view>

#include "engine/finite.h"
#include "engine/train/state/finiteness.h"
#include <fmt/format.h>

namespace gauntlet {

namespace {

// REQUIRES: the loss is infinite or NaN.
std::string_view NonFiniteName(float loss) {
  return std::isnan(loss) ? "NaN" : "infinite";
}

}  // namespace

Result<bool> FinitenessWatch::Begin(uint64_t generation) {
  generation_ = generation;
  TrainState& state = parts_.resident.host();
  std::string found = LossIsFinite(state) ? "" : "the loss";
  if (found.empty() && MustStop()) {
    RETURN_IF_ERROR(parts_.resident.SyncToHost());
    found = FindNotFinite(state);
  }
  if (!found.empty() && !state.not_finite_since) {
    state.not_finite_since = state.position.step;
  }
  if (!state.not_finite_since) return false;
  ReportOnce(
      fmt::format("step {}: the starting state is non-finite since step {}{}",
                  state.position.step, *state.not_finite_since,
                  found.empty() ? "" : fmt::format(" ({})", found)),
      0);
  return !found.empty() && MustStop();
}

bool FinitenessWatch::CheckLoss(float loss) {
  if (LossIsFinite(state())) return false;
  const bool of_step = !std::isfinite(loss);
  ReportOnce(
      fmt::format("step {}: {} is {}", state().position.step,
                  of_step ? "loss" : "the epoch's sum of losses",
                  NonFiniteName(of_step ? loss : state().metrics.loss_sum)),
      std::bit_cast<uint32_t>(CanonicalNan(loss)));
  return MustStop();
}

void FinitenessWatch::CheckValidation(float loss) {
  if (std::isfinite(loss) || reported_ || validation_reported_) return;
  validation_reported_ = true;
  parts_.reports.ReportLine(
      fmt::format("step {}: validation loss is {}, training loss is finite",
                  state().position.step, NonFiniteName(loss)));
}

bool FinitenessWatch::CheckSaves() {
  const std::optional<NotFiniteSave> found = parts_.saves.TakeNotFinite();
  if (!found) return false;
  if (!state().not_finite_since) {
    state().not_finite_since = found->step;
  }
  ReportOnce(fmt::format("step {}: tensor {} has non-finite values",
                         found->step, found->tensor),
             0);
  return MustStop();
}

void FinitenessWatch::ReportOnce(const std::string& what, uint32_t loss_bits) {
  if (reported_) return;
  reported_ = true;
  const Position& position = state().position;
  parts_.world.events.Emit({.kind = EventKind::kNotFinite,
                            .generation = generation_,
                            .step = position.step,
                            .epoch = position.epoch,
                            .phase = position.phase_of(),
                            .loss_bits = loss_bits,
                            .detail = what});
  parts_.reports.ReportNotFinite(
      state().not_finite_since.value_or(position.step),
      what + "; " + Consequence());
}

std::string FinitenessWatch::Consequence() const {
  const std::string& directory = parts_.options.checkpoint.directory;
  std::string text = MustStop()
                         ? "training stops (--stop-on-nan)"
                         : "training continues (use --stop-on-nan to stop)";
  std::string remedy =
      "Try a lower --lr, or --clip, or check the data and initial weights";
  if (directory.empty()) return text + ". " + remedy;
  const std::string& newest = parts_.saves.newest_finite();
  if (newest.empty()) {
    text += ". No finite checkpoint exists";
  } else {
    text += fmt::format(". Newest finite checkpoint: {} (kept)", newest);
    remedy += fmt::format(
        "; to start from its weights: --init-from {}/{} --ckpt NEWDIR",
        directory, newest);
  }
  return text + ". " + remedy;
}

}  // namespace gauntlet
