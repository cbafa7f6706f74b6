// What the oracle says of a record.
#ifndef GAUNTLET_HARNESS_RECORD_VERDICT_H_
#define GAUNTLET_HARNESS_RECORD_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

enum class VerdictKind : uint8_t {
  kPass,
  kFail,   // an invariant or an expectation is broken
  kError,  // no verdict: a fault never fired, nothing was checked
  kSkip,   // not run here, with the reason
};
// "PASS", "FAIL", "INCONCLUSIVE", "SKIP".
std::string_view VerdictKindName(VerdictKind kind);
std::optional<VerdictKind> FindVerdictKind(std::string_view name);

// One thing that is wrong. The message is a line that says where, what was
// expected and what was found.
struct Finding {
  std::string invariant;  // "trajectory"; "expectation" for a scenario's own
  std::string name;       // the kind of breach: "step-digest"
  std::string message;

  bool operator==(const Finding&) const = default;
};

struct InvariantReport {
  std::string invariant;
  uint64_t instances = 0;  // how many things it could check; 0: not applicable
  uint64_t breaches = 0;   // how many of them are wrong
  std::vector<Finding> findings;  // the first of them, in words

  bool operator==(const InvariantReport&) const = default;
};

// What happened, in numbers, for the line of a case.
struct RunFacts {
  uint64_t faults_fired = 0;
  uint64_t restarts = 0;
  std::optional<uint64_t> resumed_from;  // the first resumption's step
  uint64_t recomputed_steps = 0;         // the most in one resumption
  uint64_t failed_saves = 0;

  bool operator==(const RunFacts&) const = default;
};

struct Verdict {
  VerdictKind kind = VerdictKind::kError;
  std::string reason;  // one line; empty where a pass needs none
  std::vector<InvariantReport> invariants;  // in the order of the table
  std::vector<Finding> broken_expectations;
  RunFacts facts;
  std::vector<std::string> story;  // faults and what came of them, in order

  bool operator==(const Verdict&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_VERDICT_H_
