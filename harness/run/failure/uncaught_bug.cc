#include "harness/run/failure/uncaught_bug.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/world/fault_point.h"
#include "harness/oracle/history/last_words.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/invariants.h"
#include "harness/record/text/joined_texts.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/met_expectations.h"
#include "harness/run/failure/violated_checks.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

bool IsFailedMutationTest(const Record& record, const Verdict& verdict) {
  return record.expect.outcome == Outcome::kViolates &&
         verdict.kind == VerdictKind::kFail &&
         verdict.broken_expectations.empty();
}

// Returns the planted bugs that this build has.
std::vector<PlantedBugInfo> BugsOf(const Record& record) {
  std::vector<PlantedBugInfo> bugs;
  for (const std::string& name : record.setup.planted_bugs) {
    if (const std::optional<PlantedBug> bug = FindPlantedBug(name)) {
      bugs.push_back(InfoOf(*bug));
    }
  }
  return bugs;
}

// Returns the advice to name the checks that catch the bugs: "set invariants:
// [store] under expect (…)"; "" if the scenario names them all. A mutation test
// fails if a named check finds no violation. So the advised list leaves out the
// checks of the scenario that catch none of the bugs.
std::string AdviceOnChecks(const Record& record,
                           const std::vector<PlantedBugInfo>& bugs,
                           const std::string& place) {
  const std::vector<std::string>& named = record.expect.invariants;
  std::set<std::string_view> catching;
  for (const PlantedBugInfo& bug : bugs) catching.insert(bug.caught_by);
  const auto is_named = [&named](std::string_view check) {
    return std::ranges::find(named, check) != named.end();
  };
  if (std::ranges::all_of(catching, is_named)) return "";
  std::vector<std::string> others = named;
  std::erase_if(others, [&catching](const std::string& check) {
    return catching.contains(check);
  });
  return fmt::format("{}set invariants: [{}] under expect ({})",
                     others.empty()
                         ? ""
                         : fmt::format("if {} then does not catch it, ",
                                       fmt::join(others, ", ")),
                     fmt::join(catching, ", "), place);
}

// Returns ", as the run keeps the rule of samples (each step uses the
// reference's samples; …)", with the description of each check that the
// scenario names and that found no violation; "" if there is none.
std::string KeptRulesText(const Record& record,
                          const std::vector<std::string>& violated) {
  std::vector<std::string> rules;
  for (const InvariantInfo& info : AllInvariants()) {
    const auto has = [&info](const std::vector<std::string>& names) {
      return std::ranges::find(names, info.name) != names.end();
    };
    if (!has(record.expect.invariants) || has(violated)) continue;
    rules.push_back(fmt::format("{} ({})", info.name, info.description));
  }
  if (rules.empty()) return "";
  return fmt::format(", as the run keeps the rule{} of {}",
                     rules.size() == 1 ? "" : "s", fmt::join(rules, " and "));
}

// Returns a fault that ends its process before the rename of the checkpoint of
// `step`; null if no such fault fired.
const RecordFault* FaultAtRename(const Record& record, uint64_t step) {
  const RecordEvent* const fired =
      FirstOf(record, [&](const RecordEvent& event) {
        if (event.kind != RecordKind::kFaultFired ||
            event.path != PointName(Point::kRename) ||
            StepOfSaveAt(record, event) != step) {
          return false;
        }
        const RecordFault* const fault = FindFault(record, event.detail);
        return fault != nullptr &&
               (DiesImmediately(*fault) || TraitsOf(*fault).cuts_power);
      });
  return fired == nullptr ? nullptr : FindFault(record, fired->detail);
}

// Returns a reason, other than a planted bug, why the first resume cannot be
// from `step`: "the save of step 12 had not been acknowledged when worker 1
// exited with code 70". Returns "" if none is known.
std::string WhyNotResumedFrom(const Record& record, uint64_t step) {
  const RecordEvent* const resumed =
      FirstOf(record, [](const RecordEvent& event) {
        return event.kind == RecordKind::kResumed;
      });
  const RecordEvent* const end = FirstEnd(
      record, INT64_MIN, resumed == nullptr ? INT64_MAX : resumed->t_ns);
  if (end == nullptr) return "";
  const auto has = [&](RecordKind kind) {
    return NewestUntil(record, kind, step, *end) != nullptr;
  };
  if (has(RecordKind::kSaveAcknowledged)) {
    const RecordFault* const fault = FaultAtRename(record, step);
    return fault == nullptr
               ? ""
               : fmt::format(
                     "fault {} fires before the rename of the checkpoint of "
                     "step {}; without the bug, a save is acknowledged after "
                     "that",
                     fault->id, step);
  }
  return has(RecordKind::kSaveBegin)
             ? fmt::format("{} had not been acknowledged when {}",
                           SavesText({step}), EndText(*end))
             : fmt::format("no save of step {} had begun when {}", step,
                           EndText(*end));
}

// Returns ", then run again: resumed_from: {step: 12} may stay unmet, as …" if
// expectations other than the outcome are not met; else "". The outcome follows
// from the bug, but the others need not.
std::string UnmetWithBugText(const Record& record, const Verdict& verdict) {
  const size_t unmet = verdict.broken_expectations.size() -
                       (IsUnmet(verdict, "outcome") ? 1 : 0);
  if (unmet == 0) return "";
  const std::optional<uint64_t> step = record.expect.resumed_from_step;
  const std::string why = step && IsUnmet(verdict, "resumed_from")
                              ? WhyNotResumedFrom(record, *step)
                              : "";
  return why.empty()
             ? fmt::format(
                   ", then run again, as the unmet expectation{} may have "
                   "another reason",
                   unmet == 1 ? "" : "s")
             : fmt::format(
                   ", then run again: resumed_from: {{step: {}}} may stay "
                   "unmet, as {}",
                   *step, why);
}

// Returns "worker 1 exited with code 1: save of step 10: …": the first end of a
// process, with the reason that its worker stated.
std::string EndWithReasonText(const Record& record) {
  const RecordEvent* const end = FirstEnd(record, INT64_MIN, INT64_MAX);
  if (end == nullptr) return "";
  std::string text = EndText(*end);
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (end->about != incarnation.worker ||
        end->incarnation != incarnation.number || incarnation.events.empty()) {
      continue;
    }
    const RecordEvent& last = incarnation.events.back();
    if (last.kind == RecordKind::kWorkerExited && !last.detail.empty()) {
      text += ": " + last.detail;
    }
  }
  return text;
}

// An event that reports a state other than the reference run's.
struct OtherState {
  const IncarnationEvents* incarnation = nullptr;  // null: there is none
  size_t index = 0;  // index of the event in its process
  const RecordEvent& event() const { return incarnation->events[index]; }
};

// Returns the first event of the worker that reports a state other than the
// reference run's. If `worker` is nullopt, considers all workers.
OtherState FirstOtherState(const Record& record, std::optional<int> worker) {
  std::map<std::pair<uint64_t, RecordPhase>, std::string_view> expected;
  for (const GoldenEntry& entry : record.golden.entries) {
    expected[{entry.step, entry.phase}] = entry.digest;
  }
  OtherState first;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.worker != worker.value_or(incarnation.worker)) continue;
    for (size_t i = 0; i < incarnation.events.size(); ++i) {
      const RecordEvent& event = incarnation.events[i];
      if (!IsOfTraining(event.kind) && !IsOfStart(event.kind)) continue;
      const auto entry = expected.find({event.step, event.phase});
      if (entry == expected.end() || entry->second.empty() ||
          event.digest.empty() || event.digest == entry->second) {
        continue;
      }
      if (first.incarnation == nullptr || ComesBefore(event, first.event())) {
        first = {.incarnation = &incarnation, .index = i};
      }
      break;  // the incarnation's later events have later times
    }
  }
  return first;
}

// Returns true iff the fault failed the device of the incarnation that reported
// the other state, and fired before this report.
bool FailedDeviceBefore(const FaultOccurrence& occurrence,
                        const OtherState& other) {
  return occurrence.traits.fails_device && other.incarnation != nullptr &&
         IsSameIncarnation(*occurrence.incarnation, *other.incarnation) &&
         occurrence.index < other.index;
}

}  // namespace

std::string EventsAtDifferenceText(const Outline& outline,
                                   const StateDifference& first) {
  const Record& record = outline.record;
  if (record.setup.planted_bugs.empty()) return "";
  const OtherState other = FirstOtherState(record, first.worker);
  std::string text;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    const uint64_t step = occurrence.event().step;
    const bool is_at_difference = first.place == fmt::format("step {}", step);
    if (occurrence.incarnation->worker != first.worker ||
        (!is_at_difference && !FailedDeviceBefore(occurrence, other))) {
      continue;
    }
    text += fmt::format("; fault {} ({}) fired in worker {} at step {}",
                        occurrence.fault->id, occurrence.fault->summary,
                        first.worker, step);
  }
  if (IsDone(record) || record.ending != RunEnding::kExited) return text;
  const std::string end = EndWithReasonText(record);
  return end.empty() ? text : fmt::format("{}; then {}", text, end);
}

std::string EventsAtDepartureText(
    const Outline& outline, const std::vector<StateDifference>& differences) {
  if (!differences.empty()) {
    return EventsAtDifferenceText(outline, differences.front());
  }
  const OtherState other = FirstOtherState(outline.record, std::nullopt);
  if (other.incarnation == nullptr) return "";
  return EventsAtDifferenceText(outline, {.worker = other.incarnation->worker});
}

std::string ExplainUncaughtBug(const Record& record, const Verdict& verdict) {
  if (!IsFailedMutationTest(record, verdict) || !ViolatedIn(verdict).empty()) {
    return "";
  }
  const std::vector<PlantedBugInfo> bugs = BugsOf(record);
  std::vector<std::string> texts;
  texts.reserve(bugs.size());
  for (const PlantedBugInfo& bug : bugs) {
    texts.push_back(
        fmt::format("{} shows only when {}", bug.name, bug.shows_when));
  }
  if (texts.empty()) return "";
  const std::optional<uint64_t> resumed = verdict.facts.resumed_from;
  return fmt::format("no check found a violation: {}; this run {}",
                     JoinedTexts(std::move(texts)),
                     resumed ? fmt::format("resumed from step {}", *resumed)
                             : "loaded no checkpoint");
}

std::string AdviceOnUncaughtBug(const Record& record,
                                const CaseResult& result) {
  if (!IsFailedMutationTest(record, result.verdict)) {
    return record.expect.outcome == Outcome::kViolates ||
                   ViolatedIn(result.verdict).empty()
               ? ""
               : fmt::format(
                     "remove planted_bugs, which switches on {}{}; to test the "
                     "checks instead, expect their violation (see planted)",
                     fmt::join(record.setup.planted_bugs, " and "),
                     UnmetWithBugText(record, result.verdict));
  }
  const std::string place = PlaceOfExpect(result);
  if (const std::vector<std::string> violated = ViolatedIn(result.verdict);
      !violated.empty()) {
    return fmt::format("set invariants: [{}] under expect ({}){}",
                       fmt::join(violated, ", "), place,
                       KeptRulesText(record, violated));
  }
  const std::vector<PlantedBugInfo> bugs = BugsOf(record);
  std::vector<std::string> texts;
  texts.reserve(bugs.size() + 1);
  for (const PlantedBugInfo& bug : bugs) {
    texts.push_back(fmt::format("change the scenario so that {} ({})",
                                bug.shows_when, bug.shows_with));
  }
  if (texts.empty()) return "";
  if (std::string text = AdviceOnChecks(record, bugs, place); !text.empty()) {
    texts.push_back(std::move(text));
  }
  return JoinedTexts(std::move(texts));
}

}  // namespace gauntlet
