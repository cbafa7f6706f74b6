// The result of a run of scenarios: a verdict for each case.
#ifndef GAUNTLET_HARNESS_RECORD_RESULT_RESULT_H_
#define GAUNTLET_HARNESS_RECORD_RESULT_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/result/difference.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Explains why the violations of an invariant follow from the cause of the
// failure: "each later state and loss is computed from what differs".
struct Consequence {
  std::string invariant;
  std::string why;

  bool operator==(const Consequence&) const = default;
};

// Sentences that describe a failed case. A report prints the cause first, then
// the fields in this order. A field without content is empty.
struct FailureSummary {
  std::string faults;    // fired faults, and processes ended by a power loss
  std::string recovery;  // restarts, resume and recomputed steps
  std::string training;  // comparison of the result with the reference run's
  std::string next;      // advice on the scenario, or where to look
  std::string planted;   // result of the planted bug: caught or not

  bool operator==(const FailureSummary&) const = default;
};

// One try of a case that was run several times: gauntlet run --retries.
struct CaseTry {
  Verdict verdict;
  double seconds = 0;
  std::string directory;  // as CaseResult::directory
  std::string cause;      // as CaseResult::cause

  bool operator==(const CaseTry&) const = default;
};

struct CaseResult {
  std::string name;      // unique: "kill[workers=2,mode=sync]"
  std::string scenario;  // the scenario's name
  std::string file;
  uint64_t line = 0;
  // Line of the key `expect` of the scenario; 0: unknown.
  uint64_t expect_line = 0;
  std::optional<uint64_t> seed = {};  // seed of faults and simulation
  std::string world;                  // "real" or "sim"
  double seconds = 0;                 // all tries together
  // Part of `seconds` that passed before the reference run was available: this
  // case made it, waited while another case made it, or read it from the cache.
  double reference_seconds = 0;
  std::string replay;     // command that repeats the case; "" if there is none
  std::string timeline;   // path of a trace file; "" if there is none
  std::string directory;  // folder of the case's files; "" if none are kept
  // Cause in one sentence; "" if none exists or none was found. It names, in
  // this order of preference:
  //   - the first difference of the state from the reference, down to the
  //     tensor and the value;
  //   - the acknowledged checkpoint that was lost;
  //   - the reason for a refusal;
  //   - the reason why a planted bug was not caught;
  //   - the reason for an older resume than expected;
  //   - the faults that led to a restart, a hang or the end of the run;
  //   - the events that led to a value that the scenario does not expect;
  //   - the end of the run in each world, if only these differ.
  // For an inconclusive case, it is the reason why a fault never fired.
  std::string cause;
  // Empty unless the case failed. Exception: `next` has advice on an
  // inconclusive case too.
  FailureSummary summary = {};
  std::vector<std::string> planted_bugs = {};  // switched on in the engine
  // Values that explain the cause: those of the first state or operation that
  // differs from the reference run. If it is a loaded state, also those of the
  // operation after the load.
  std::vector<StateDifference> differences;
  std::vector<Consequence> consequences;  // of the cause
  LossDifferences losses;                 // only if the case failed
  // True if a first try did not pass and a later one did. The verdict is kFail,
  // or kPass if flaky cases pass (FlakyVerdict::kPasses).
  bool flaky = false;
  std::vector<CaseTry> tries;  // in order; empty: the case ran once
  Verdict verdict;

  bool operator==(const CaseResult&) const = default;
};

struct RunResult {
  std::string run;               // id
  std::optional<uint64_t> seed;  // seed of all cases; nullopt: each has its own
  std::string build;             // build of the program
  std::string command = {};      // repeats the run; "" if unknown
  uint64_t scenarios = 0;
  double seconds = 0;
  std::vector<CaseResult> cases;

  bool operator==(const RunResult&) const = default;
};

// Numbers of cases by verdict. Each case counts once; a flaky case counts only
// as flaky.
struct CaseCounts {
  uint64_t passed = 0;
  uint64_t flaky = 0;  // with either verdict
  uint64_t failed = 0;
  uint64_t inconclusive = 0;
  uint64_t not_run = 0;
  uint64_t skipped = 0;
};
void Count(const CaseResult& one, CaseCounts& counts);
CaseCounts CountCases(const RunResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RESULT_RESULT_H_
