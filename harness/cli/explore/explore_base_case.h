// The base case of an exploration: reads it from its file and checks that it
// can be explored.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_BASE_CASE_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_BASE_CASE_H_

#include <chrono>
#include <optional>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/cli/terminal/console.h"
#include "engine/real/host/real_host.h"
#include "engine/real/posix/system_clock.h"
#include "harness/cli/flags/commands.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// The one case to explore, or the reason why there is none.
struct LoadedBase {
  std::optional<Case> one;
  std::string problem;  // several lines
  ExitCode code = ExitCode::kUsage;
};

// Loads the base and prints warnings about its file.
LoadedBase LoadBase(const ExploreCommand& command, Console& console);

// Stops the fault-free runs before the first case on an interrupt, or once
// `time` is over. These are the runs of the base and of its set-ups (SetupsOf).
// Also prints progress. Not thread-safe.
class BaseWatch {
 public:
  // `time` limits the whole exploration.
  BaseWatch(std::optional<Duration> time, Console& console)
      : time_(time), console_(console) {}

  // Returns true iff the exploration must stop: it was interrupted, or `time`
  // was over before the first case. Prints a progress line every 10 s.
  bool Interrupted();
  // Returns true iff `time` was over before the first case.
  bool late() const { return late_; }
  // Must be called before the first case. From then on, Interrupted ignores
  // `time` and prints nothing.
  void Done() { done_ = true; }
  // Returns the rest of `time`; nullopt if there is no limit.
  std::optional<Duration> TimeLeft() const {
    if (!time_) return std::nullopt;
    return std::max(Duration(0), *time_ - (clock_.Now() - begin_));
  }

 private:
  static constexpr Duration kFirstLine = std::chrono::seconds(2);
  static constexpr Duration kLineEvery = std::chrono::seconds(10);

  const std::optional<Duration> time_;
  Console& console_;
  SystemClock clock_;
  RealHost host_;
  const Time begin_ = clock_.Now();
  Time next_line_ = begin_ + kFirstLine;
  bool late_ = false;
  bool done_ = false;
};

// Runs the base without faults. Returns nullopt if it passes; else prints the
// reason and returns the exit code.
std::optional<ExitCode> Unfit(const Case& base, References& references,
                              const BaseWatch& watch, Console& console);

// If the command names fault kinds and none of them can happen to the base,
// prints the reason and returns true.
bool NamesNoKindOf(const Case& base, const ExploreCommand& command,
                   Console& console);
// If the command names fault points and no set-up of the base reaches any of
// them, prints the reason and returns true.
bool NamesNoPointOf(const Case& base, const ExploreCommand& command,
                    Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_BASE_CASE_H_
