// Verdict of the judge on a record.
#ifndef GAUNTLET_HARNESS_RECORD_VERDICT_H_
#define GAUNTLET_HARNESS_RECORD_VERDICT_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gauntlet {

enum class VerdictKind : uint8_t {
  kPass,
  kFail,    // an invariant or an expectation is violated
  kError,   // inconclusive: a fault never fired, or nothing was checked
  kSkip,    // cannot run here; `reason` says why
  kNotRun,  // the run ended before the case did; `reason` says why
};
// Returns "PASS", "FAIL", "INCONCLUSIVE", "SKIP" or "NOT RUN".
std::string_view VerdictKindName(VerdictKind kind);
std::optional<VerdictKind> FindVerdictKind(std::string_view name);

// Values of Finding::invariant that are not names of invariants. kExpectation:
// an expectation of the scenario is not met. kDeterministic: two simulated runs
// of one plan differ.
inline constexpr std::string_view kExpectation = "expectation";
inline constexpr std::string_view kDeterministic = "deterministic";
// Name of the finding of kDeterministic.
inline constexpr std::string_view kEventDigest = "event-digest";

// Start of Finding::met if the run meets the expectations once a key is
// removed.
inline constexpr std::string_view kWithoutKey = "no ";

// Part of the reason of an inconclusive verdict, after the expectation or the
// invariant that could not be checked: "detected_in is expected, but no worker
// was lost".
inline constexpr std::string_view kIsExpectedBut = " is expected, but";

// Start of the reason of a case that passed in each of the two worlds, but with
// different final states.
inline constexpr std::string_view kWorldsEndDifferently =
    "the worlds end differently";

// One violation. The message is one line: where it is, what was expected, and
// what was found.
struct Finding {
  // Name of an invariant, kExpectation or kDeterministic.
  std::string invariant;
  std::string name;  // kind of violation: "state-digest"
  std::string message;
  // For kExpectation: an expectation that this run does meet, as a scenario
  // writes it: "restarts: {exactly: 2}"; or "no resumed_from" if the run meets
  // the expectations once this key is removed. nullopt: none is known.
  std::optional<std::string> met = std::nullopt;

  bool operator==(const Finding&) const = default;
};

struct InvariantReport {
  std::string invariant;
  uint64_t instances = 0;         // checks counted; 0: not applicable
  uint64_t violations = 0;        // violations; one check may find several
  std::vector<Finding> findings;  // the first violations, as text

  bool operator==(const InvariantReport&) const = default;
};

// Figures of a run, shown on the line of its case.
struct RunFacts {
  uint64_t faults_fired = 0;  // faults of the plan that fired at least once
  uint64_t restarts = 0;      // of workers, and further starts of the launcher
  uint64_t requeues = 0;      // part of `restarts`: repeated planned launches
  // Steps of the first resume from a checkpoint, and from a worker's memory.
  std::optional<uint64_t> resumed_from;
  std::optional<uint64_t> resumed_from_memory;
  uint64_t max_recomputed_steps = 0;       // the most by one generation
  uint64_t distinct_recomputed_steps = 0;  // by all generations together
  // How many times steps were recomputed: the first computation of a step does
  // not count.
  uint64_t recomputations = 0;
  uint64_t failed_saves = 0;
  bool refused = false;  // the last start of the launcher refused to train

  bool operator==(const RunFacts&) const = default;
};

struct Verdict {
  VerdictKind kind = VerdictKind::kError;
  std::string reason;  // one line; may be empty if the case passed
  // True iff the case failed only because the broken_expectations are not met.
  bool fails_only_expectations = false;
  std::vector<InvariantReport> invariants;  // in the order of AllInvariants()
  std::vector<Finding> broken_expectations;
  RunFacts facts;
  std::vector<std::string> timeline;  // of faults and their effects

  bool operator==(const Verdict&) const = default;
};

// Returns true iff the expectation of that name is not met.
inline bool IsUnmet(const Verdict& verdict, std::string_view expectation) {
  return std::ranges::any_of(
      verdict.broken_expectations,
      [&](const Finding& finding) { return finding.name == expectation; });
}

// Returns true iff every check passed, and the case failed only because the run
// did not meet the expectations of its scenario.
inline bool HasOnlyUnmetExpectations(const Verdict& verdict) {
  const auto is_checked = [](const InvariantReport& report) {
    return report.instances > 0;
  };
  const auto is_violated = [](const InvariantReport& report) {
    return report.violations > 0;
  };
  return verdict.kind == VerdictKind::kFail &&
         verdict.fails_only_expectations &&
         !verdict.broken_expectations.empty() &&
         std::ranges::any_of(verdict.invariants, is_checked) &&
         std::ranges::none_of(verdict.invariants, is_violated);
}

// Makes the verdict a failure and replaces its reason.
inline void FailFor(std::string reason, Verdict& verdict) {
  verdict.kind = VerdictKind::kFail;
  verdict.reason = std::move(reason);
  verdict.fails_only_expectations = false;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_VERDICT_H_
