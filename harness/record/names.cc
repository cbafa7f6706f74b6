// The names of this library's enumerators, in the order of each enum. The names
// of event kinds and reasons are in engine/world/event_vocabulary.h.
#include <array>
#include <cstddef>

#include "engine/worker_exit_code.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {
namespace {

constexpr std::array kOutcomes = {
    OutcomeInfo{Outcome::kCompletes, "completes",
                "the run trains to its end without a restart"},
    OutcomeInfo{
        Outcome::kRecovers, "recovers",
        "the run is interrupted, continues after a restart or a requeue, "
        "and trains to its end"},
    OutcomeInfo{Outcome::kStopsCleanly, "stops-cleanly",
                "the run saves and stops on a preemption notice, and is not "
                "started again (preemption: {requeue: 0}); exit code 143"},
    OutcomeInfo{Outcome::kRefuses, "refuses",
                "the run does not train: no checkpoint is valid (exit code 7), "
                "they belong to another job (8), or its input is bad (2)"},
    OutcomeInfo{Outcome::kViolates, "violates",
                "a mutation test: the invariants that `expect.invariants` "
                "names must find the planted bug"},
    OutcomeInfo{Outcome::kGivesUp, "fails",
                "the launcher gives up: its restarts are used up, too few "
                "workers are left, or a restart cannot help"},
    OutcomeInfo{
        Outcome::kStopsOnNan, "stops-on-nan",
        "the run stops at the first state that is not finite; exit code 9"},
    OutcomeInfo{Outcome::kRetryLater, "retry-later",
                "the run ends with exit code 75 after every requeue, as there "
                "is no room for the last checkpoint or for a claim"},
};
static_assert(kOutcomes.size() ==
              static_cast<size_t>(Outcome::kRetryLater) + 1);
constexpr std::array<std::string_view, 3> kEndings = {"exited", "hung",
                                                      "timed-out"};
constexpr std::array<std::string_view, 5> kVerdicts = {
    "PASS", "FAIL", "INCONCLUSIVE", "SKIP", "NOT RUN"};
static_assert(kVerdicts.size() ==
              static_cast<size_t>(VerdictKind::kNotRun) + 1);

template <typename Enum, size_t n>
std::optional<Enum> Find(const std::array<std::string_view, n>& names,
                         std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::span<const OutcomeInfo> AllOutcomes() { return kOutcomes; }
std::string_view OutcomeName(Outcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)].name;
}

std::optional<int> ExitCodeAfter(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompletes:
    case Outcome::kRecovers:
      return static_cast<int>(WorkerExit::kDone);
    case Outcome::kStopsCleanly:
      return static_cast<int>(WorkerExit::kStopped);
    case Outcome::kStopsOnNan:
      return static_cast<int>(WorkerExit::kNotFinite);
    case Outcome::kRetryLater:
      return static_cast<int>(WorkerExit::kLostWorker);
    case Outcome::kGivesUp:
      return static_cast<int>(WorkerExit::kFailed);
    case Outcome::kRefuses:
    case Outcome::kViolates:
      return std::nullopt;
  }
  return std::nullopt;
}
std::optional<Outcome> FindOutcome(std::string_view name) {
  for (const OutcomeInfo& info : kOutcomes) {
    if (info.name == name) return info.outcome;
  }
  return std::nullopt;
}

std::string_view RunEndingText(RunEnding ending) {
  return ending == RunEnding::kTimedOut ? "timed out" : RunEndingName(ending);
}
std::string_view RunEndingName(RunEnding ending) {
  return kEndings[static_cast<size_t>(ending)];
}
std::optional<RunEnding> FindRunEnding(std::string_view name) {
  return Find<RunEnding>(kEndings, name);
}

std::string_view VerdictKindName(VerdictKind kind) {
  return kVerdicts[static_cast<size_t>(kind)];
}
std::optional<VerdictKind> FindVerdictKind(std::string_view name) {
  return Find<VerdictKind>(kVerdicts, name);
}

}  // namespace gauntlet
