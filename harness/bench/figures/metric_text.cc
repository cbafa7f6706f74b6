#include "harness/bench/figures/metric_text.h"

#include <array>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include "engine/text/units.h"
#include "engine/world/clock.h"
#include "harness/bench/figures/byte_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Scale {
  double size;
  std::string_view unit;
};
constexpr std::array kTimes = {Scale{1.0, "s"}, Scale{1e-3, "ms"},
                               Scale{1e-6, "us"}};
constexpr std::array kSizes = {Scale{1e9, "GB"}, Scale{1e6, "MB"},
                               Scale{1e3, "kB"}, Scale{1.0, "B"}};

constexpr std::array kPercent = {Scale{0.01, "%"}};

struct ScalesOfUnit {
  std::span<const Scale> scales;
  std::string_view suffix;
};

ScalesOfUnit ScalesOf(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kSeconds:
      return {kTimes, ""};
    case MetricUnit::kBytes:
      return {kSizes, ""};
    case MetricUnit::kBytesPerSecond:
      return {kSizes, "/s"};
    case MetricUnit::kRatio:
      return {kPercent, ""};
  }
  return {};
}

// Returns the greatest scale in which the value is at least 1. A value that
// would be rounded to 1000 uses the next greater scale.
const Scale& ScaleFor(double value, std::span<const Scale> scales) {
  for (const Scale& scale : scales) {
    if (std::abs(value) >= scale.size * 0.9995) return scale;
  }
  return scales.back();
}

// Returns three digits, or all digits before the point if there are more.
std::string Digits(double scaled) {
  const double size = std::abs(scaled);
  const int places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", scaled, places);
}

}  // namespace

std::string MetricText(MetricUnit unit, double value) {
  const auto [scales, suffix] = ScalesOf(unit);
  const Scale& scale = ScaleFor(value, scales);
  return fmt::format("{} {}{}", Digits(value / scale.size), scale.unit, suffix);
}

std::string MetricRangeText(MetricUnit unit, double low, double high) {
  const auto [scales, suffix] = ScalesOf(unit);
  const Scale& scale = ScaleFor(high, scales);
  // A hyphen after a negative number would look like a minus.
  return fmt::format("{}{}{} {}{}", Digits(low / scale.size),
                     low < 0 ? " to " : "-", Digits(high / scale.size),
                     scale.unit, suffix);
}

std::optional<double> ParseMetricValue(MetricUnit unit, std::string_view text) {
  switch (unit) {
    case MetricUnit::kSeconds:
      if (const std::optional<Duration> time = ParseDuration(text)) {
        return std::chrono::duration<double>(*time).count();
      }
      return std::nullopt;
    case MetricUnit::kBytesPerSecond:
      if (!text.ends_with("/s")) return std::nullopt;
      text.remove_suffix(2);
      [[fallthrough]];
    case MetricUnit::kBytes:
      if (const std::optional<uint64_t> bytes = ParseBytes(text)) {
        return static_cast<double>(*bytes);
      }
      return std::nullopt;
    case MetricUnit::kRatio: {
      if (!text.ends_with('%')) return std::nullopt;
      text.remove_suffix(1);
      const std::optional<double> number = ParseNumber(text);
      if (!number) return std::nullopt;
      return *number / 100.0;
    }
  }
  return std::nullopt;
}

std::string_view MetricValueForm(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kSeconds:
      return "a time such as 1.5ms";
    case MetricUnit::kBytes:
      return "a size such as 10MB";
    case MetricUnit::kBytesPerSecond:
      return "a rate such as 1.2GB/s";
    case MetricUnit::kRatio:
      return "a share such as 3%";
  }
  return "";
}

std::string LongTimeText(double seconds) {
  return DurationToText(std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds)));
}

}  // namespace gauntlet
