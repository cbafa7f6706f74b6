// Option readers that the benchmarks and `gauntlet crash-test` share, and the
// summary of `gauntlet bench scale`.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_OPTIONS_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_OPTIONS_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/flags/flags.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "harness/cli/flags/comma_list.h"

namespace gauntlet {

inline constexpr std::string_view kBenchScaleSummary =
    "Simulate clusters of growing size: how forming, a step, a save, a restart "
    "and a rejoin grow with the workers, in virtual time and in messages, and "
    "the goodput at a stated failure rate.";

// Returns a reader of a comma-separated list of distinct values.
template <typename T, typename ReadOne>
FlagReader ReadList(std::vector<T>& target, ReadOne read_one) {
  return [&target, read_one](const std::string& text) -> Status {
    target.clear();
    for (const std::string& part : SplitAtCommas(text)) {
      ASSIGN_OR_RETURN(const T value, read_one(part));
      if (std::ranges::find(target, value) == target.end()) {
        target.push_back(value);
      }
    }
    return OkStatus();
  };
}

// Returns a reader of a time above 0, such as 3h, 200ms or 30d.
FlagReader ReadLongTime(Duration& target);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_OPTIONS_H_
