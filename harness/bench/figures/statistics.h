// Nonparametric statistics of repeated measurements.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_STATISTICS_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_STATISTICS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace gauntlet {

// Least number of values whose MedianInterval covers the median with a
// probability of 95 %.
inline constexpr size_t kLeastTrials = 6;

// A median, with a confidence interval of at least 95 %.
struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  bool operator==(const MedianInterval&) const = default;
};

// Returns the median of the values, which may be in any order. REQUIRES: at
// least one value.
double MedianOf(std::vector<double> values);

// Returns the mean of the values. REQUIRES: at least one value.
double MeanOf(std::span<const double> values);

// Returns the interval between two of the sorted values. They are chosen by the
// number of values below the true median, which has a binomial distribution
// (Conover, Practical Nonparametric Statistics, 3.2). With fewer than
// kLeastTrials values the interval spans all of them, and covers the median
// less often. REQUIRES: at least one value.
MedianInterval MedianIntervalOf(std::vector<double> values);

// Returns the two-sided p-value of the Mann-Whitney U test: the probability
// that two groups of one distribution differ at least as much as these. Ties
// count half. For groups of at most 20 values without ties, the value is exact,
// by enumeration of all orders; else it is the normal approximation, corrected
// for ties. Returns 1 if a group is empty or all values are equal.
double MannWhitneyP(std::span<const double> one, std::span<const double> other);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_STATISTICS_H_
