#include "harness/cli/bench/bench_options.h"

#include <chrono>
#include <cstdint>
#include <optional>

#include "engine/text/units.h"

namespace gauntlet {

FlagReader ReadLongTime(Duration& target) {
  return [&target](const std::string& text) -> Status {
    constexpr int64_t kMostDays = 10'000;
    std::optional<Duration> time = ParseDuration(text);
    if (text.ends_with('d')) {
      const Result<int64_t> days =
          ParseWhole<int64_t>(text.substr(0, text.size() - 1), 1, kMostDays);
      if (days.ok()) time = std::chrono::hours(24 * *days);
    }
    if (!time || *time <= Duration::zero()) {
      return ExpectedValue("a time such as 60s, 10m, 3h or 30d", text);
    }
    target = *time;
    return OkStatus();
  };
}

}  // namespace gauntlet
