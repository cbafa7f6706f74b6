#include "harness/run/failure/remedy/delay_remedy.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/units.h"
#include "harness/record/fault_traits.h"
#include "harness/run/failure/history/added_delays.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string SpanText(int64_t ns) { return DurationToText(Duration(ns)); }

// The parameter of a fault that sets the length of its delay.
struct DelayParameter {
  std::string_view name;
  int64_t value_ns = 0;  // 0: no end
};

// Returns nullopt if the fault does not delay.
std::optional<DelayParameter> ParameterOf(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  if (traits.hinders == HinderedPart::kNone || traits.fails_device) {
    return std::nullopt;
  }
  if (traits.hinders == HinderedPart::kFrames || !traits.lasts) {
    if (fault.latency_ns == 0) return std::nullopt;
    return DelayParameter{.name = "latency", .value_ns = fault.latency_ns};
  }
  return DelayParameter{.name = "duration", .value_ns = fault.duration_ns};
}

// Returns true iff the fault also keeps heartbeats from arriving.
bool HindersHeartbeats(const RecordFault& fault) {
  const HinderedPart part = TraitsOf(fault).hinders;
  return part == HinderedPart::kProcess || part == HinderedPart::kLinks;
}

// Returns "cluster.step_timeout (4s)": the limit that the worker waited for. If
// the fault also hinders heartbeats, adds the other limits that a delay of that
// length exceeds.
std::string LimitsToRaise(const RunSetup& setup, const RecordFault& fault,
                          const WaitLimit& wait, int64_t delay_ns) {
  std::vector<std::string> keys = {
      fmt::format("{} ({})", wait.key, SpanText(wait.limit_ns))};
  if (!HindersHeartbeats(fault)) return keys.front();
  const auto add = [&](std::string_view key, int64_t limit_ns) {
    if (key == wait.key || limit_ns <= 0 || limit_ns > delay_ns) return;
    keys.push_back(fmt::format("{} ({})", key, SpanText(limit_ns)));
  };
  add("cluster.heartbeat.lost_after", setup.silence_limit_ns);
  add("cluster.step_timeout", setup.step_timeout_ns);
  return fmt::format("{}", fmt::join(keys, " and "));
}

}  // namespace

std::string ShorterDelay(const Record& record, const RecordFault& fault,
                         const FirstSign& sign) {
  const std::optional<DelayParameter> delay = ParameterOf(fault);
  if (!delay || sign.event == nullptr ||
      sign.event->kind != RecordKind::kWorkerLost) {
    return "";
  }
  const std::optional<WaitLimit> wait =
      LimitOfLoss(record.setup, sign.emitter, *sign.event);
  if (!wait) return "";
  const AddedDelays added = FindAddedDelays(record, sign);
  if (std::ranges::find(added.sums, &fault, &DelaySum::fault) !=
      added.sums.end()) {
    const std::string total = SpanText(added.total_ns());
    return fmt::format(
        "lower the {} of fault {} ({}), as delays that add up ({}) must stay "
        "below {}, or raise {} above {}",
        delay->name, fault.id, SpanText(delay->value_ns), total,
        LimitNameText(*wait), wait->key, total);
  }
  const std::string shorter_value =
      fmt::format("{} or less, well below {}", SpanText(wait->total_ns() / 2),
                  LimitNameText(*wait));
  if (delay->value_ns == 0) {
    return fmt::format("set the {} of fault {}, which has no end, to {}",
                       delay->name, fault.id, shorter_value);
  }
  const std::string shorter =
      fmt::format("set the {} of fault {} ({}) to {}", delay->name, fault.id,
                  SpanText(delay->value_ns), shorter_value);
  // If workers have hosts of their own, a launcher gives up a host that it
  // cannot reach, and no key sets its limit. The record does not tell whether
  // they have, so raises no limits.
  if (TraitsOf(fault).hinders == HinderedPart::kLinks) return shorter;
  return fmt::format(
      "{}, or raise {} to {} or more, well above the {} of the fault", shorter,
      LimitsToRaise(record.setup, fault, *wait, delay->value_ns),
      SpanText(2 * delay->value_ns), SpanText(delay->value_ns));
}

std::optional<ShortDelay> FindShortDelay(const RunSetup& setup,
                                         const RecordFault& fault) {
  const std::optional<DelayParameter> delay = ParameterOf(fault);
  if (!delay || delay->value_ns == 0) return std::nullopt;
  WaitLimit limit = {.key = "cluster.step_timeout",
                     .limit_ns = setup.step_timeout_ns};
  if (HindersHeartbeats(fault)) {
    limit = {.key = "cluster.heartbeat.lost_after",
             .limit_ns = setup.silence_limit_ns};
  } else if (fault.in_save) {
    limit = {.key = "cluster.save_timeout", .limit_ns = setup.save_timeout_ns};
  }
  if (limit.limit_ns <= 0 || delay->value_ns >= 2 * limit.limit_ns) {
    return std::nullopt;
  }
  return ShortDelay{
      .parameter = delay->name, .by_ns = delay->value_ns, .limit = limit};
}

std::string LongerDelay(const RunSetup& setup, const RecordFault& fault) {
  const std::optional<ShortDelay> delay = FindShortDelay(setup, fault);
  if (!delay) return "";
  return fmt::format(
      "set the {} of fault {} ({}) to {}, well above {}, the limit of a wait "
      "for the worker",
      delay->parameter, fault.id, SpanText(delay->by_ns),
      SpanText(2 * delay->limit.limit_ns), LimitNameText(delay->limit));
}

}  // namespace gauntlet
