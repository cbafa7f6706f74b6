// Turns a record into a verdict: the first of these that applies.
//
// SKIP          The case was not run here.
// INCONCLUSIVE  The harness could not run the case, or the run ended by itself
//               without an event of a worker.
// FAIL          An expectation is not met, or an invariant that the scenario
//               names is violated (any invariant if the scenario names none).
//               A hang violates no-hang. Exception: if only expectations are
//               not met, and a fault did not fire or had no effect, the case
//               is INCONCLUSIVE.
// INCONCLUSIVE  One of these is true:
//               - a fault did not fire or had no effect;
//               - the scenario names an invariant for which there was nothing
//                 to check;
//               - the scenario expects detected_in, and no worker was lost;
//               - the scenario expects recomputed_steps or
//                 epochs_after_restart, and nothing was restarted;
//               - the scenario names no invariant and expects no refusal, and
//                 no step could be compared with the reference run.
// PASS          Everything else.
//
// A mutation test (outcome `violates`) is INCONCLUSIVE if a fault did not fire
// or had no effect, if it expects detected_in and no worker was lost, or if it
// expects recomputed_steps or epochs_after_restart and nothing was restarted.
// It is PASS if every invariant that it names is violated; the reason then
// lists the other violated invariants. Otherwise it is FAIL: the planted bug
// was not caught.
//
// If two simulated runs of the plan differ, the verdict is FAIL, unless the
// case was skipped, the harness could not run it, or no worker emitted an
// event.
//
// Invariants are checked by specification.h and its models: of the store
// (store_model.h), of training (training_model.h), of notices (notices.h), of
// restarts (restarts.h) and of processes (processes.h). Outputs and the effects
// of faults are checked by outputs.h and fault_effects.h.
#include "harness/oracle/judge.h"

#include <algorithm>

#include "harness/oracle/expectations.h"
#include "harness/oracle/fault_effects.h"
#include "harness/oracle/history/history.h"
#include "harness/oracle/history/outline.h"
#include "harness/oracle/model/outputs.h"
#include "harness/oracle/specification.h"
#include "harness/oracle/timeline_text.h"
#include "harness/record/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool IsNamed(const Expectation& expect, std::string_view invariant) {
  return expect.invariants.empty() ||
         std::find(expect.invariants.begin(), expect.invariants.end(),
                   invariant) != expect.invariants.end();
}

const InvariantReport& ReportOf(const Verdict& verdict,
                                std::string_view invariant) {
  return *std::find_if(verdict.invariants.begin(), verdict.invariants.end(),
                       [&](const InvariantReport& report) {
                         return report.invariant == invariant;
                       });
}

const InvariantReport& ReportOf(const Verdict& verdict, Invariant invariant) {
  return ReportOf(verdict, InvariantName(invariant));
}

Verdict NoVerdict(VerdictKind kind, std::string reason) {
  return {.kind = kind, .reason = std::move(reason)};
}

// Returns the reason why the case is inconclusive; "" if it is not.
std::string WhyNoVerdict(const Record& record, const Verdict& verdict) {
  const InvariantReport& fired = ReportOf(verdict, Invariant::kFaultFired);
  if (fired.violations > 0) return fired.findings.front().message;
  const Expectation& expect = record.expect;
  for (const InvariantReport& report : verdict.invariants) {
    const bool named = !expect.invariants.empty() &&
                       expect.outcome != Outcome::kViolates &&
                       IsNamed(expect, report.invariant);
    if (named && report.instances == 0) {
      return fmt::format("{}{} there was nothing to check", report.invariant,
                         kIsExpectedBut);
    }
  }
  if (expect.detected_in_max_ns &&
      ReportOf(verdict, Invariant::kDetection).instances == 0) {
    return fmt::format("detected_in{} no worker was lost", kIsExpectedBut);
  }
  // Without a restart there is nothing to compare with these expectations.
  if (verdict.facts.restarts == 0) {
    const auto no_restart = [](std::string_view key) {
      return fmt::format("{}{} nothing was restarted", key, kIsExpectedBut);
    };
    if (expect.recomputed_steps_max) return no_restart("recomputed_steps");
    if (expect.epochs_after_restart_exactly) {
      return no_restart("epochs_after_restart");
    }
  }
  if (expect.invariants.empty() && expect.outcome != Outcome::kRefuses &&
      ReportOf(verdict, Invariant::kTrajectory).instances == 0) {
    return "no step could be compared with the reference run";
  }
  return "";
}

std::string JoinNames(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) {
    joined += (joined.empty() ? "" : ", ") + name;
  }
  return joined;
}

std::vector<std::string> BrokenInvariants(const Verdict& verdict) {
  std::vector<std::string> broken;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.violations > 0 &&
        report.invariant != InvariantName(Invariant::kFaultFired)) {
      broken.push_back(report.invariant);
    }
  }
  return broken;
}

// Returns a sentence for the verdict: the planted bug was not caught by the
// checks `missed`. If other checks caught it, the sentence names them.
std::string WhyNotCaught(const std::vector<std::string>& missed,
                         const Verdict& verdict) {
  std::string why =
      fmt::format("the planted bug was not caught by {}",
                  missed.empty() ? "any named invariant" : JoinNames(missed));
  const std::vector<std::string> broken = BrokenInvariants(verdict);
  if (!broken.empty()) return why + ", but by " + JoinNames(broken);
  const RunFacts& facts = verdict.facts;
  if (facts.restarts > 0 || facts.resumed_from || facts.resumed_from_memory) {
    return why;
  }
  return why +
         ": nothing was restarted or resumed, so a bug of a restore had no "
         "effect; add a fault (gauntlet list planted-bugs names those that it "
         "shows with)";
}

void JudgeCanary(const Record& record, Verdict& verdict) {
  std::vector<std::string> held;
  for (const std::string& name : record.expect.invariants) {
    if (ReportOf(verdict, name).violations == 0) held.push_back(name);
  }
  if (const std::string why = WhyNoVerdict(record, verdict); !why.empty()) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = why;
    return;
  }
  if (!held.empty() || record.expect.invariants.empty()) {
    verdict.kind = VerdictKind::kFail;
    verdict.reason = WhyNotCaught(held, verdict);
    return;
  }
  verdict.kind = VerdictKind::kPass;
  verdict.reason = "planted bug caught, as it should be";
  std::vector<std::string> others = BrokenInvariants(verdict);
  std::erase_if(others, [&](const std::string& name) {
    return IsNamed(record.expect, name);
  });
  if (!others.empty()) verdict.reason += "; also by " + JoinNames(others);
}

void JudgeRun(const Record& record, Verdict& verdict) {
  std::vector<std::string> broken = BrokenInvariants(verdict);
  std::erase_if(broken, [&](const std::string& name) {
    return !IsNamed(record.expect, name);
  });
  for (const Finding& finding : verdict.broken_expectations) {
    broken.push_back(finding.name);
  }
  const std::string why = WhyNoVerdict(record, verdict);
  const bool only_expectations =
      broken.size() == verdict.broken_expectations.size();
  const bool fired = ReportOf(verdict, Invariant::kFaultFired).violations == 0;
  // Expectations describe the effects of the faults, so without these effects
  // an unmet expectation is no failure.
  if (only_expectations && !fired) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = why;
  } else if (!broken.empty()) {
    verdict.kind = VerdictKind::kFail;
    verdict.reason = JoinNames(broken);
    verdict.fails_only_expectations = only_expectations;
  } else if (!why.empty()) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = why;
  } else {
    verdict.kind = VerdictKind::kPass;
  }
}

// Nondeterminism is listed first: other findings may not be reproducible.
void JudgeNondeterminism(const Record& record, Verdict& verdict) {
  const std::string message =
      "two runs of the same plan differ: " + record.nondeterminism;
  FailFor("nondeterminism: " + message, verdict);
  verdict.invariants.insert(
      verdict.invariants.begin(),
      {.invariant = std::string(kDeterministic),
       .instances = 1,
       .violations = 1,
       .findings = {{.invariant = std::string(kDeterministic),
                     .name = std::string(kEventDigest),
                     .message = message}}});
}

}  // namespace

Verdict Judge(const Record& record) {
  if (!record.skipped.empty()) {
    return NoVerdict(VerdictKind::kSkip, record.skipped);
  }
  if (!record.harness_error.empty()) {
    return NoVerdict(VerdictKind::kError, record.harness_error);
  }
  const bool silent =
      std::all_of(record.incarnations.begin(), record.incarnations.end(),
                  [](const IncarnationEvents& incarnation) {
                    return incarnation.events.empty();
                  });
  if (silent && record.ending == RunEnding::kExited) {
    return NoVerdict(VerdictKind::kError, "no worker emitted an event");
  }
  const std::vector<HistoryEvent> history = HistoryOf(record);
  const Outline outline(record, history);
  Specification specification(record);
  CheckFaultEffects(outline, specification.checks().fault_fired);
  CheckOutputs(outline, specification.checks().outputs);
  specification.Run(history);
  Verdict verdict;
  verdict.invariants = specification.checks().Reports();
  verdict.facts = FactsOf(outline);
  verdict.timeline = TimelineText(outline);
  verdict.broken_expectations = BrokenExpectations(outline, verdict.facts);
  if (record.expect.outcome == Outcome::kViolates) {
    JudgeCanary(record, verdict);
  } else {
    JudgeRun(record, verdict);
  }
  if (!record.nondeterminism.empty()) JudgeNondeterminism(record, verdict);
  return verdict;
}

}  // namespace gauntlet
