// How a record becomes a verdict.
//
// SKIP   the case was not run here.
// FAIL   an invariant is broken that the scenario names (all of them, if it
//        names none), or one of its expectations. A hang is a broken no-hang.
// INCONCLUSIVE
//        the harness could not run it, no worker emitted an event, a fault did
//        not fire or had no effect, or an invariant that the scenario names
//        found nothing to check; with `all`, if the trajectory found nothing.
//        So are detected_in without a lost worker, and recomputed_steps and
//        epochs_after_restart without a restart. FAIL goes before it.
// PASS   everything else.
// A plan that went two ways when it was run twice in the simulated world is
// FAIL whatever it is to come to.
//
// A mutation test (outcome `violates`) passes if every invariant that it names
// is broken; others that are broken beside them are told in the reason. If one
// of them holds, the planted bug was not caught: FAIL. If the fault that was to
// bring the bug to light never fired: INCONCLUSIVE.
//
// Why a process ends, why a worker gives another up, and how soon it has to:
// that is recorded by those who know it, and no fault excuses anything but what
// it does itself, for as long as it does it (processes.h).
//
// What the plan excuses of the state and the store, by the kinds of its faults
// that fired (fault_traits.h):
//
// - Nothing excuses another state, other metrics, other rows, replicas that
//   differ, a torn or void load, a hang, an orphan.
// - Silent damage (bit_flip, truncate, delete, torn_write followed by nothing)
//   excuses the checkpoints whose files it hit, as the record says, where they
//   do not verify, and no others; that of a state file or a claim excuses none.
//   Such a checkpoint is no acknowledged save any more: resume-point falls back
//   to the newest of the others, bounded-loss reaches back one more interval
//   for each that lies between what is gone on from and what had been done, and
//   where no other is left, for each that had been removed for it.
// - When silent damage has taken every acknowledged save, nothing is left to go
//   on from: clean-refusal then wants exit 7, and no-cold-start still holds. A
//   scenario says so by the outcome `refuses`; recovery would break it.
// - A save that failed with an error that the engine was told of (errno,
//   short_write, fsync_fails) is no acknowledged save: bounded-loss reaches
//   back one more interval for each that lies there. Nothing acknowledged is
//   excused by it. Where it failed for want of space, the checkpoint that the
//   chief deleted for it is owed no more. A full disk must not cost a worker: a
//   worker exits for a failed final save only after all retries, and is not
//   restarted. A removal that such an error refuses leaves one checkpoint or
//   half-done directory more in the store, and in a finished run's deletion all
//   of them.
// - A chief that is killed while it deletes a finished run's backup leaves what
//   is left of it (the last one that finished, not an earlier one); a claim
//   that is killed while it sets damaged checkpoints aside need not have said
//   so.
// - A run whose workers have all finished may have deleted its store unseen, as
//   one on a host that its launcher is cut off from: of the saves before it
//   nothing is owed to anybody, its claim's number may be given out again, and
//   who comes to it starts anew, or refuses if its launcher knew of the run. A
//   late survivor that saves into such a store leaves what it wrote. To delete
//   what a later generation has claimed, or before all have finished, is lawful
//   for nobody. A power cut that somebody lived through never came.
// - Where a lost worker rejoins, a step that only some have said is excused of
//   the others' rows if a later generation carried on from it; redone steps of
//   which a worker that stayed holds the state are not, nor those of which one
//   would that nothing happened to, unless a hang, the network, the disk, a
//   notice or a third death in a row in which no chief came further stands in
//   its way.
// - Where training goes on beside saves, steps that were taken while the newest
//   save was under way may be redone too.
// - A notice is no excuse: it is owed a save and an end within its grace. A
//   life that ends without a word in it is explained.
// - A power cut on a disk that lies about syncs (lying-fsync) takes what such a
//   disk can lose: of what was there before it, nothing is owed but what a
//   generation after it has found. Owed are then: an older state that somebody
//   had begun to save; or a refusal, also where there is nothing left to look
//   at; or a start afresh, but not by a generation that itself finds a save of
//   before, void or damaged. The steps redone have no bound. A torn or void
//   state is never read, and state, metrics and rows are the reference's as
//   ever; saves from after the cut are owed as on any other disk.
#include "harness/oracle/judge.h"

#include <algorithm>
#include <map>

#include "harness/oracle/evidence.h"
#include "harness/oracle/expectations.h"
#include "harness/oracle/history.h"
#include "harness/oracle/invariants.h"
#include "harness/oracle/processes.h"
#include "harness/oracle/story.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kFaultFired = "fault-fired";
constexpr std::string_view kTrajectory = "trajectory";
constexpr std::string_view kDetection = "detection";

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

Verdict NoVerdict(VerdictKind kind, std::string reason) {
  return {.kind = kind, .reason = std::move(reason)};
}

// Why there is no verdict; "" if there can be one.
std::string WhyNoVerdict(const Record& record, const Verdict& verdict) {
  const InvariantReport& fired = ReportOf(verdict, kFaultFired);
  if (fired.breaches > 0) return fired.findings.front().message;
  const Expectation& expect = record.expect;
  for (const InvariantReport& report : verdict.invariants) {
    const bool named = !expect.invariants.empty() &&
                       expect.outcome != Outcome::kViolates &&
                       IsNamed(expect, report.invariant);
    if (named && report.instances == 0) {
      return fmt::format("{} is named, and there was nothing to check",
                         report.invariant);
    }
  }
  if (expect.detected_in_max_ns &&
      ReportOf(verdict, kDetection).instances == 0) {
    return "detected_in is expected, and no worker was lost";
  }
  // Of what a restart came to, nothing can be said without one.
  if (verdict.facts.restarts == 0) {
    constexpr std::string_view kNoRestart =
        "is expected, and nothing was restarted";
    if (expect.recomputed_steps_max)
      return fmt::format("recomputed_steps {}", kNoRestart);
    if (expect.epochs_after_restart_exactly) {
      return fmt::format("epochs_after_restart {}", kNoRestart);
    }
  }
  if (expect.invariants.empty() && expect.outcome != Outcome::kRefuses &&
      ReportOf(verdict, kTrajectory).instances == 0) {
    return "no step could be held against the reference run";
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
    if (report.breaches > 0 && report.invariant != kFaultFired) {
      broken.push_back(report.invariant);
    }
  }
  return broken;
}

void JudgeCanary(const Record& record, Verdict& verdict) {
  std::vector<std::string> held;
  for (const std::string& name : record.expect.invariants) {
    if (ReportOf(verdict, name).breaches == 0) held.push_back(name);
  }
  if (const std::string why = WhyNoVerdict(record, verdict); !why.empty()) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = why;
    return;
  }
  if (!held.empty() || record.expect.invariants.empty()) {
    verdict.kind = VerdictKind::kFail;
    verdict.reason =
        fmt::format("the planted bug was not caught by {}",
                    held.empty() ? "any named invariant" : JoinNames(held));
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
  const bool fired = ReportOf(verdict, kFaultFired).breaches == 0;
  // What did not happen cannot have been survived as expected.
  if (only_expectations && !fired) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = why;
  } else if (!broken.empty()) {
    verdict.kind = VerdictKind::kFail;
    verdict.reason = JoinNames(broken);
  } else if (!why.empty()) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = why;
  } else {
    verdict.kind = VerdictKind::kPass;
  }
}

// Nothing else that was found is worth a thing: it may not come again.
void JudgeNondeterminism(const Record& record, Verdict& verdict) {
  const std::string message =
      "the same plan, run twice, went two ways: " + record.nondeterminism;
  verdict.kind = VerdictKind::kFail;
  verdict.reason = "nondeterminism: " + message;
  verdict.invariants.insert(verdict.invariants.begin(),
                            {.invariant = "deterministic",
                             .instances = 1,
                             .breaches = 1,
                             .findings = {{.invariant = "deterministic",
                                           .name = "event-digest",
                                           .message = message}}});
}

void CheckProcesses(const Record& record,
                    std::map<std::string_view, Check>& checks) {
  Processes processes(record, {.deaths = checks.at("no-spontaneous-exit"),
                               .detection = checks.at("detection"),
                               .grace = checks.at("grace"),
                               .progress = checks.at("no-hang")});
  for (const HistoryEvent& said : HistoryOf(record)) processes.On(said);
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
      std::all_of(record.lives.begin(), record.lives.end(),
                  [](const LifeEvents& life) { return life.events.empty(); });
  if (silent && record.ending == RunEnding::kExited) {
    return NoVerdict(VerdictKind::kError, "no worker left a single event");
  }
  const Evidence evidence(record);
  Verdict verdict;
  std::map<std::string_view, Check> checks;
  for (const Invariant& invariant : InvariantTable()) {
    checks.emplace(invariant.name, Check(invariant.name));
  }
  CheckProcesses(record, checks);
  for (const Invariant& invariant : InvariantTable()) {
    Check& check = checks.at(invariant.name);
    if (invariant.check != nullptr) invariant.check(evidence, check);
    verdict.invariants.push_back(check.report());
  }
  verdict.facts = FactsOf(evidence);
  verdict.story = TellStory(evidence);
  verdict.broken_expectations = BrokenExpectations(evidence, verdict.facts);
  if (record.expect.outcome == Outcome::kViolates) {
    JudgeCanary(record, verdict);
  } else {
    JudgeRun(record, verdict);
  }
  if (!record.nondeterminism.empty()) JudgeNondeterminism(record, verdict);
  return verdict;
}

}  // namespace gauntlet
