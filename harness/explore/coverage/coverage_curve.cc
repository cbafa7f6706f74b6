#include "harness/explore/coverage/coverage_curve.h"

#include "engine/check.h"

namespace gauntlet {

void CoverageCurve::Add(const CoverageSample& sample) {
  CHECK(samples_.empty() || samples_.back().cases <= sample.cases,
        "samples come in ascending order");
  CoverageSample unchanged =
      samples_.empty() ? CoverageSample{} : samples_.back();
  unchanged.cases = sample.cases;
  if (sample == unchanged) return;
  samples_.push_back(sample);
  if (samples_.size() > kMostSamples) DropOne();
}

// Drops the sample that is closest to its neighbours, but never the first or
// the last.
void CoverageCurve::DropOne() {
  const auto gap = [this](size_t i) {
    return samples_[i + 1].cases - samples_[i - 1].cases;
  };
  size_t closest = 1;
  for (size_t i = 2; i + 1 < samples_.size(); ++i) {
    if (gap(i) < gap(closest)) closest = i;
  }
  samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(closest));
}

}  // namespace gauntlet
