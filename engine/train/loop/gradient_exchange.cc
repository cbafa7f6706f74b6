#include "engine/train/loop/gradient_exchange.h"

#include <utility>

#include "engine/large_array.h"

namespace gauntlet {

GradientExchange::GradientExchange(const Parts& parts, const Sizes& sizes)
    : world_(parts.world),
      kernels_(parts.kernels),
      memory_(parts.kernels.memory()),
      sizes_(sizes),
      ring_(&parts.ring),
      device_ring_(parts.device_ring),
      transport_(ChooseTransport()),
      kept_(sizes.replicas),
      device_(memory_),
      total_device_(memory_) {
  AllocateArrays();
}

void GradientExchange::Rejoin(Ring& ring, DeviceRing* device_ring) {
  ring_ = &ring;
  device_ring_ = device_ring;
  const Transport transport = ChooseTransport();
  if (transport == transport_) return;
  transport_ = transport;
  AllocateArrays();
}

GradientExchange::OverlappedExchange::OverlappedExchange(
    World& world, const Kernels& kernels_of_passes)
    : kernels(Kernels::Create({.isa = kernels_of_passes.isa()}).value()),
      progress(world.tasks),
      pass{.progress = progress, .kernels = *kernels},
      task(world, "exchange") {}

void GradientExchange::AllocateArrays() {
  pins_.clear();
  host_ = MakeLargeArray<float>(sizes_.replicas * length_host());
  total_ = MakeLargeArray<float>(sums_in_place() ? 0 : length_host());
  const bool overlaps =
      sums_last_to_first() && memory_.kind() == MemoryKind::kHost;
  overlapped_ = overlaps
                    ? std::make_unique<OverlappedExchange>(world_, kernels_)
                    : nullptr;
  host_views_.clear();
  for (size_t i = 0; i < sizes_.replicas; ++i)
    host_views_.push_back(HostArray(i));
  device_views_.clear();
  if (transport_ == Transport::kRing) {
    pins_.emplace_back(memory_, std::span(host_));
    if (!total_.empty()) pins_.emplace_back(memory_, std::span(total_));
    return;
  }
  const size_t room = RoundUpToCacheLine(sizes_.gradients);
  device_.Resize(device_buffer_count() * room);
  for (size_t i = 0; i < device_buffer_count(); ++i) {
    device_views_.push_back(device_.span().subspan(i * room, sizes_.gradients));
  }
  total_device_.Resize(sizes_.gradients);
  // If a device fails during a sum, this array is sent with its previous
  // contents. Zeros instead of uninitialized memory keep simulated runs
  // reproducible.
  memory_.Clear(total_device_.span().data(), sizes_.gradients * sizeof(float));
}

bool GradientExchange::sums_last_to_first() const {
  const size_t chunks = sizes_.gradients / Ring::kChunkFloats;
  return transport_ == Transport::kRing && ring_->size() > 1 && chunks > 0 &&
         sizes_.first_layer <= (chunks - 1) * Ring::kChunkFloats;
}

GradientExchange::Transport GradientExchange::ChooseTransport() const {
  if (device_ring_ != nullptr) return Transport::kDevices;
  const bool alone =
      ring_->size() == 1 && memory_.kind() == MemoryKind::kDevice;
  return alone ? Transport::kAlone : Transport::kRing;
}

std::span<float> GradientExchange::GradientBuffer(size_t replica) {
  if (transport_ != Transport::kRing) {
    return device_.span().subspan(
        replica % device_buffer_count() * RoundUpToCacheLine(sizes_.gradients),
        sizes_.gradients);
  }
  return OutputIn(memory_, HostArray(replica).first(sizes_.gradients), device_);
}

void GradientExchange::Add(size_t replica) {
  if (transport_ == Transport::kDevices) return;
  if (has_begun()) return;  // the exchange reads the replica's array
  if (transport_ == Transport::kRing) {
    kept_[replica].reset();
    host_views_[replica] = HostArray(replica);
    DownloadInto(memory_, device_.span(),
                 HostArray(replica).first(sizes_.gradients));
    return;
  }
  const std::span<float> total = total_device_.span();
  const std::span<float> own = device_.span().first(total.size());
  if (replica == 0) {
    memory_.Copy(total.data(), own.data(), total.size_bytes());
  } else {
    kernels_.Accumulate(own, total);
  }
}

bool GradientExchange::AcceptsKept() const {
  return sums_in_place() && memory_.kind() == MemoryKind::kHost;
}

void GradientExchange::AddKept(size_t replica, KeptGradients gradients) {
  CHECK(AcceptsKept() && gradients->size() == length_host(),
        "kept gradients have the size of those that are sent");
  host_views_[replica] = *gradients;
  kept_[replica] = std::move(gradients);
}

std::span<float> GradientExchange::Extra(size_t replica) {
  return HostArray(replica).subspan(gradients_host());
}

RingArrays GradientExchange::ArraysFor(const RunningPass* pass) {
  return {.local = host_views_,
          .total = total_host(),
          .last_to_first = sums_last_to_first() ? sizes_.gradients : 0,
          .pass = pass};
}

// AddKept may replace the last replica's view while the task runs. This is
// safe. The task reads the view only where gradients were reported as final. If
// the gradients of a pass are kept, none of them is reported before the pass is
// complete.
Status GradientExchange::BeginBeforeLastPass(const ExchangeKey& key,
                                             Duration timeout) {
  if (overlapped_ == nullptr) return OkStatus();
  RETURN_IF_ERROR(
      world_.faults.Hit(Point::kAllReduceBegin, {.step = key.step}));
  kept_.back().reset();
  host_views_.back() = HostArray(sizes_.replicas - 1);
  overlapped_->progress.Begin();
  overlapped_->task.Start([this, key, timeout] {
    overlapped_->result = ring_->Reduce(key, ArraysFor(&overlapped_->pass),
                                        overlapped_->tally, timeout);
  });
  return OkStatus();
}

std::function<void(size_t)> GradientExchange::FinalFromCallback() {
  if (!has_begun()) return nullptr;
  return [&progress = overlapped_->progress](size_t offset) {
    progress.SetFinalFrom(offset);
  };
}

Status GradientExchange::FinishOverlapped(Tally& tally) {
  overlapped_->tally = tally;
  overlapped_->progress.Complete(world_.clock.Now());
  overlapped_->task.WaitUntil(kNever);
  tally = overlapped_->tally;
  return std::exchange(overlapped_->result, OkStatus());
}

Status GradientExchange::Sum(const ExchangeKey& key, Tally& tally,
                             Duration timeout) {
  FaultPoints& faults = world_.faults;
  if (has_begun()) {
    RETURN_IF_ERROR(FinishOverlapped(tally));
    return faults.Hit(Point::kAllReduceEnd, {.step = key.step});
  }
  RETURN_IF_ERROR(faults.Hit(Point::kAllReduceBegin, {.step = key.step}));
  if (transport_ == Transport::kDevices) {
    RETURN_IF_ERROR(
        device_ring_->Sum(key, device_views_, total_device_.span(), timeout));
  }
  RETURN_IF_ERROR(ring_->Reduce(key, ArraysFor(nullptr), tally, timeout));
  return faults.Hit(Point::kAllReduceEnd, {.step = key.step});
}

std::span<float> GradientExchange::Total() {
  if (transport_ != Transport::kRing) return total_device_.span();
  return CopyIn(memory_, total_host().first(sizes_.gradients), total_device_);
}

std::span<float> GradientExchange::FetchTotal() {
  if (transport_ == Transport::kRing)
    return total_host().first(sizes_.gradients);
  fetched_total_.resize(sizes_.gradients);
  DownloadInto(memory_, total_device_.span(), std::span(fetched_total_));
  return fetched_total_;
}

void GradientExchange::WriteBackTotal() {
  if (transport_ == Transport::kRing) return;
  memory_.Upload(total_device_.span().data(), fetched_total_.data(),
                 fetched_total_.size() * sizeof(float));
}

}  // namespace gauntlet
