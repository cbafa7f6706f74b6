// The names of the enums of this library, in the order of the enum; those of
// events are in engine/world/event_vocabulary.h.
#include <array>
#include <cstddef>

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 8> kOutcomes = {
    "completes", "recovers", "stops-cleanly", "refuses",
    "violates",  "fails",    "stops-on-nan",  "retry-later"};
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

std::string_view OutcomeName(Outcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}
std::optional<Outcome> FindOutcome(std::string_view name) {
  return Find<Outcome>(kOutcomes, name);
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
