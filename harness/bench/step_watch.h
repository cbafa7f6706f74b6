// Follows the steps of a training run by the chief's event files.
#ifndef GAUNTLET_HARNESS_BENCH_STEP_WATCH_H_
#define GAUNTLET_HARNESS_BENCH_STEP_WATCH_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace gauntlet {

class StepWatch {
 public:
  // `events`: folder of the event files; need not exist yet.
  explicit StepWatch(std::filesystem::path events)
      : events_(std::move(events)) {}

  // Reads the new events of the chief's newest process. Returns the newest step
  // that it finished; 0 if there is none yet.
  uint64_t Look();

 private:
  void FollowNewestIncarnation();

  const std::filesystem::path events_;
  int incarnation_ = 0;  // 0: no process has written yet
  std::ifstream file_;
  std::string rest_;  // an incomplete last line
  uint64_t step_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_STEP_WATCH_H_
