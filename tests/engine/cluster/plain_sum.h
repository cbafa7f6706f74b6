// What an all-reduce owes: the replicas' arrays, added one by one in order.
#ifndef GAUNTLET_TESTS_ENGINE_CLUSTER_PLAIN_SUM_H_
#define GAUNTLET_TESTS_ENGINE_CLUSTER_PLAIN_SUM_H_

#include <cstddef>
#include <vector>

namespace gauntlet {

using Arrays = std::vector<std::vector<float>>;

inline std::vector<float> PlainSum(const Arrays& replicas) {
  std::vector<float> sum = replicas[0];
  for (size_t r = 1; r < replicas.size(); ++r) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + replicas[r][i];
  }
  return sum;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CLUSTER_PLAIN_SUM_H_
