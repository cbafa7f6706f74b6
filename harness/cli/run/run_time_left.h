// Estimate of how long a run of cases still takes.
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

// Estimate for a case: its time in the earlier run; if it is new, the median
// time of its world in the earlier run; without an earlier run, the mean time
// of its world so far.
class RunTimeLeft {
 public:
  // `jobs` cases run at a time.
  RunTimeLeft(const std::vector<SuiteItem>& items, int jobs,
              const RunResult& earlier);

  void Begin(const SuiteItem& item, Time now);
  void End(const CaseResult& one);
  // nullopt: nothing is known of a case that is left.
  std::optional<double> Seconds(Time now) const;

 private:
  using Key = std::pair<std::string, std::string>;  // name and world

  struct WorldTimes {
    std::optional<double> median;  // seconds of a case in the earlier run
    uint64_t ran = 0;
    double seconds = 0;         // of the cases that ran
    uint64_t unknown_left = 0;  // cases that have not begun
  };
  static std::optional<double> Guess(const WorldTimes& world);

  int jobs_;
  std::map<Key, double> earlier_;
  std::map<std::string, WorldTimes> worlds_;
  double known_left_ = 0;  // seconds of cases that have not begun
  std::map<Key, Time> running_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_RUN_TIME_LEFT_H_
