#include "harness/run/failure/event_difference.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "harness/record/text/value_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct PlacedEvent {
  int worker = 0;
  int incarnation = 0;
  const RecordEvent* event = nullptr;

  bool operator==(const PlacedEvent& other) const {
    return worker == other.worker && incarnation == other.incarnation &&
           *event == *other.event;
  }
};

// Returns all events by time, then worker. Each incarnation keeps its own
// order.
std::vector<PlacedEvent> InOrderOfTime(const Record& record) {
  std::vector<PlacedEvent> events;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      events.push_back({incarnation.worker, incarnation.number, &event});
    }
  }
  std::ranges::stable_sort(events, {}, [](const PlacedEvent& placed) {
    return std::tuple(placed.event->t_ns, placed.worker, placed.incarnation);
  });
  return events;
}

std::string SecondsText(int64_t nanoseconds) {
  return fmt::format("{:.6f} s", static_cast<double>(nanoseconds) / 1e9);
}

void AddTimes(std::string_view prefix, const std::vector<RecordTime>& times,
              std::string& text) {
  for (const RecordTime& time : times) {
    text +=
        fmt::format(", {}{} {}", prefix, time.part, SecondsText(time.took_ns));
  }
}

std::string DescribeEvent(const PlacedEvent& placed) {
  const RecordEvent& event = *placed.event;
  std::string text(RecordKindName(event.kind));
  const auto add = [&](std::string_view name, const auto& value) {
    text += fmt::format(", {} {}", name, value);
  };
  add("at", SecondsText(event.t_ns));
  if (event.generation != 0) add("generation", event.generation);
  if (event.step != 0) add("step", event.step);
  if (event.epoch != 0) add("epoch", event.epoch);
  if (event.position != 0) add("position", event.position);
  if (event.phase != RecordPhase::kInEpoch) {
    add("phase", RecordPhaseName(event.phase));
  }
  if (event.count != 0) add("count", event.count);
  if (event.loss_bits != 0) add("loss", FloatText(event.loss_bits));
  if (!event.digest.empty()) add("state", event.digest);
  if (!event.path.empty()) text += ", " + event.path;
  if (!event.detail.empty()) text += ", " + event.detail;
  if (!event.samples.empty()) add("samples", event.samples.size());
  if (event.about) add("about worker", *event.about);
  if (event.incarnation != 0) add("incarnation", event.incarnation);
  if (event.reason != RecordReason::kNone) {
    add("reason", RecordReasonName(event.reason));
  }
  if (event.limit_ns != 0) add("limit", SecondsText(event.limit_ns));
  AddTimes("", event.parts, text);
  AddTimes("background: ", event.background, text);
  return text;
}

std::string EndOf(const LauncherRun& launcher) {
  std::string text = fmt::format("exit code {}, {} restarts",
                                 launcher.exit_code, launcher.restarts);
  if (!launcher.result) return text;
  return text + fmt::format(", {} at step {} with state {}",
                            launcher.result->status, launcher.result->steps,
                            launcher.result->digest);
}

std::string Checkpoints(const Leftovers& left) {
  std::string text;
  for (const StoredCheckpoint& one : left.checkpoints) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", one.name,
                        one.valid ? "" : " (bad)");
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::optional<EventDifference> FirstEventDifference(const Record& recorded,
                                                    const Record& now) {
  const std::vector<PlacedEvent> before = InOrderOfTime(recorded);
  const std::vector<PlacedEvent> after = InOrderOfTime(now);
  const auto [old_event, new_event] = std::ranges::mismatch(before, after);
  const bool old_ends = old_event == before.end();
  const bool new_ends = new_event == after.end();
  if (old_ends && new_ends) return std::nullopt;
  const PlacedEvent& shown = old_ends ? *new_event : *old_event;
  EventDifference difference = {
      .index = static_cast<uint64_t>(old_event - before.begin()),
      .worker = shown.worker,
      .incarnation = shown.incarnation,
      .step = shown.event->step};
  const auto name = [&](const PlacedEvent& placed) {
    const bool same_incarnation = placed.worker == shown.worker &&
                                  placed.incarnation == shown.incarnation;
    return same_incarnation
               ? DescribeEvent(placed)
               : fmt::format("worker {}, incarnation {}: {}", placed.worker,
                             placed.incarnation, DescribeEvent(placed));
  };
  if (!old_ends) difference.recorded = name(*old_event);
  if (!new_ends) difference.now = name(*new_event);
  return difference;
}

std::string DescribeDifference(const EventDifference& difference) {
  const auto or_nothing = [](const std::string& text) {
    return text.empty() ? "nothing more" : text;
  };
  return fmt::format(
      "event {} (worker {}, incarnation {}, step {}): recorded {}; now "
      "{}",
      difference.index, difference.worker, difference.incarnation,
      difference.step, or_nothing(difference.recorded),
      or_nothing(difference.now));
}

std::string DescribeNondeterminism(const Record& first, const Record& again) {
  const auto difference = FirstEventDifference(first, again);
  return difference ? DescribeDifference(*difference)
                    : "the workers said the same, and the world decided "
                      "otherwise";
}

std::string DescribeEndDifference(const Record& recorded, const Record& now) {
  const auto differ = [](std::string_view what, std::string_view before,
                         std::string_view after) {
    return fmt::format("{}: recorded {}; now {}", what, before, after);
  };
  if (recorded.ending != now.ending) {
    return differ("the run's end", RunEndingName(recorded.ending),
                  RunEndingName(now.ending));
  }
  if (recorded.launchers.size() != now.launchers.size()) {
    return differ("starts of the launcher",
                  std::to_string(recorded.launchers.size()),
                  std::to_string(now.launchers.size()));
  }
  for (size_t i = 0; i < now.launchers.size(); ++i) {
    if (recorded.launchers[i] == now.launchers[i]) continue;
    return differ(fmt::format("launcher {}", i + 1),
                  EndOf(recorded.launchers[i]), EndOf(now.launchers[i]));
  }
  if (recorded.left == now.left) return "";
  const std::string before = Checkpoints(recorded.left);
  const std::string after = Checkpoints(now.left);
  if (before != after) return differ("checkpoints left", before, after);
  return "other files or processes were left than recorded";
}

}  // namespace gauntlet
