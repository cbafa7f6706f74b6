#include "engine/train/rendezvous/received_state.h"

#include <algorithm>

#include "engine/ckpt/format/safetensors.h"
#include "engine/ckpt/format/safetensors_format.h"

namespace gauntlet {

void ReceivedState::Take(std::span<const std::byte> chunk, uint64_t size) {
  if (format_) {
    memory_.Copy(chunk, taken_);
  } else {
    TakeBeginning(chunk, size);
  }
  taken_ += chunk.size();
}

void ReceivedState::TakeBeginning(std::span<const std::byte> chunk,
                                  uint64_t size) {
  beginning_.insert(beginning_.end(), chunk.begin(), chunk.end());
  if (beginning_.size() < kSafetensorsLengthBytes) return;
  const Result<uint64_t> header = SafetensorsHeaderBytes(beginning_, size);
  if (header.ok() && *header > beginning_.size()) return;
  Result<std::vector<SafetensorsEntry>> entries =
      ParseSafetensorsHeader(beginning_, size);
  format_ = entries.status();
  if (entries.ok()) {
    memory_ = ShardMemory(*std::move(entries), places_);
    memory_.Copy(beginning_, 0);
  }
  beginning_ = {};
}

Result<std::vector<TensorView>> ReceivedState::Finish() {
  if (!format_) return DataLoss("the header is not complete");
  RETURN_IF_ERROR(*format_);
  std::vector<TensorView> tensors = memory_.TakeTensors();
  std::ranges::sort(tensors, {}, &TensorView::name);
  return tensors;
}

}  // namespace gauntlet
