#include "harness/bench/figures/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>

#include "engine/check.h"

namespace gauntlet {
namespace {

constexpr double kMissedTail = 0.025;  // on each side of the interval
constexpr size_t kMostForExact = 20;

// Counts the possible orders of `a` values of one group and `b` values of
// another, for each value of the U statistic. Entry u is the number of orders
// in which the second group's value comes first in exactly u pairs. The
// recurrence removes the greatest value of an order (Mann and Whitney, 1947).
std::vector<double> OrdersByU(size_t a, size_t b) {
  std::vector<std::vector<double>> row(b + 1, std::vector<double>{1.0});
  for (size_t i = 1; i <= a; ++i) {
    std::vector<std::vector<double>> next(b + 1);
    next[0] = {1.0};
    for (size_t j = 1; j <= b; ++j) {
      next[j].assign(i * j + 1, 0.0);
      for (size_t u = 0; u < row[j].size(); ++u) next[j][u + j] += row[j][u];
      for (size_t u = 0; u < next[j - 1].size(); ++u) {
        next[j][u] += next[j - 1][u];
      }
    }
    row = std::move(next);
  }
  return row[b];
}

double ExactP(size_t a, size_t b, double smaller_u) {
  const std::vector<double> orders = OrdersByU(a, b);
  double all = 0;
  double as_extreme = 0;
  for (size_t u = 0; u < orders.size(); ++u) {
    all += orders[u];
    if (static_cast<double>(u) <= smaller_u) as_extreme += orders[u];
  }
  return std::min(1.0, 2.0 * as_extreme / all);
}

// Returns the sum of t^3 - t over the groups of t equal values.
double TieTerm(std::vector<double> values) {
  std::ranges::sort(values);
  double term = 0;
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    while (end < values.size() && values[end] == values[i]) ++end;
    const auto equal = static_cast<double>(end - i);
    term += equal * equal * equal - equal;
    i = end;
  }
  return term;
}

double NormalP(double a, double b, double smaller_u, double ties) {
  const double n = a + b;
  const double variance = a * b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
  if (variance <= 0) return 1.0;
  const double distance = a * b / 2.0 - smaller_u - 0.5;
  const double z = std::max(0.0, distance) / std::sqrt(variance);
  return std::erfc(z / std::numbers::sqrt2);
}

}  // namespace

double MedianOf(std::vector<double> values) {
  CHECK(!values.empty(), "a median is of at least one value");
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2.0;
}

double MeanOf(std::span<const double> values) {
  CHECK(!values.empty(), "a mean of no values");
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

MedianInterval MedianIntervalOf(std::vector<double> values) {
  const double median = MedianOf(values);
  std::ranges::sort(values);
  // Leaves out the same number of values on each side, as many as possible.
  // `tail` is the probability that at most `left_out` values are below the
  // median. It must not exceed kMissedTail.
  const size_t n = values.size();
  double chance =
      std::pow(0.5, static_cast<double>(n));  // that `left_out` are below
  double tail = chance;
  size_t left_out = 0;
  while (true) {
    chance *=
        static_cast<double>(n - left_out) / static_cast<double>(left_out + 1);
    tail += chance;
    if (tail > kMissedTail || 2 * (left_out + 1) >= n) break;
    ++left_out;
  }
  return {.median = median,
          .low = values[left_out],
          .high = values[n - 1 - left_out]};
}

double MannWhitneyP(std::span<const double> one,
                    std::span<const double> other) {
  if (one.empty() || other.empty()) return 1.0;
  double u = 0;
  for (const double x : one) {
    for (const double y : other) {
      u += x > y ? 1.0 : x == y ? 0.5 : 0.0;
    }
  }
  const auto a = static_cast<double>(one.size());
  const auto b = static_cast<double>(other.size());
  const double smaller_u = std::min(u, a * b - u);
  std::vector<double> both(one.begin(), one.end());
  both.insert(both.end(), other.begin(), other.end());
  const double ties = TieTerm(std::move(both));
  if (ties == 0 && std::max(one.size(), other.size()) <= kMostForExact) {
    return ExactP(one.size(), other.size(), smaller_u);
  }
  return NormalP(a, b, smaller_u, ties);
}

}  // namespace gauntlet
