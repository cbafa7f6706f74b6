#include "engine/train/state/state_copy.h"

#include <algorithm>
#include <utility>

#include "engine/large_array.h"
#include <fmt/format.h>

namespace gauntlet {

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kLargeBuffer = 4 * kMiB;

// Returns the size of the buffer for a copy of that many bytes.
size_t BufferBytes(uint64_t bytes) {
  return bytes < kLargeBuffer ? bytes : (bytes + kMiB - 1) / kMiB * kMiB;
}

bool StaysIn(const SpareArrays* spare, const TensorView& tensor) {
  return spare != nullptr && spare->Has(tensor);
}

uint64_t BytesToCopy(const TrainState& state,
                     std::span<const TensorView> tensors) {
  uint64_t bytes = 0;
  for (const TensorView& tensor : tensors) {
    if (!StaysIn(state.spare(), tensor)) bytes += tensor.bytes.size();
  }
  return bytes;
}

}  // namespace

StateCopy::~StateCopy() { static_cast<void>(AwaitArrival()); }

void StateCopy::Reserve(const TrainState& state,
                        std::span<const TensorView> tensors) {
  CHECK(fetching_ == nullptr, "one copy at a time");
  bytes_ = BytesToCopy(state, tensors);
  GrowBuffer(nullptr);
}

Status StateCopy::Take(ResidentState& resident,
                       std::span<const TensorView> tensors) {
  CHECK(fetching_ == nullptr, "one copy at a time");
  tensors_.assign(tensors.begin(), tensors.end());
  bytes_ = BytesToCopy(resident.host(), tensors_);
  Memory* const device = resident.device_memory();
  GrowBuffer(device);
  expected_.clear();
  if (device != nullptr) {
    ASSIGN_OR_RETURN(const bool taken, CopyOnDevice(resident, *device));
    if (taken) return OkStatus();
  }
  RETURN_IF_ERROR(resident.SyncToHost());
  CopyOnHost(resident.host().spare());
  return OkStatus();
}

void StateCopy::GrowBuffer(Memory* pinned_for) {
  if (bytes_ > buffer_.size()) {
    pin_.reset();
    // Allocates a new buffer: resizing the old one may allocate half as much
    // again.
    buffer_ = {};
    buffer_ = MakeLargeArray<std::byte>(BufferBytes(bytes_));
  }
  // The buffer may not be pinned yet: the first copy may have been taken before
  // the device had arrays.
  if (pinned_for != nullptr && !pin_) {
    pin_.emplace(*pinned_for, std::span(buffer_));
  }
}

// Copies the tensors whose newest values are on the device to the start of the
// buffer, in one transfer. Copies the other tensors behind them. Returns false
// if the device has no free memory.
Result<bool> StateCopy::CopyOnDevice(ResidentState& resident, Memory& memory) {
  RETURN_IF_ERROR(resident.device_status());
  std::vector<std::span<const std::byte>> newest;
  size_t size = 0;
  for (const TensorView& tensor : tensors_) {
    newest.push_back(resident.NewestOf(tensor));
    size += newest.back().size();
  }
  if (!device_) device_.emplace(memory);
  if (!device_->ResizeIfRoom(size)) return false;
  ASSIGN_OR_RETURN(expected_, resident.DigestsOf(tensors_));
  size_t at = 0;
  size_t host_at = size;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    std::span<const std::byte>& bytes = tensors_[i].bytes;
    const bool is_on_device = !newest[i].empty();
    size_t& place = is_on_device ? at : host_at;
    const std::span<std::byte> to =
        std::span(buffer_).subspan(place, bytes.size());
    if (is_on_device) {
      memory.Copy(device_->span().data() + at, newest[i].data(), bytes.size());
    } else {
      std::copy_n(bytes.data(), bytes.size(), to.data());
    }
    place += bytes.size();
    bytes = to;
  }
  fetching_ = &memory;
  memory.Fetch(buffer_.data(), device_->span().data(), size);
  return true;
}

void StateCopy::CopyOnHost(const SpareArrays* spare) {
  size_t at = 0;
  for (TensorView& tensor : tensors_) {
    if (StaysIn(spare, tensor)) continue;
    const std::span<std::byte> place =
        std::span(buffer_).subspan(at, tensor.bytes.size());
    std::copy_n(tensor.bytes.data(), tensor.bytes.size(), place.data());
    tensor.bytes = place;
    at += place.size();
  }
}

Status StateCopy::AwaitArrival() {
  Memory* const memory = std::exchange(fetching_, nullptr);
  return memory == nullptr ? OkStatus() : memory->AwaitFetch();
}

Status StateCopy::Check() const {
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (expected_[i].empty() || BlockDigestsOf(tensors_[i]) == expected_[i]) {
      continue;
    }
    return IoError(fmt::format(
        "the copy of {} is not what the device had: its digests differ",
        tensors_[i].name));
  }
  return OkStatus();
}

}  // namespace gauntlet
