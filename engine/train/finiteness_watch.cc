#include "engine/train/finiteness_watch.h"

#include <bit>
#include <cmath>
#include <optional>

#include "engine/finite.h"
#include "engine/train/finiteness.h"
#include <fmt/format.h>

namespace gauntlet {

Status FinitenessWatch::Begin(uint64_t generation) {
  generation_ = generation;
  TrainState& state = parts_.state;
  std::string found = LossIsFinite(state) ? "" : "the loss";
  if (found.empty() && parts_.options.on_not_finite == OnNotFinite::kStop) {
    RETURN_IF_ERROR(state.Settle());
    found = FindNotFinite(state);
  }
  stops_ = !found.empty() && parts_.options.on_not_finite == OnNotFinite::kStop;
  if (!found.empty() && !state.not_finite_since) {
    state.not_finite_since = state.position.step;
  }
  if (!state.not_finite_since) return OkStatus();
  Say(fmt::format("step {}: the state that training begins with is not finite, "
                  "since step {}{}",
                  state.position.step, *state.not_finite_since,
                  found.empty() ? "" : fmt::format(" ({})", found)),
      0);
  return OkStatus();
}

void FinitenessWatch::LookAtLoss(float loss) {
  if (LossIsFinite(parts_.state)) return;
  stops_ = parts_.options.on_not_finite == OnNotFinite::kStop;
  const bool of_step = !std::isfinite(loss);
  Say(fmt::format("step {}: the loss {} not finite ({})",
                  parts_.state.position.step,
                  of_step ? "is" : "summed up over the epoch is",
                  CanonicalNan(of_step ? loss : parts_.state.metrics.loss_sum)),
      std::bit_cast<uint32_t>(CanonicalNan(loss)));
}

void FinitenessWatch::LookAtValidation(float loss) {
  if (std::isfinite(loss) || said_ || validation_said_) return;
  validation_said_ = true;
  parts_.reports.Say(fmt::format(
      "step {}: the validation loss is not finite ({}), the training loss is",
      parts_.state.position.step, CanonicalNan(loss)));
}

void FinitenessWatch::LookAtSaves() {
  const std::optional<NotFiniteSave> found = parts_.saves.TakeNotFinite();
  if (!found) return;
  if (!parts_.state.not_finite_since) {
    parts_.state.not_finite_since = found->step;
  }
  stops_ = stops_ || parts_.options.on_not_finite == OnNotFinite::kStop;
  Say(fmt::format("step {}: {} has values that are not finite", found->step,
                  found->tensor),
      0);
}

void FinitenessWatch::Say(const std::string& what, uint32_t loss_bits) {
  if (said_) return;
  said_ = true;
  const Position& position = parts_.state.position;
  parts_.world.events.Emit({.kind = EventKind::kNotFinite,
                            .generation = generation_,
                            .step = position.step,
                            .epoch = position.epoch,
                            .phase = position.phase_of(),
                            .loss_bits = loss_bits,
                            .detail = what});
  parts_.reports.SayNotFinite(
      parts_.state.not_finite_since.value_or(position.step),
      what + "; " + WhatFollows());
}

std::string FinitenessWatch::WhatFollows() const {
  const bool stops = parts_.options.on_not_finite == OnNotFinite::kStop;
  const std::string& directory = parts_.options.checkpoint.directory;
  std::string text = stops ? "training stops (--stop-on-nan)"
                           : "training goes on (--stop-on-nan would stop it)";
  std::string remedy =
      "lower --lr, bound gradients with --clip, or mend the data";
  if (directory.empty()) return text + ". To do: " + remedy;
  const std::string& newest = parts_.saves.newest_finite();
  if (newest.empty()) {
    text += "; no finite checkpoint is there";
  } else {
    text +=
        fmt::format("; the last finite checkpoint is {}, and stays", newest);
    remedy +=
        fmt::format("; --init-from {}/{} with another --ckpt begins there",
                    directory, newest);
  }
  return text + ". To do: " + remedy;
}

}  // namespace gauntlet
