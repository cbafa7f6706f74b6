#include "engine/train/resident_state.h"

namespace gauntlet {

ResidentState::ResidentState(TrainState& state, const Kernels& kernels,
                             const FaultPoints& faults)
    : state_(state),
      kernels_(kernels),
      faults_(faults),
      memory_(kernels.memory()),
      arena_(memory_) {
  here_.emplace_back(state.parameters);
  for (std::vector<float>& slot : state.optimizer.slots) {
    here_.emplace_back(slot);
  }
  here_.emplace_back(state.accumulated);
  if (on_host()) {
    there_ = here_;
    return;
  }
  size_t size = 0;
  for (const std::span<float> array : here_) size += WholeLines(array.size());
  arena_.Resize(size);
  size_t at = 0;
  for (const std::span<float> array : here_) {
    there_.push_back(arena_.span().subspan(at, array.size()));
    at += WholeLines(array.size());
  }
  state_.KeptBy(this);
}

ResidentState::~ResidentState() {
  if (on_host()) return;
  if (newest_there_) state_.Lost();
  state_.KeptBy(nullptr);
}

std::span<const std::span<float>> ResidentState::Newest() {
  if (!on_host() && newest_here_) {
    for (size_t i = 0; i < here_.size(); ++i) {
      memory_.Upload(there_[i].data(), here_[i].data(), here_[i].size_bytes());
    }
  }
  newest_here_ = false;
  return there_;
}

Status ResidentState::BringBack() {
  if (on_host() || !newest_there_) return OkStatus();
  for (size_t i = 0; i < here_.size(); ++i) {
    memory_.Download(here_[i].data(), there_[i].data(), here_[i].size_bytes());
  }
  if (!faults_.Planted(PlantedBug::kTrustAFailedDevice)) {
    RETURN_IF_ERROR(kernels_.status());
  }
  newest_there_ = false;
  return OkStatus();
}

Status ResidentState::StateChanges() {
  RETURN_IF_ERROR(BringBack());
  newest_here_ = true;
  return OkStatus();
}

}  // namespace gauntlet
