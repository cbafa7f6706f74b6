#include "engine/train/state/resident_state.h"

#include <functional>

#include "engine/float_digest.h"

namespace gauntlet {
namespace {

constexpr size_t kBlockFloats = kDigestBlockBytes / sizeof(float);

size_t NumbersOf(std::span<const float> blocks) {
  return 2 * DigestBlocksOf(blocks.size_bytes());
}

}  // namespace

ResidentState::ResidentState(TrainState& state, const Kernels& kernels,
                             const FaultPoints& faults)
    : host_(state),
      kernels_(kernels),
      faults_(faults),
      memory_(kernels.memory()),
      arena_(memory_),
      digests_(memory_),
      rests_(memory_) {
  for (size_t i = 0; i < state.large_arrays(); ++i) {
    arrays_.emplace_back(state.LargeArray(i));
  }
  if (on_host()) device_ = arrays_;
}

void ResidentState::MoveTo(Place place) {
  const bool may_follow = [&] {
    switch (place) {
      case Place::kHostOnly:
        return false;
      case Place::kHost:
        return place_ == Place::kHostOnly || place_ == Place::kBoth;
      case Place::kBoth:
        return place_ == Place::kHost || place_ == Place::kDevice;
      case Place::kDevice:
        return place_ == Place::kBoth || place_ == Place::kDevice;
      case Place::kLost:
        return place_ == Place::kDevice;
    }
    return false;
  }();
  CHECK(!on_host() && may_follow, "not a transition of resident_state.h");
  place_ = place;
}

void ResidentState::Allocate() {
  size_t size = 0;
  for (const std::span<float> array : arrays_) {
    pins_.emplace_back(memory_, array);
    size += RoundUpToCacheLine(array.size());
  }
  arena_.Resize(size);
  size_t at = 0;
  for (const std::span<float> array : arrays_) {
    device_.push_back(arena_.span().subspan(at, array.size()));
    at += RoundUpToCacheLine(array.size());
  }
  MoveTo(Place::kHost);
}

std::span<const std::span<float>> ResidentState::Newest() {
  CHECK(place_ != Place::kLost, "the newest values were lost with the device");
  if (on_host()) {
    for (size_t i = 0; i < device_.size(); ++i) {
      device_[i] = host_.LargeArray(i);
    }
    return device_;
  }
  if (place_ == Place::kHostOnly) Allocate();
  if (place_ == Place::kHost) {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      memory_.Upload(device_[i].data(), arrays_[i].data(),
                     arrays_[i].size_bytes());
    }
    MoveTo(Place::kBoth);
  }
  return device_;
}

// On a device an update is always in place: a save first copies the arrays
// within the device.
UpdatedArray ResidentState::NextArray(size_t index) {
  return on_host() ? host_.NextOf(index) : UpdatedArray(Newest()[index]);
}

std::span<const UpdatedArray> ResidentState::NextSlots() {
  next_slots_.clear();
  for (size_t i = 0; i < host_.optimizer.slots.size(); ++i) {
    next_slots_.push_back(NextArray(1 + i));
  }
  return next_slots_;
}

void ResidentState::MarkChanged() {
  if (!on_host()) MoveTo(Place::kDevice);
}

Status ResidentState::SyncToHost() {
  RETURN_IF_ERROR(host_.CheckReadable());
  RETURN_IF_ERROR(device_status_);
  if (place_ != Place::kDevice) return OkStatus();
  for (size_t i = 0; i < arrays_.size(); ++i) {
    memory_.Download(arrays_[i].data(), device_[i].data(),
                     arrays_[i].size_bytes());
  }
  RETURN_IF_ERROR(CheckDevice());
  MoveTo(Place::kBoth);
  return OkStatus();
}

Status ResidentState::SyncForHostUpdate() {
  RETURN_IF_ERROR(SyncToHost());
  if (place_ == Place::kBoth) MoveTo(Place::kHost);
  return OkStatus();
}

Status ResidentState::CheckDevice() {
  if (faults_.Planted(PlantedBug::kTrustAFailedDevice)) return OkStatus();
  device_status_ = kernels_.status();
  if (!device_status_.ok()) MoveTo(Place::kLost);
  return device_status_;
}

Result<Digest> ResidentState::NewestDigest() {
  if (place_ == Place::kHostOnly) {
    RETURN_IF_ERROR(host_.CheckReadable());
    return host_.ComputeDigest();
  }
  const std::vector<TensorView>& tensors = host_.View();
  ASSIGN_OR_RETURN(const std::vector<BlockDigests> elsewhere,
                   DigestsOf(tensors));
  return host_.ComputeDigest(elsewhere);
}

std::span<const float> ResidentState::OnDevice(
    std::span<const std::byte> host_bytes) const {
  if (host_bytes.empty()) return {};
  for (size_t i = 0; i < device_.size(); ++i) {
    const std::span<const std::byte> array = std::as_bytes(arrays_[i]);
    const std::less<const std::byte*> before;
    if (before(host_bytes.data(), array.data()) ||
        !before(host_bytes.data(), array.data() + array.size())) {
      continue;
    }
    return std::span<const float>(device_[i])
        .subspan(static_cast<size_t>(host_bytes.data() - array.data()) /
                     sizeof(float),
                 host_bytes.size() / sizeof(float));
  }
  return {};
}

std::span<const std::byte> ResidentState::NewestOf(
    const TensorView& tensor) const {
  if (place_ != Place::kDevice) return {};
  return std::as_bytes(OnDevice(tensor.bytes));
}

ResidentState::DigestParts ResidentState::Split(
    const TensorView& tensor) const {
  const std::span<const float> on_device = OnDevice(tensor.bytes);
  const size_t last = on_device.size() % kBlockFloats;
  const size_t rest = last <= kMaxShortDigestFloats ? last : 0;
  return {.blocks = on_device.first(on_device.size() - rest),
          .rest = on_device.last(rest)};
}

Result<ResidentState::DeviceDigests> ResidentState::ComputeOnDevice(
    std::span<const DigestParts> tensors) {
  size_t numbers = 0;
  size_t rests = 0;
  for (const DigestParts& parts : tensors) {
    numbers += NumbersOf(parts.blocks);
    rests += parts.rest.size();
  }
  digests_.Resize(numbers);
  rests_.Resize(rests);
  std::span<uint64_t> to = digests_.span();
  std::span<float> rest_to = rests_.span();
  for (const DigestParts& parts : tensors) {
    const size_t count = NumbersOf(parts.blocks);
    if (count > 0) {
      kernels_.DigestBlocks(parts.blocks, kBlockFloats, to.first(count));
    }
    memory_.Copy(rest_to.data(), parts.rest.data(), parts.rest.size_bytes());
    to = to.subspan(count);
    rest_to = rest_to.subspan(parts.rest.size());
  }
  DeviceDigests taken = {.halves = std::vector<uint64_t>(numbers),
                         .rests = std::vector<float>(rests)};
  DownloadInto(memory_, digests_.span(), std::span(taken.halves));
  DownloadInto(memory_, rests_.span(), std::span(taken.rests));
  RETURN_IF_ERROR(CheckDevice());
  return taken;
}

Result<std::vector<BlockDigests>> ResidentState::DigestsOf(
    std::span<const TensorView> tensors) {
  RETURN_IF_ERROR(host_.CheckReadable());
  RETURN_IF_ERROR(device_status_);
  std::vector<BlockDigests> digests(tensors.size());
  if (place_ != Place::kDevice) return digests;
  std::vector<DigestParts> parts;
  for (const TensorView& tensor : tensors) parts.push_back(Split(tensor));
  ASSIGN_OR_RETURN(const DeviceDigests taken, ComputeOnDevice(parts));
  auto half = taken.halves.begin();
  std::span<const float> rests = taken.rests;
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (size_t n = NumbersOf(parts[i].blocks); n > 0; n -= 2, half += 2) {
      digests[i].push_back({.high = half[1], .low = half[0]});
    }
    const size_t rest = parts[i].rest.size();
    if (rest == 0) continue;
    digests[i].push_back(FloatDigestOf(std::as_bytes(rests.first(rest))));
    rests = rests.subspan(rest);
  }
  return digests;
}

}  // namespace gauntlet
