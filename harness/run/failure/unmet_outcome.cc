#include "harness/run/failure/unmet_outcome.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/units.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/text/gave_up.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/causing_faults.h"
#include "harness/run/failure/history/first_sign.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/scale_downs.h"
#include "harness/run/failure/history/step_pace.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/limits/late_detection.h"
#include "harness/run/failure/limits/time_of_giving_up.h"
#include "harness/run/failure/remedy/delay_remedy.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string GaveUpText(const Outline& outline, const RecordEvent& gave_up) {
  std::vector<std::string> texts =
      EndsOfAttempts(outline, InterruptionsOf(outline));
  texts.push_back("the launcher gave up: " +
                  GaveUpReasonText(outline.record.setup, gave_up));
  return JoinedTexts(std::move(texts));
}

// Returns true iff each interruption has one certain fault of its own.
bool HaveOwnFaults(const std::vector<Interruption>& all) {
  std::set<const RecordFault*> faults;
  for (const Interruption& one : all) {
    const bool is_own = one.are_certain && one.faults.size() == 1 &&
                        faults.insert(*one.faults.begin()).second;
    if (!is_own) return false;
  }
  return true;
}

// Describes, in the order of time, interruptions that each have their own
// fault: "2 faults led to 2 restarts: fault a (…) ended attempt 1; fault b (…)
// ended attempt 2: …". Adds the first sign of all[exceeding].
std::vector<std::string> EndsInOrder(const Outline& outline,
                                     std::span<const Interruption> all,
                                     size_t exceeding) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == exceeding) {
      texts.push_back(InterruptionText(outline, all[i]));
      continue;
    }
    for (std::string& text : EndsOfAttempts(outline, all.subspan(i, 1))) {
      texts.push_back(std::move(text));
    }
  }
  const bool all_restart = std::ranges::none_of(
      all,
      [](const Interruption& one) { return one.reaction == Reaction::kNone; });
  if (all.size() > 1 && all_restart) {
    texts.front() = fmt::format("{0} faults led to {0} restarts: {1}",
                                all.size(), texts.front());
  }
  return texts;
}

// Describes the interruptions if there were more than `permitted` ones; else
// "". They are in the order of time if each has its own fault; else the one
// that exceeded `permitted` comes first.
std::string RestartText(const Outline& outline, uint64_t permitted) {
  std::vector<Interruption> all = InterruptionsOf(outline);
  if (permitted >= all.size()) return "";
  std::vector<std::string> texts;
  if (HaveOwnFaults(all)) {
    texts = EndsInOrder(outline, all, permitted);
  } else {
    const auto exceeding = all.begin() + static_cast<ptrdiff_t>(permitted);
    const Interruption described = *exceeding;
    all.erase(exceeding);
    texts = OtherEnds(outline, described, all);
    texts.insert(texts.begin(), InterruptionText(outline, described));
  }
  for (std::string& text : ScaleDownTexts(outline.record)) {
    texts.push_back(std::move(text));
  }
  return JoinedTexts(std::move(texts));
}

// Returns "fault s delayed worker 0 by only 200ms (cluster.step_timeout is
// 30s)" for each fault that fired and ended no attempt, although a longer delay
// would have.
std::vector<std::string> ShortDelaysTexts(
    const Outline& outline, const std::vector<Interruption>& all) {
  std::vector<std::string> texts;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    const RecordFault& fault = *occurrence.fault;
    const std::optional<ShortDelay> delay =
        FindShortDelay(outline.record.setup, fault);
    const bool has_ended =
        std::ranges::any_of(all, [&fault](const Interruption& one) {
          return one.faults.contains(&fault);
        });
    if (!delay || has_ended || !occurrence.traits.may_end_incarnation ||
        occurrence.traits.EndsProcesses()) {
      continue;
    }
    std::string text = fmt::format(
        "fault {} delayed worker {} by only {} ({} is {})", fault.id,
        occurrence.incarnation->worker, DurationToText(Duration(delay->by_ns)),
        delay->limit.key, DurationToText(Duration(delay->limit.limit_ns)));
    if (std::ranges::find(texts, text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

// Returns the reason why a complete run had fewer restarts than expected.
std::string FewerRestartsText(const Outline& outline, const RunFacts& facts) {
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const std::vector<std::string> delays = ShortDelaysTexts(outline, all);
  std::vector<std::string> texts;
  if (facts.restarts == 0) {
    texts.push_back(NoRestartText(outline.record));
  } else {
    texts = EndsOfAttempts(outline, all);
    texts.push_back(
        "the next attempt completed the training, so nothing else "
        "had to be restarted");
  }
  texts.insert(texts.end(), delays.begin(), delays.end());
  return JoinedTexts(std::move(texts));
}

// Returns the interruptions. Leaves out the last one if no fault explains it.
std::span<const Interruption> WithoutUnexplainedEnd(
    const std::vector<Interruption>& all) {
  const bool is_left_out = !all.empty() && all.back().faults.empty();
  return std::span(all).first(all.size() - (is_left_out ? 1 : 0));
}

// Describes the end of a run that could not save its state, was killed, or
// stopped on a notice; "" for other ends.
std::string LastEndText(const Outline& outline) {
  const Record& record = outline.record;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  if (all.empty()) return "";
  const LauncherRun& last = record.launchers.back();
  if (WasKilled(record, last)) {
    // Leaves out the first sign of an end without a fault: the sign depends on
    // the world, and adds nothing.
    std::vector<std::string> texts =
        EndsOfAttempts(outline, WithoutUnexplainedEnd(all));
    texts.push_back(LauncherEndText(record));
    return JoinedTexts(std::move(texts));
  }
  const bool has_stopped =
      last.result && all.back().reaction == Reaction::kNone;
  if (!has_stopped && std::ranges::none_of(record.incarnations, LeftUnsaved)) {
    return "";
  }
  const std::string text = InterruptionText(outline, all.back());
  if (text.empty()) return "";
  std::vector<std::string> texts =
      OtherEnds(outline, all.back(), std::span(all).first(all.size() - 1));
  texts.insert(texts.begin(), text);
  texts.push_back(LauncherEndText(record));
  return JoinedTexts(std::move(texts));
}

// Returns "the launcher refused to train (exit code 8): worker 0: step-8 was
// written by another job: …". REQUIRES: HasRefused(record).
std::string RefusalText(const Record& record) {
  const int exit_code = record.launchers.back().exit_code;
  const IncarnationEvents* refused =
      nullptr;  // lowest worker of the last incarnation
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.events.empty()) continue;
    const RecordEvent& last = incarnation.events.back();
    if (last.kind == RecordKind::kWorkerExited && last.count == exit_code &&
        (refused == nullptr || incarnation.number > refused->number)) {
      refused = &incarnation;
    }
  }
  std::string text =
      fmt::format("the launcher refused to train (exit code {})", exit_code);
  if (refused == nullptr) return text;
  return fmt::format("{}: worker {}: {}", text, refused->worker,
                     refused->events.back().detail);
}

// Returns the most restarts that the scenario permits, if the expectation that
// limits them is unmet; else UINT64_MAX.
uint64_t ExceededLimit(const Expectation& expect, const Verdict& verdict) {
  if (IsUnmet(verdict, "outcome") && expect.outcome != Outcome::kRecovers) {
    return 0;
  }
  if (!IsUnmet(verdict, "restarts")) return UINT64_MAX;
  return std::min(expect.restarts_exactly.value_or(UINT64_MAX),
                  expect.restarts_max.value_or(UINT64_MAX));
}

// Returns false iff a completed run does not have the expected outcome, and its
// restarts cannot be the reason. If a clean stop was expected, only a new start
// of the launcher can be the reason. Restarts are never the reason why a run
// did not refuse to train, stop on NaN or exit for a later start.
bool MayFollowFromRestart(const Outline& outline, const Verdict& verdict) {
  if (!IsUnmet(verdict, "outcome")) return true;
  switch (outline.record.expect.outcome) {
    case Outcome::kCompletes:
    case Outcome::kRecovers:
    case Outcome::kViolates:
    case Outcome::kGivesUp:
      return true;
    case Outcome::kStopsCleanly:
      return std::ranges::any_of(
          InterruptionsOf(outline), [](const Interruption& one) {
            return one.reaction == Reaction::kStartsLauncher;
          });
    case Outcome::kRefuses:
    case Outcome::kStopsOnNan:
    case Outcome::kRetryLater:
      return false;
  }
  return true;
}

// Returns the time of the last occurrence at which the fault fired in the
// process.
int64_t LastFiring(const FaultOccurrence& occurrence) {
  int64_t last_ns = occurrence.event().t_ns;
  for (const RecordEvent& event : occurrence.incarnation->events) {
    if (event.kind == RecordKind::kFaultAgain &&
        event.detail == occurrence.fault->id) {
      last_ns = std::max(last_ns, event.t_ns);
    }
  }
  return last_ns;
}

// Returns true iff, after `from_ns`, a fault blocked a task of a worker without
// end or beyond the last event of all workers, but did not block the heartbeats
// of this worker.
bool HasHungTask(const Outline& outline, int64_t from_ns) {
  int64_t last_event_ns = INT64_MIN;
  ForEachEvent(outline.record, [&last_event_ns](const RecordEvent& event) {
    last_event_ns = std::max(last_event_ns, event.t_ns);
  });
  return std::ranges::any_of(
      outline.occurrences, [&](const FaultOccurrence& occurrence) {
        if (!occurrence.traits.lasts ||
            occurrence.traits.hinders != HinderedPart::kTask) {
          return false;
        }
        const int64_t fired_ns = LastFiring(occurrence);
        const int64_t duration_ns = occurrence.fault->duration_ns;
        return fired_ns > from_ns &&
               (duration_ns == 0 || fired_ns + duration_ns > last_event_ns);
      });
}

// Returns "no process ended and no worker was declared lost
// (cluster.step_timeout is 30s)". If a task hangs, adds why nothing else ends
// the wait.
std::string NoSignText(const Outline& outline, int64_t from_ns) {
  const KeyedLimit limit = LimitOfLastWait(outline);
  if (limit.limit_ns == 0) {
    return "no process ended and no worker was declared lost";
  }
  return fmt::format(
      "no process ended and no worker was declared lost ({} is {}{})",
      limit.key, DurationToText(Duration(limit.limit_ns)),
      HasHungTask(outline, from_ns) ? ", and a worker with a hung task still "
                                      "sends heartbeats, so that no other "
                                      "limit finds it"
                                    : "");
}

// Describes the attempts that used up the time of a run.
void AddAttempts(const Outline& outline, const std::vector<Interruption>& all,
                 std::vector<std::string>& texts) {
  const Interruption& last = all.back();
  const auto before = std::span(all).first(all.size() - 1);
  const std::string text = InterruptionText(outline, last);
  std::vector<std::string> others;
  if (last.faults.empty()) {
    others = EndsOfAttempts(outline, before);
  } else {
    texts.push_back(text);
    others = OtherEnds(outline, last, before);
  }
  texts.insert(texts.end(), others.begin(), others.end());
  if (last.faults.empty() && !text.empty()) {
    texts.push_back(fmt::format("in attempt {}: {}", last.attempt, text));
  }
}

// Describes the events after `from_ns`, from which the run did not recover: the
// faults that fired, the saves that failed, and the first sign of an end.
std::string LaterText(const Outline& outline, int64_t from_ns) {
  const Record& record = outline.record;
  std::vector<std::string> texts;
  for (const RecordFault* fault :
       InterruptingFaults(outline, from_ns, INT64_MAX)) {
    texts.push_back(
        fmt::format("fault {} ({}) fired", fault->id, fault->summary));
  }
  if (std::string failed = FailedSavesText(record, from_ns); !failed.empty()) {
    texts.push_back(std::move(failed));
  }
  const std::string sign = FindFirstSign(record, from_ns, INT64_MAX).text;
  texts.push_back(sign.empty() ? NoSignText(outline, from_ns) : sign);
  return JoinedTexts(std::move(texts));
}

// Describes what a run that timed out did after the end of its last attempt, to
// which the launcher had not reacted yet: "the launcher had neither restarted
// the job nor given up since then (attempts 1 to 3 took up to 10.1 s each)".
std::string UnansweredEndText(const Record& record,
                              const std::vector<Interruption>& all) {
  const int64_t longest_ns = LongestAttemptNs(record, all);
  std::set<uint64_t> attempts;
  for (const Interruption& one : all) {
    if (one.reaction == Reaction::kRestartsJob) attempts.insert(one.attempt);
  }
  return fmt::format(
      "the launcher had neither restarted the job nor given up since then{}",
      longest_ns == 0
          ? ""
          : fmt::format(
                " ({} took {}{:.1f} s{})", NumberedText("attempt", attempts),
                attempts.size() == 1 ? "" : "up to ", Seconds(longest_ns),
                attempts.size() == 1 ? "" : " each"));
}

// Describes why the run was ended from outside: "the run did not end within 50s
// (timeout.total)".
std::string EndlessText(const Record& record) {
  const auto within = [](int64_t limit_ns) {
    return limit_ns == 0 ? "its limit" : DurationToText(Duration(limit_ns));
  };
  if (record.ending == RunEnding::kTimedOut) {
    return fmt::format("the run did not end within {} (timeout.total)",
                       within(record.setup.longest_run_ns));
  }
  return record.world == "sim"
             ? "every process waited, and no time limit ended that"
             : fmt::format("no worker emitted an event for {} (timeout.hang)",
                           within(record.setup.longest_silence_ns));
}

}  // namespace

std::string ExplainOutcome(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  const Outcome expected = record.expect.outcome;
  if (record.ending != RunEnding::kExited) return "";
  const uint64_t permitted = ExceededLimit(record.expect, verdict);
  if (IsDone(record) && verdict.facts.restarts > permitted) {
    return MayFollowFromRestart(outline, verdict)
               ? RestartText(outline, permitted)
               : "";
  }
  const bool is_outcome = IsUnmet(verdict, "outcome");
  const bool is_restarts = IsUnmet(verdict, "restarts");
  if (!is_outcome && !is_restarts) return "";
  if (const RecordEvent* const gave_up = FindGaveUp(record)) {
    return is_outcome && expected == Outcome::kGivesUp
               ? ""
               : GaveUpText(outline, *gave_up);
  }
  if (is_outcome && HasRefused(record) && expected != Outcome::kRefuses) {
    return RefusalText(record);
  }
  if (!IsDone(record)) return LastEndText(outline);
  const bool needs_restart = is_outcome && expected == Outcome::kRecovers;
  const uint64_t restarts = verdict.facts.restarts;
  const bool has_fewer =
      (needs_restart && restarts == 0) ||
      (is_restarts && restarts < record.expect.restarts_exactly.value_or(0));
  return has_fewer ? FewerRestartsText(outline, verdict.facts) : "";
}

std::string ExplainHang(const Outline& outline) {
  const Record& record = outline.record;
  if (record.ending == RunEnding::kExited) return "";
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const int64_t from_ns = all.empty() ? INT64_MIN : all.back().reaction_ns;
  std::vector<std::string> texts;
  const std::optional<StepPace> pace = PaceOfTimedOutRun(outline);
  const bool needs_attempts =
      record.ending == RunEnding::kTimedOut || EndedDuringRejoin(record, all);
  if (needs_attempts && !all.empty()) AddAttempts(outline, all, texts);
  // Signs that come after the end of the last attempt belong to it.
  const bool is_unanswered =
      !texts.empty() && all.back().reaction == Reaction::kNone;
  const std::string later = is_unanswered ? UnansweredEndText(record, all)
                                          : LaterText(outline, from_ns);
  texts.push_back(texts.empty() || is_unanswered ? later
                                                 : "since then " + later);
  if (pace) {
    texts.insert(texts.begin(), PaceText(*pace, record.setup.longest_run_ns));
  }
  texts.push_back(EndlessText(record));
  return JoinedTexts(std::move(texts));
}

}  // namespace gauntlet
