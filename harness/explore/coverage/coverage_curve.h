// Growth of coverage with the cases of an exploration.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_COVERAGE_CURVE_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_COVERAGE_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet {

// Coverage after a number of cases.
struct CoverageSample {
  uint64_t cases = 0;
  uint64_t points = 0;  // points at which a fault fired
  uint64_t pairs = 0;   // pairs of such points, in sequence in one run
  uint64_t goals = 0;

  bool operator==(const CoverageSample&) const = default;
};

// Keeps the samples at which coverage grew. If there are more than
// kMostSamples, drops the one closest to its neighbours.
class CoverageCurve {
 public:
  static constexpr size_t kMostSamples = 500;

  // Samples come in ascending order of cases, and coverage never shrinks.
  void Add(const CoverageSample& sample);

  const std::vector<CoverageSample>& samples() const { return samples_; }

 private:
  void DropOne();

  std::vector<CoverageSample> samples_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_COVERAGE_CURVE_H_
