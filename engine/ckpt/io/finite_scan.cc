#include "engine/ckpt/io/finite_scan.h"

#include <algorithm>

#include "engine/finite.h"

namespace gauntlet {

FiniteScan::FiniteScan(const SafetensorsLayout& layout,
                       std::span<const TensorView> tensors)
    : data_begins_(layout.header.size()) {
  parts_.reserve(tensors.size());
  uint64_t end = data_begins_;
  for (const size_t i : layout.order) {
    end += tensors[i].bytes.size();
    parts_.push_back({.tensor = &tensors[i], .end = end});
  }
}

void FiniteScan::Update(std::span<const std::byte> block) {
  const uint64_t skipped = std::min<uint64_t>(
      block.size(), data_begins_ - std::min(data_begins_, at_));
  at_ += skipped;
  block = block.subspan(skipped);
  while (!block.empty() && next_ < parts_.size()) {
    Part& part = parts_[next_];
    const auto size =
        static_cast<size_t>(std::min<uint64_t>(block.size(), part.end - at_));
    if (part.tensor->dtype == DType::kF32 && part.finite) {
      part.finite = AllFinite(block.first(size));
    }
    at_ += size;
    block = block.subspan(size);
    if (at_ == part.end) ++next_;
  }
}

std::vector<std::string> FiniteScan::NotFiniteTensors() const {
  std::vector<std::string> names;
  for (const Part& part : parts_) {
    if (!part.finite) names.push_back(part.tensor->name);
  }
  return names;
}

}  // namespace gauntlet
