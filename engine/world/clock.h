// The engine's only source of time.
#ifndef GAUNTLET_ENGINE_WORLD_CLOCK_H_
#define GAUNTLET_ENGINE_WORLD_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace gauntlet {

using Duration = std::chrono::nanoseconds;

// Clock type of Time, as std::chrono::time_point requires one; never
// instantiated.
struct MonotonicTimeline {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
};
// A point of monotonic time; the origin is arbitrary.
using Time = std::chrono::time_point<MonotonicTimeline, Duration>;
// A deadline that is never reached.
inline constexpr Time kNever = Time::max();

class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the monotonic time. Safe from any task.
  virtual Time Now() const = 0;
  // Seconds since 1970, for people and for claims. May jump, also backwards;
  // must not influence any result.
  virtual int64_t UnixSeconds() const = 0;
  // Blocks only the calling task until the deadline.
  virtual void SleepUntil(Time deadline) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_CLOCK_H_
