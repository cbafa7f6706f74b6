#include "harness/run/failure/limits/late_detection.h"

#include <algorithm>
#include <vector>

#include "engine/text/units.h"
#include "harness/record/fault_traits.h"
#include "harness/record/invariants.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/interruptions.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kHeartbeatLimit = "cluster.heartbeat.lost_after";

// Calls `visit` with each loss and its emitter, a worker or kLauncherWorker.
template <typename Visitor>
void ForEachLoss(const Record& record, const Visitor& visit) {
  const auto visit_all = [&](int emitter,
                             const std::vector<RecordEvent>& events) {
    for (const RecordEvent& event : events) {
      if (event.kind == RecordKind::kWorkerLost) visit(emitter, event);
    }
  };
  for (const IncarnationEvents& incarnation : record.incarnations) {
    visit_all(incarnation.worker, incarnation.events);
  }
  for (const LauncherRun& run : record.launchers) {
    visit_all(kLauncherWorker, run.events);
  }
}

// Returns "; a worker with a hung task still sends heartbeats, so only
// cluster.step_timeout detects it" if the fault of the interruption hung a task
// without end, and a worker waited for another limit than that of heartbeats.
std::string HungTaskText(const Record& record, const Interruption& one) {
  const std::optional<WaitLimit> wait = LongestWait(record);
  const bool is_hung =
      !one.faults.empty() &&
      std::ranges::all_of(one.faults, [](const RecordFault* fault) {
        const FaultTraits traits = TraitsOf(*fault);
        return traits.lasts && traits.hinders == HinderedPart::kTask;
      });
  if (!wait || wait->key == kHeartbeatLimit || !is_hung) return "";
  return fmt::format(
      "; a worker with a hung task still sends heartbeats, so only {} detects "
      "it",
      wait->key);
}

// Returns " (cluster.step_timeout is 7s, expect.detected_in.max 3s)": the limit
// that delayed the detection, unless the text `before` names it, and the limit
// that the scenario expects. If the scenario expects none, returns the keys
// from which the limit of the check follows.
std::string LimitsText(const Record& record, std::string_view before) {
  const std::optional<WaitLimit> wait = LongestWait(record);
  const std::optional<int64_t> expected = record.expect.detected_in_max_ns;
  std::string text = wait ? LimitValueText(*wait) : "";
  if (before.find(text) != before.npos) text.clear();
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
  bool is_one_key = true;
  ForEachLoss(record, [&](int emitter, const RecordEvent& lost) {
    const std::optional<WaitLimit> wait =
        LimitOfLoss(record.setup, emitter, lost);
    if (!wait) return;
    is_one_key = is_one_key && (!longest || longest->key == wait->key);
    if (!longest || wait->total_ns() > longest->total_ns()) longest = wait;
  });
  return is_one_key ? longest : std::nullopt;
}

std::string_view DetectorText(const Record& record) {
  bool is_any = false;
  bool is_by_launcher = true;
  ForEachLoss(record, [&](int emitter, const RecordEvent&) {
    is_any = true;
    is_by_launcher = is_by_launcher && emitter == kLauncherWorker;
  });
  return is_any && is_by_launcher ? "the launcher"
                                  : "the worker that detected the loss";
}

KeyedLimit LimitOfLastWait(const Outline& outline) {
  const RunSetup& setup = outline.record.setup;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  if (EndedDuringRejoin(outline.record, all)) {
    return {.key = "the rejoin limit that follows from cluster.save_timeout",
            .limit_ns = setup.detection_bound_joining_ns};
  }
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
  // The finding does not name its interruption. So describe an interruption
  // only if there is exactly one.
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const std::string text = all.size() == 1
                               ? InterruptionText(outline, all.front()) +
                                     HungTaskText(outline.record, all.front())
                               : "";
  const std::string late =
      report->findings.front().message + LimitsText(outline.record, text);
  return text.empty() ? late : fmt::format("{}; {}", text, late);
}

}  // namespace gauntlet
