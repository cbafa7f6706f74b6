// Statistics of repeated measurements that assume no distribution.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_STATISTICS_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_STATISTICS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace gauntlet {

// Smallest number of values of which the interval of a MedianInterval covers
// the median with a probability of 95 %.
inline constexpr size_t kLeastTrials = 6;

// A median, with a confidence interval of at least 95 %.
struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  bool operator==(const MedianInterval&) const = default;
};

// Median of the values, at least one, in any order.
double MedianOf(std::vector<double> values);

// The interval lies between two order statistics, by the binomial distribution
// of the number of values below the median (Conover, Practical Nonparametric
// Statistics, 3.2). With fewer than kLeastTrials values, at least one, it
// spans all of them, and covers the median less often.
MedianInterval MedianIntervalOf(std::vector<double> values);

// Two-sided p-value of the Mann-Whitney U test: the probability that two groups
// of one distribution differ as much as these or more. Ties count half. Exact
// by enumeration of all orders for groups of at most 20 values without ties,
// else by the normal approximation with the correction for ties. 1 if a group
// is empty or all values are equal.
double MannWhitneyP(std::span<const double> one, std::span<const double> other);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_STATISTICS_H_
