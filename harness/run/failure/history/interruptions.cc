#include "harness/run/failure/history/interruptions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/added_delays.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/causing_faults.h"
#include "harness/run/failure/history/first_sign.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns true iff the launcher ended by itself, so it was not killed.
bool HasEnded(const LauncherRun& run) {
  return std::ranges::find(run.events, RecordKind::kLauncherEnd,
                           &RecordEvent::kind) != run.events.end();
}

bool HasStopped(const LauncherRun& run) {
  return run.result && run.result->status == "stopped";
}

// Returns true iff the launch was planned to stop at a step.
bool IsToStop(const Record& record, const LauncherRun& run) {
  const std::vector<PlannedLaunch>& plans = record.setup.launches;
  return run.planned < plans.size() && plans[run.planned].stop_at_step > 0;
}

// Returns true iff the launcher stopped although no stop was planned.
bool HasStoppedOnNotice(const Record& record, const LauncherRun& run) {
  return HasStopped(run) && !IsToStop(record, run);
}

// Returns "launch 1 ended after step 12" if the launcher that ran at `since_ns`
// ended as planned before `start`; else "".
std::string PlannedEndText(const Record& record, int64_t since_ns,
                           const RecordEvent& start) {
  for (size_t i = 0; i < record.launchers.size(); ++i) {
    const LauncherRun& run = record.launchers[i];
    if (run.events.empty() || !run.result ||
        run.events.front().t_ns > since_ns ||
        run.events.back().t_ns <= since_ns ||
        run.events.back().t_ns > start.t_ns) {
      continue;
    }
    if (run.result->status == "done" ||
        (HasStopped(run) && IsToStop(record, run))) {
      return fmt::format("launch {} ended after step {}", i + 1,
                         run.result->steps);
    }
  }
  return "";
}

// Returns true iff a resume may start after the step of the fault. The fault
// then does not fire again.
bool MayResumeAfter(const Record& record, const RecordFault& fault) {
  if (fault.in_save || record.setup.rejoins) return true;
  bool is_saved = false;
  ForEachEvent(record, [&](const RecordEvent& event) {
    is_saved = is_saved || (event.kind == RecordKind::kSaveAcknowledged &&
                            event.step >= fault.step.value_or(0));
  });
  return is_saved;
}

// Returns true iff the fault, if it ended one attempt, also ends each later
// one: it fires in any incarnation, is no delay with an end, and no resume
// starts after its step.
bool EndsEachAttempt(const Record& record, const RecordFault& fault) {
  const bool is_finite_delay = !TraitsOf(fault).DoesMoreThanDelay() &&
                               (fault.duration_ns > 0 || fault.latency_ns > 0);
  return !is_finite_delay && !MayResumeAfter(record, fault) &&
         FiresInAnyIncarnation(fault);
}

// Collects the interruptions from the events of the launchers.
class InterruptionFinder {
 public:
  std::vector<Interruption> Take() && { return std::move(found_); }

  void AddLauncher(const LauncherRun& run, const LauncherRun* before) {
    const int64_t begin_ns = run.events.front().t_ns;
    if (before != nullptr) Join(*before, run, begin_ns);
    ++launch_;
    for (const RecordEvent& event : run.events) Add(event);
  }

  // Adds the end of the last launcher, if it was killed or stopped on a notice.
  void AddEnd(const Record& record) {
    if (record.launchers.empty() || has_open_end_) return;
    const LauncherRun& last = record.launchers.back();
    if (WasKilled(record, last)) return EndAttempt(INT64_MAX);
    if (!last.events.empty() && HasStoppedOnNotice(record, last)) {
      EndAttempt(last.events.back().t_ns);
    }
  }

 private:
  // Adds the start of a launcher after another one.
  void Join(const LauncherRun& before, const LauncherRun& run,
            int64_t begin_ns) {
    const bool is_again = IsRequeue(before, run);
    if (!HasEnded(before) || (is_again && HasStopped(before))) {
      EndAttempt(begin_ns);
    }
    if (is_again && has_open_end_) {
      React(Reaction::kStartsLauncher, begin_ns);
    }
    has_open_end_ = false;
    has_result_ = false;
    from_ns_ = begin_ns;
  }

  void Add(const RecordEvent& event) {
    if (event.kind == RecordKind::kAttemptEnds) {
      if (event.reason == RecordReason::kResult) {
        CountResult();
      } else {
        EndAttempt(event.t_ns);
      }
    }
    if (event.kind != RecordKind::kRestarting) return;
    if (has_open_end_) return React(Reaction::kRestartsJob, event.t_ns);
    found_.push_back({.from_ns = from_ns_,
                      .end_ns = event.t_ns,
                      .attempt = ended_attempts_ + 1,
                      .launch = launch_,
                      .worker = event.about});
    React(Reaction::kRestartsWorker, event.t_ns);
  }

  // Sets the reaction to the last interruption.
  void React(Reaction reaction, int64_t t_ns) {
    found_.back().reaction = reaction;
    found_.back().reaction_ns = t_ns;
    has_open_end_ = false;
    from_ns_ = t_ns;
  }

  // Counts an attempt that ended with a result: "done", or "stopped", which may
  // be an interruption.
  void CountResult() {
    ++ended_attempts_;
    has_result_ = true;
  }

  void EndAttempt(int64_t end_ns) {
    if (!has_result_) ++ended_attempts_;
    found_.push_back({.from_ns = from_ns_,
                      .end_ns = end_ns,
                      .reaction_ns = end_ns,
                      .attempt = ended_attempts_,
                      .launch = launch_});
    from_ns_ = end_ns;
    has_open_end_ = true;
  }

  std::vector<Interruption> found_;
  int64_t from_ns_ = INT64_MIN;
  size_t launch_ = 0;  // number of launchers so far
  size_t ended_attempts_ = 0;
  bool has_result_ = false;  // the launcher's last attempt had a result
  // True iff no reaction to the end of the last attempt has been found yet.
  bool has_open_end_ = false;
};

// Returns the time at which the launcher killed the worker whose end caused the
// interruption, if the interruption began later: a kill takes effect only when
// the worker's host can be reached. Returns nullopt for other ends.
std::optional<int64_t> TimeOfEarlyKill(const Record& record,
                                       const Interruption& one) {
  const RecordEvent* const end = FirstEnd(record, one.from_ns + 1, one.end_ns);
  if (end == nullptr) return std::nullopt;
  for (const LauncherRun& run : record.launchers) {
    for (const RecordEvent& event : run.events) {
      if (event.kind == RecordKind::kKillSent && event.about == end->about &&
          event.incarnation == end->incarnation && event.t_ns < one.from_ns) {
        return event.t_ns;
      }
    }
  }
  return std::nullopt;
}

// Returns the faults that made the launcher kill a worker at `killed_ns`: those
// that only hinder their worker, in the interruption in which the kill was
// sent.
Causes CausesOfKill(const Outline& outline,
                    const std::vector<Interruption>& all, int64_t killed_ns) {
  int64_t from_ns = INT64_MIN;
  for (const Interruption& one : all) {
    if (one.from_ns < killed_ns) from_ns = one.from_ns;
  }
  Causes causes = CausesOf(outline, from_ns, killed_ns);
  std::erase_if(causes.faults, [](const RecordFault* fault) {
    return TraitsOf(*fault).EndsProcesses();
  });
  return causes;
}

// Returns "preemption.requeue is 2" for a run that used it up. If planned
// launches hide the value, returns only the key.
std::string UsedUpRequeueText(const Record& record) {
  const std::optional<uint64_t> value = UsedUpRequeue(record);
  return value ? fmt::format("preemption.requeue is {}", *value)
               : "preemption.requeue";
}

// Returns "fault c (SUMMARY) ended attempts 1 and 2".
std::string FaultText(const RecordFault& fault, std::string_view verb,
                      const std::set<uint64_t>& attempts) {
  return fmt::format("fault {} ({}) {} {}", fault.id, fault.summary, verb,
                     NumberedText("attempt", attempts));
}

// Returns true iff InterruptionText describes the faults: if a state could not
// be saved, it describes that save instead.
bool DescribesFaults(const Record& record, const Interruption& one) {
  const RecordEvent* const end = FirstEnd(record, one.from_ns + 1, one.end_ns);
  return end == nullptr || UnsavedText(record, *end).empty();
}

std::string_view VerbOf(const Interruption& one) {
  const bool is_of_worker = one.reaction == Reaction::kRestartsWorker;
  if (!one.are_certain) {
    return is_of_worker ? "may have interrupted" : "may have ended";
  }
  return is_of_worker ? "interrupted" : "ended";
}

std::string ReactionText(const Interruption& one) {
  switch (one.reaction) {
    case Reaction::kNone:
      return "";
    case Reaction::kRestartsJob:
      return "; the launcher restarted the job";
    case Reaction::kRestartsWorker:
      return fmt::format(
          "; the launcher restarted {} alone (cluster.restart.policy is "
          "rejoin)",
          one.worker ? fmt::format("worker {}", *one.worker)
                     : "the lost worker");
    case Reaction::kStartsLauncher:
      return "; the launcher was started again, as a scheduler requeues a job "
             "(preemption.requeue)";
  }
  return "";
}

// Returns the first sign of the interruption and, if only several delays
// together caused it, these delays.
std::string SignWithDelays(const Record& record, const Interruption& one) {
  const FirstSign sign = FindFirstSign(record, one.from_ns, one.end_ns);
  return sign.text + AddedDelaysText(record, sign);
}

// Describes the cause of an interruption, without the reaction to it.
std::string CauseOfInterruption(const Outline& outline,
                                const Interruption& one) {
  const Record& record = outline.record;
  const RecordEvent* const end = FirstEnd(record, one.from_ns + 1, one.end_ns);
  if (end != nullptr) {
    if (const std::string unsaved = UnsavedText(record, *end);
        !unsaved.empty()) {
      return fmt::format("{}; {}", unsaved, EndText(*end));
    }
  }
  std::vector<std::string> texts;
  for (const RecordFault* fault : one.faults) {
    texts.push_back(FaultText(*fault, VerbOf(one), {one.attempt}));
  }
  std::string sign = SignWithDelays(record, one);
  if (texts.empty()) return sign;
  const std::string faults = fmt::format("{}", fmt::join(texts, ", "));
  return sign.empty() ? faults : fmt::format("{}: {}", faults, sign);
}

// Returns true iff the fault does more than delay. The text of such a fault
// states how the fault ends an attempt.
bool EndsByItself(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  return traits.DoesMoreThanDelay();
}

// Returns true iff the sign is the exit of a worker that failed for good.
bool IsFailureForGood(const FirstSign& sign) {
  return sign.event != nullptr &&
         (sign.event->kind == RecordKind::kExited ||
          sign.event->kind == RecordKind::kProcessEnded) &&
         IsExit(sign.event->count, {WorkerExit::kFailed});
}

// Returns ": worker 0 lost rank 1 (…)", for several attempts ": in attempt 1
// worker 0 lost rank 1 (…)": the sign of the first attempt that the fault
// ended. Returns "" if there is no sign. Also returns "" if
// EndsByItself(fault), unless a worker failed for good.
std::string FirstSignText(const Record& record, const RecordFault& fault,
                          const Interruption& first, size_t attempts) {
  const FirstSign sign = FindFirstSign(record, first.from_ns, first.end_ns);
  if (sign.text.empty() || (EndsByItself(fault) && !IsFailureForGood(sign))) {
    return "";
  }
  return fmt::format(
      ": {}{}{}",
      attempts == 1 ? "" : fmt::format("in attempt {} ", first.attempt),
      sign.text, AddedDelaysText(record, sign));
}

// Describes the interruptions by each fault. `described`: as in OtherEnds, or
// null.
std::vector<std::string> EndsByFaults(const Record& record,
                                      const Interruption* described,
                                      std::span<const Interruption> all) {
  std::vector<std::string> texts;
  for (const RecordFault& fault : record.faults) {
    const bool is_described = described != nullptr &&
                              described->faults.contains(&fault) &&
                              DescribesFaults(record, *described);
    for (const std::string_view verb :
         {"interrupted", "ended", "may have interrupted", "may have ended"}) {
      std::set<uint64_t> attempts;
      size_t times = 0;
      const Interruption* first = nullptr;
      for (const Interruption& one : all) {
        if (VerbOf(one) != verb || !one.faults.contains(&fault)) continue;
        if (first == nullptr) first = &one;
        attempts.insert(one.attempt);
        ++times;
      }
      if (attempts.empty()) continue;
      std::string text =
          is_described ? fmt::format("fault {} also {} {}", fault.id, verb,
                                     NumberedText("attempt", attempts))
                       : FaultText(fault, verb, attempts);
      if (times > attempts.size()) text += fmt::format(" ({} times)", times);
      if (!is_described) {
        text += FirstSignText(record, fault, *first, attempts.size());
      }
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

// Describes the interruptions in which no fault fired, by their first signs.
// They occur because a fault that lasts, such as a broken device, fires once
// and also ends later attempts.
std::vector<std::string> EndsWithoutFault(const Record& record,
                                          const Interruption* described,
                                          std::span<const Interruption> all) {
  const auto sign_of = [&record](const Interruption& one) {
    return FindFirstSign(record, one.from_ns, one.end_ns).text;
  };
  struct Ends {
    std::string sign;
    Reaction reaction;
    size_t launch;  // 0: the scenario plans one launch
    std::set<uint64_t> attempts;
  };
  std::vector<Ends> ends;  // in the order of their first attempts
  for (const Interruption& one : all) {
    if (!one.faults.empty()) continue;
    const std::string sign = sign_of(one);
    if (sign.empty()) continue;
    const size_t launch = record.setup.launches.size() > 1 ? one.launch : 0;
    const auto same = std::ranges::find_if(ends, [&](const Ends& end) {
      return end.sign == sign && end.reaction == one.reaction &&
             end.launch == launch;
    });
    if (same != ends.end()) {
      same->attempts.insert(one.attempt);
    } else {
      ends.push_back({sign, one.reaction, launch, {one.attempt}});
    }
  }
  const std::string described_sign =
      described == nullptr ? "" : sign_of(*described);
  std::vector<std::string> texts;
  for (const Ends& end : ends) {
    const std::string_view verb =
        end.reaction != Reaction::kRestartsWorker ? "ended"
        : end.attempts.size() == 1                ? "was interrupted"
                                                  : "were interrupted";
    const std::string text = fmt::format(
        "{}{} {}", NumberedText("attempt", end.attempts),
        end.launch == 0 ? "" : fmt::format(" (launch {})", end.launch), verb);
    texts.push_back(end.sign == described_sign
                        ? text + " likewise"
                        : fmt::format("{}: {}", text, end.sign));
  }
  return texts;
}

std::vector<std::string> EndsOf(const Record& record,
                                const Interruption* described,
                                std::span<const Interruption> all) {
  std::vector<std::string> texts = EndsByFaults(record, described, all);
  for (std::string& text : EndsWithoutFault(record, described, all)) {
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

bool WasKilled(const Record& record, const LauncherRun& run) {
  return record.ending == RunEnding::kExited && !run.events.empty() &&
         run.exit_code != 0 && !HasEnded(run);
}

std::vector<Interruption> InterruptionsOf(const Outline& outline) {
  InterruptionFinder finder;
  const LauncherRun* before = nullptr;
  for (const LauncherRun& run : outline.record.launchers) {
    if (run.events.empty()) continue;
    finder.AddLauncher(run, before);
    before = &run;
  }
  finder.AddEnd(outline.record);
  std::vector<Interruption> all = std::move(finder).Take();
  for (Interruption& one : all) {
    Causes causes = CausesOf(outline, one.from_ns, one.end_ns);
    if (causes.faults.empty()) {
      if (const auto killed_ns = TimeOfEarlyKill(outline.record, one)) {
        causes = CausesOfKill(outline, all, *killed_ns);
      }
    }
    one.faults = std::move(causes.faults);
    one.are_certain = causes.are_certain;
  }
  return all;
}

std::optional<uint64_t> UsedUpRequeue(const Record& record) {
  if (!record.setup.launches.empty()) return std::nullopt;
  return record.launchers.size() - 1;
}

bool FiresInAnyIncarnation(const RecordFault& fault) {
  return fault.summary.find("incarnation any") != std::string::npos;
}

bool RepeatsWithoutEnd(const RecordFault& fault) {
  const bool is_before_end =
      fault.step && fault.until_step && *fault.step < *fault.until_step;
  return fault.always && (!fault.until_step || is_before_end);
}

bool LacksProgress(const Record& record, const std::vector<Interruption>& all) {
  return all.size() > 1 && StepReachedBy(record, all[all.size() - 2].end_ns) ==
                               StepReachedBy(record, all.back().end_ns);
}

bool EndedDuringRejoin(const Record& record,
                       const std::vector<Interruption>& all) {
  if (all.empty() || all.back().reaction != Reaction::kRestartsWorker) {
    return false;
  }
  const int64_t from_ns = all.back().reaction_ns;
  return FirstOf(record, [from_ns](const RecordEvent& event) {
           return event.t_ns > from_ns &&
                  (event.kind == RecordKind::kResumedFromMemory ||
                   event.kind == RecordKind::kResumed ||
                   event.kind == RecordKind::kInitialized);
         }) == nullptr;
}

const RecordFault* EndlessFault(const Record& record,
                                const std::vector<Interruption>& all) {
  if (all.empty()) return nullptr;
  const RecordFault* delay = nullptr;
  for (const RecordFault* fault : all.back().faults) {
    if (!RepeatsWithoutEnd(*fault)) continue;
    const auto has_fault = [fault](const Interruption& one) {
      return one.faults.contains(fault);
    };
    const auto first = std::ranges::find_if(all, has_fault);
    // Without EndsEachAttempt, one attempt alone shows no repetition.
    const ptrdiff_t least = EndsEachAttempt(record, *fault) ? 1 : 2;
    if (all.end() - first < least ||
        !std::all_of(first, all.end(), has_fault)) {
      continue;
    }
    if (TraitsOf(*fault).DoesMoreThanDelay()) return fault;
    if (delay == nullptr) delay = fault;
  }
  return delay;
}

std::string InterruptionText(const Outline& outline, const Interruption& one) {
  const std::string cause = CauseOfInterruption(outline, one);
  return cause.empty() ? "" : cause + ReactionText(one);
}

std::vector<std::string> EndsOfAttempts(const Outline& outline,
                                        std::span<const Interruption> all) {
  return EndsOf(outline.record, nullptr, all);
}

std::vector<std::string> OtherEnds(const Outline& outline,
                                   const Interruption& described,
                                   std::span<const Interruption> others) {
  return EndsOf(outline.record, &described, others);
}

std::string EndBeforeStartText(const Outline& outline, int64_t since_ns,
                               const RecordEvent& start) {
  const Record& record = outline.record;
  std::string planned = PlannedEndText(record, since_ns, start);
  if (!planned.empty()) return planned;
  const RecordEvent* const end = FirstEnd(record, since_ns, start.t_ns);
  return end == nullptr ? "the run restarted"
                        : EndWithFaultText(outline, *end, since_ns);
}

std::string LauncherEndText(const Record& record) {
  const LauncherRun& last = record.launchers.back();
  if (WasKilled(record, last)) {
    return fmt::format(
        "the launcher was killed (exit code {}) and was not started again ({})",
        last.exit_code, UsedUpRequeueText(record));
  }
  return fmt::format("the launcher exited with code {}{}", last.exit_code,
                     HasStopped(last)
                         ? fmt::format(" and was not started again ({})",
                                       UsedUpRequeueText(record))
                         : "");
}

}  // namespace gauntlet
