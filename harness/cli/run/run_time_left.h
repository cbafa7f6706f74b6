// Estimates the remaining time of a run of cases.
#ifndef GAUNTLET_HARNESS_CLI_RUN_RUN_TIME_LEFT_H_
#define GAUNTLET_HARNESS_CLI_RUN_RUN_TIME_LEFT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/world/clock.h"
#include "harness/record/result/result.h"
#include "harness/run/suite.h"

namespace gauntlet {

// Estimates the time of each case by the run before this one. A case that ran
// there, and was not inconclusive, is estimated to take the same time again.
// Any other case gets the median time that cases of its world took there. If
// this run repeats no such case of the world, the estimate is the mean time of
// the world's cases that this run has finished.
class RunTimeLeft {
 public:
  // `jobs`: number of cases that run at a time.
  RunTimeLeft(const std::vector<SuiteItem>& items, int jobs,
              const RunResult& earlier);

  void Begin(const SuiteItem& item, Time now);
  void End(const CaseResult& one);
  // Returns nullopt if there is no estimate for one of the remaining cases.
  std::optional<double> Seconds(Time now) const;

 private:
  using Key = std::pair<std::string, std::string>;  // name and world

  struct WorldTimes {
    // Median seconds of the world's cases in the earlier run; nullopt if this
    // run repeats none of them.
    std::optional<double> median;
    uint64_t ran = 0;
    double seconds = 0;         // of the cases that ran
    uint64_t unknown_left = 0;  // cases without an earlier time, not begun
  };
  static std::optional<double> Guess(const WorldTimes& world);

  int jobs_;
  std::map<Key, double> earlier_;
  std::map<std::string, WorldTimes> worlds_;
  double known_left_ = 0;  // earlier times of cases that have not begun
  std::map<Key, Time> running_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_RUN_TIME_LEFT_H_
