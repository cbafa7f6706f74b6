#include "harness/run/failure/history/late_detection.h"

#include <algorithm>
#include <vector>

#include "engine/text/units.h"
#include "harness/record/invariants.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/interruptions.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the key of the limit that the worker waited for; "" if no key sets
// it.
std::string_view KeyOfLimit(const RunSetup& setup, const RecordEvent& lost) {
  if (lost.limit_ns <= 0) return "";
  if (lost.reason == RecordReason::kSilent) {
    return lost.limit_ns == setup.silence_limit_ns
               ? "cluster.heartbeat.lost_after"
               : "";
  }
  if (lost.reason != RecordReason::kDeadline) return "";
  if (lost.limit_ns == setup.step_timeout_ns) return "cluster.step_timeout";
  return lost.limit_ns == setup.save_timeout_ns ? "cluster.save_timeout" : "";
}

// Returns " (cluster.step_timeout is 7s, expect.detected_in.max 3s)": the limit
// that delayed the detection, and the one that it exceeded.
std::string LimitsText(const Record& record) {
  const std::optional<WaitLimit> wait = LongestWait(record);
  const std::optional<int64_t> expected = record.expect.detected_in_max_ns;
  std::string text;
  if (wait) {
    text = fmt::format("{} is {}", wait->key,
                       DurationToText(Duration(wait->limit_ns)));
  }
  if (expected) {
    text += fmt::format("{}expect.detected_in.max {}{}",
                        text.empty() ? "" : ", ", text.empty() ? "is " : "",
                        DurationToText(Duration(*expected)));
  } else if (record.setup.step_timeout_ns > 0) {
    text = fmt::format(
        "the limit follows from cluster.step_timeout, {}, and "
        "cluster.heartbeat.lost_after, {}",
        DurationToText(Duration(record.setup.step_timeout_ns)),
        DurationToText(Duration(record.setup.silence_limit_ns)));
  }
  return text.empty() ? "" : fmt::format(" ({})", text);
}

}  // namespace

std::optional<WaitLimit> LongestWait(const Record& record) {
  std::optional<WaitLimit> longest;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind != RecordKind::kWorkerLost) continue;
      const std::string_view key = KeyOfLimit(record.setup, event);
      if (key.empty()) continue;
      if (longest && longest->key != key) return std::nullopt;
      if (longest && longest->limit_ns >= event.limit_ns) continue;
      longest = WaitLimit{
          .key = key, .limit_ns = event.limit_ns, .worker = incarnation.worker};
    }
  }
  return longest;
}

KeyedLimit LimitOfLastWait(const Outline& outline) {
  const RunSetup& setup = outline.record.setup;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const int64_t from_ns = all.empty() ? INT64_MIN : all.back().reaction_ns;
  const bool saves = std::ranges::any_of(
      SavesBegunBy(outline.record, {.t_ns = INT64_MAX}),
      [from_ns](const BegunSave& save) {
        return save.ending == SaveEnding::kPending && save.begin_ns >= from_ns;
      });
  if (saves && setup.save_timeout_ns > 0) {
    return {.key = "cluster.save_timeout", .limit_ns = setup.save_timeout_ns};
  }
  return {.key = "cluster.step_timeout", .limit_ns = setup.step_timeout_ns};
}

std::string ExplainLateDetection(const Outline& outline,
                                 const Verdict& verdict) {
  const auto report = std::ranges::find(verdict.invariants,
                                        InvariantName(Invariant::kDetection),
                                        &InvariantReport::invariant);
  if (report == verdict.invariants.end() || report->findings.empty()) return "";
  const std::string late =
      report->findings.front().message + LimitsText(outline.record);
  // The finding names no interruption, so it must be about the only one.
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const std::string text =
      all.size() == 1 ? InterruptionText(outline, all.front()) : "";
  return text.empty() ? late : fmt::format("{}; {}", text, late);
}

}  // namespace gauntlet
