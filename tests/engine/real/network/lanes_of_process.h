// Counts the shared lanes (memory for frames between neighbours in a ring) that
// a process maps, as /proc lists them.
#ifndef GAUNTLET_TESTS_ENGINE_REAL_NETWORK_LANES_OF_PROCESS_H_
#define GAUNTLET_TESTS_ENGINE_REAL_NETWORK_LANES_OF_PROCESS_H_

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "engine/check.h"
#include <fmt/format.h>
#include <sys/types.h>

namespace gauntlet {

inline int LanesOf(pid_t process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  int lanes = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:gauntlet-lane-") != line.npos) ++lanes;
  }
  return lanes;
}

// Waits until the process maps `lanes` shared lanes.
inline void AwaitLanes(pid_t process, int lanes) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (LanesOf(process) < lanes) {
    CHECK(std::chrono::steady_clock::now() < end, "no lane was taken");
    std::this_thread::yield();
  }
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_REAL_NETWORK_LANES_OF_PROCESS_H_
