#include "harness/oracle/expectations.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kGaveUp = 1;
constexpr int kBadInput = 2;
constexpr int kNoCheckpoint = 7;
constexpr int kStopped = 143;

// How the run came out, in the words of Outcome where one fits.
std::string OutcomeOf(const Evidence& evidence, const RunFacts& facts) {
  const Record& record = evidence.record;
  if (record.ending != RunEnding::kExited) {
    return std::string(RunEndingName(record.ending));
  }
  if (record.launchers.empty()) return "no launcher";
  const LauncherRun& last = record.launchers.back();
  if (last.exit_code == 0 && evidence.Done()) {
    return facts.restarts == 0 ? "completes" : "recovers";
  }
  if (last.exit_code == kStopped && last.result &&
      last.result->status == "stopped") {
    return "stops-cleanly";
  }
  if ((last.exit_code == kNoCheckpoint || last.exit_code == kBadInput) &&
      !last.result) {
    return "refuses";
  }
  if (last.exit_code == kGaveUp && !last.result) return "gives-up";
  return fmt::format("exit code {}{}", last.exit_code,
                     last.result ? ", " + last.result->status : "");
}

class Expectations {
 public:
  void Broken(std::string name, const std::string& expected,
              const std::string& found) {
    broken_.push_back({.invariant = "expectation",
                       .name = name,
                       .message = fmt::format("{}: expected {}, found {}", name,
                                              expected, found)});
  }
  void Exactly(const char* name, std::optional<uint64_t> expected,
               uint64_t found) {
    if (!expected || *expected == found) return;
    Broken(name, fmt::format("exactly {}", *expected), std::to_string(found));
  }
  void AtMost(const char* name, std::optional<uint64_t> expected,
              uint64_t found) {
    if (!expected || found <= *expected) return;
    Broken(name, fmt::format("at most {}", *expected), std::to_string(found));
  }
  std::vector<Finding> Take() && { return std::move(broken_); }

 private:
  std::vector<Finding> broken_;
};

}  // namespace

RunFacts FactsOf(const Evidence& evidence) {
  RunFacts facts;
  facts.faults_fired = evidence.firings.size();
  const std::vector<LauncherRun>& launchers = evidence.record.launchers;
  for (const LauncherRun& run : launchers) facts.restarts += run.restarts;
  if (!launchers.empty()) facts.restarts += launchers.size() - 1;
  for (const auto& [number, generation] : evidence.generations) {
    facts.failed_checkpoints += generation.failed_saves;
    facts.lost_steps =
        std::max(facts.lost_steps, evidence.LostSteps(generation));
    if (!facts.resumed_from && generation.resumed) {
      facts.resumed_from = generation.resumed->step;
    }
  }
  return facts;
}

std::vector<Finding> BrokenExpectations(const Evidence& evidence,
                                        const RunFacts& facts) {
  const Expectation& expect = evidence.record.expect;
  Expectations check;
  const std::string outcome = OutcomeOf(evidence, facts);
  const std::string_view expected = OutcomeName(expect.outcome);
  if (expect.outcome != Outcome::kViolates && outcome != expected) {
    check.Broken("outcome", std::string(expected), outcome);
  }
  check.Exactly("restarts", expect.restarts_exactly, facts.restarts);
  check.AtMost("restarts", expect.restarts_max, facts.restarts);
  if (expect.resumed_from_step &&
      facts.resumed_from != expect.resumed_from_step) {
    check.Broken(
        "resumed_from", fmt::format("step {}", *expect.resumed_from_step),
        facts.resumed_from ? fmt::format("step {}", *facts.resumed_from)
                           : "no resumption");
  }
  check.AtMost("lost_steps", expect.lost_steps_max, facts.lost_steps);
  check.Exactly("failed_checkpoints", expect.failed_checkpoints_exactly,
                facts.failed_checkpoints);
  const std::vector<LauncherRun>& launchers = evidence.record.launchers;
  if (expect.exit_code && !launchers.empty() &&
      launchers.back().exit_code != *expect.exit_code) {
    check.Broken("exit_code", std::to_string(*expect.exit_code),
                 std::to_string(launchers.back().exit_code));
  }
  return std::move(check).Take();
}

}  // namespace gauntlet
