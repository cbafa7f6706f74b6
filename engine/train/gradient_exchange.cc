#include "engine/train/gradient_exchange.h"

#include "engine/large_array.h"

namespace gauntlet {

GradientExchange::GradientExchange(const Parts& parts, const Sizes& sizes)
    : parts_(parts),
      sizes_(sizes),
      memory_(parts.kernels.memory()),
      way_(WayOf(parts)),
      here_(MakeLargeArray<float>(sizes.replicas * length_here())),
      kept_(sizes.replicas),
      total_(MakeLargeArray<float>(sums_in_place() ? 0 : length_here())),
      there_(memory_),
      total_there_(memory_) {
  for (size_t i = 0; i < sizes.replicas; ++i) {
    here_views_.push_back(Here(i));
  }
  if (way_ == Way::kRing) {
    pins_.emplace_back(memory_, std::span(here_));
    if (!total_.empty()) pins_.emplace_back(memory_, std::span(total_));
    return;
  }
  const size_t room = WholeLines(sizes.gradients);
  there_.Resize(rooms() * room);
  for (size_t i = 0; i < rooms(); ++i) {
    there_views_.push_back(there_.span().subspan(i * room, sizes.gradients));
  }
  total_there_.Resize(sizes.gradients);
  // A device that fails in a sum sends what is there: a run is to be a function
  // of its plan then too.
  memory_.Clear(total_there_.span().data(), sizes.gradients * sizeof(float));
}

GradientExchange::Way GradientExchange::WayOf(const Parts& parts) {
  if (parts.device_ring != nullptr) return Way::kDevices;
  const bool alone = parts.ring.size() == 1 &&
                     parts.kernels.memory().kind() == MemoryKind::kDevice;
  return alone ? Way::kAlone : Way::kRing;
}

std::span<float> GradientExchange::RoomOf(size_t replica) {
  if (way_ != Way::kRing) {
    return there_.span().subspan(
        replica % rooms() * WholeLines(sizes_.gradients), sizes_.gradients);
  }
  return RoomFor(memory_, Here(replica).first(sizes_.gradients), there_);
}

void GradientExchange::Take(size_t replica) {
  if (way_ == Way::kDevices) return;
  if (way_ == Way::kRing) {
    kept_[replica].reset();
    here_views_[replica] = Here(replica);
    DownloadInto(memory_, there_.span(), Here(replica).first(sizes_.gradients));
    return;
  }
  const std::span<float> total = total_there_.span();
  const std::span<float> own = there_.span().first(total.size());
  if (replica == 0) {
    memory_.Copy(total.data(), own.data(), total.size_bytes());
  } else {
    parts_.kernels.Accumulate(own, total);
  }
}

bool GradientExchange::TakesKept() const {
  return sums_in_place() && memory_.kind() == MemoryKind::kHost;
}

void GradientExchange::TakeKept(size_t replica, KeptGradients gradients) {
  CHECK(TakesKept() && gradients->size() == length_here(),
        "what is kept is all that a replica sends");
  here_views_[replica] = *gradients;
  kept_[replica] = std::move(gradients);
}

std::span<float> GradientExchange::Beside(size_t replica) {
  return Here(replica).subspan(gradients_here());
}

Status GradientExchange::Sum(const ExchangeKey& key, Tally& tally,
                             Duration timeout) {
  FaultPoints& faults = parts_.world.faults;
  RETURN_IF_ERROR(faults.Hit(Point::kAllReduceBegin, {.step = key.step}));
  if (way_ == Way::kDevices) {
    RETURN_IF_ERROR(parts_.device_ring->Sum(key, there_views_,
                                            total_there_.span(), timeout));
  }
  RETURN_IF_ERROR(
      parts_.ring.Reduce(key, here_views_, total_here(), tally, timeout));
  return faults.Hit(Point::kAllReduceEnd, {.step = key.step});
}

std::span<float> GradientExchange::Total() {
  if (way_ != Way::kRing) return total_there_.span();
  return Brought(memory_, total_here().first(sizes_.gradients), total_there_);
}

std::span<float> GradientExchange::FetchTotal() {
  if (way_ == Way::kRing) return total_here().first(sizes_.gradients);
  seen_.resize(sizes_.gradients);
  DownloadInto(memory_, total_there_.span(), std::span(seen_));
  return seen_;
}

void GradientExchange::PutTotalBack() {
  if (way_ == Way::kRing) return;
  memory_.Upload(total_there_.span().data(), seen_.data(),
                 seen_.size() * sizeof(float));
}

}  // namespace gauntlet
