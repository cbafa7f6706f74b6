// Durations of operations on simulated disks and links.
#ifndef GAUNTLET_CHAOS_SIM_SCHEDULER_LATENCY_H_
#define GAUNTLET_CHAOS_SIM_SCHEDULER_LATENCY_H_

#include <algorithm>
#include <cstdint>

#include "chaos/sim/scheduler/random_stream.h"
#include "engine/world/clock.h"

namespace gauntlet {

// A range of durations. Draw returns one of them, uniformly distributed.
struct LatencyRange {
  Duration min{};
  Duration max{};
  Duration Draw(RandomStream& stream) const {
    const auto low = static_cast<uint64_t>(min.count());
    const auto high = static_cast<uint64_t>(std::max(min, max).count());
    return Duration(static_cast<int64_t>(stream.Between(low, high)));
  }
  bool operator==(const LatencyRange&) const = default;
};

struct StorageLatency {
  LatencyRange operation{std::chrono::microseconds(10),
                         std::chrono::microseconds(100)};
  LatencyRange sync{std::chrono::microseconds(500),
                    std::chrono::milliseconds(5)};
  uint64_t bytes_per_second = 1'000'000'000;
};

struct NetworkLatency {
  LatencyRange one_way{std::chrono::microseconds(50),
                       std::chrono::microseconds(500)};
  uint64_t bytes_per_second = 1'000'000'000;
  // Maximum number of bytes in flight in one direction of a connection; a
  // single frame may be larger.
  uint64_t window_bytes = uint64_t{64} << 20;
  bool operator==(const NetworkLatency&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SCHEDULER_LATENCY_H_
