#include "engine/train/resident_state.h"

#include "engine/float_digest.h"

namespace gauntlet {
namespace {

constexpr size_t kBlockFloats = kDigestBlockBytes / sizeof(float);

size_t BlocksOf(std::span<const float> floats) {
  return (floats.size() + kBlockFloats - 1) / kBlockFloats;
}

}  // namespace

ResidentState::ResidentState(TrainState& state, const Kernels& kernels,
                             const FaultPoints& faults)
    : state_(state),
      kernels_(kernels),
      faults_(faults),
      memory_(kernels.memory()),
      arena_(memory_),
      digests_(memory_),
      rests_(memory_) {
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
  RETURN_IF_ERROR(Check());
  newest_there_ = false;
  return OkStatus();
}

Status ResidentState::Check() const {
  if (faults_.Planted(PlantedBug::kTrustAFailedDevice)) return OkStatus();
  return kernels_.status();
}

std::span<const float> ResidentState::There(
    std::span<const std::byte> here) const {
  for (size_t i = 0; i < here_.size(); ++i) {
    const std::span<const std::byte> array = std::as_bytes(here_[i]);
    if (here.empty() || here.data() < array.data() ||
        here.data() >= array.data() + array.size()) {
      continue;
    }
    return std::span<const float>(there_[i]).subspan(
        static_cast<size_t>(here.data() - array.data()) / sizeof(float),
        here.size() / sizeof(float));
  }
  return {};
}

ResidentState::Digested ResidentState::Split(std::span<const float> there) {
  const size_t last = there.size() % kBlockFloats;
  const size_t rest = last <= kMaxShortDigestFloats ? last : 0;
  return {.blocks = there.first(there.size() - rest), .rest = there.last(rest)};
}

Result<std::vector<BlockDigests>> ResidentState::DigestsOf(
    std::span<const TensorView> tensors) {
  std::vector<BlockDigests> of_tensors(tensors.size());
  if (on_host() || !newest_there_) return of_tensors;
  size_t digests = 0;
  size_t rests = 0;
  for (const TensorView& tensor : tensors) {
    const Digested parts = Split(There(tensor.bytes));
    digests += 2 * BlocksOf(parts.blocks);
    rests += parts.rest.size();
  }
  digests_.Resize(digests);
  rests_.Resize(rests);
  std::span<uint64_t> to = digests_.span();
  std::span<float> rest_to = rests_.span();
  for (const TensorView& tensor : tensors) {
    const Digested parts = Split(There(tensor.bytes));
    const size_t numbers = 2 * BlocksOf(parts.blocks);
    if (numbers > 0) {
      kernels_.DigestBlocks(parts.blocks, kBlockFloats, to.first(numbers));
    }
    memory_.Copy(rest_to.data(), parts.rest.data(), parts.rest.size_bytes());
    to = to.subspan(numbers);
    rest_to = rest_to.subspan(parts.rest.size());
  }
  std::vector<uint64_t> halves(digests);
  memory_.Download(halves.data(), digests_.span().data(),
                   digests * sizeof(uint64_t));
  std::vector<float> short_ones(rests);
  memory_.Download(short_ones.data(), rests_.span().data(),
                   rests * sizeof(float));
  RETURN_IF_ERROR(Check());
  auto half = halves.begin();
  std::span<const float> short_one = short_ones;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Digested parts = Split(There(tensors[i].bytes));
    for (size_t n = BlocksOf(parts.blocks); n > 0; --n, half += 2) {
      of_tensors[i].push_back({.high = half[1], .low = half[0]});
    }
    if (parts.rest.empty()) continue;
    of_tensors[i].push_back(
        FloatDigestOf(std::as_bytes(short_one.first(parts.rest.size()))));
    short_one = short_one.subspan(parts.rest.size());
  }
  return of_tensors;
}

Status ResidentState::StateChanges() {
  RETURN_IF_ERROR(BringBack());
  newest_here_ = true;
  return OkStatus();
}

}  // namespace gauntlet
