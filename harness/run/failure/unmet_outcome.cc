#include "harness/run/failure/unmet_outcome.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "harness/oracle/history/last_words.h"
#include "harness/run/failure/process_ends.h"
#include "harness/run/failure/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// An attempt that ended without the result.
struct LostAttempt {
  // The end of the attempt before, or the start of its launcher.
  int64_t from_ns = INT64_MIN;
  int64_t end_ns = 0;
  std::set<const RecordFault*> faults;  // that may have ended it
};

bool MayEndAnAttempt(const FaultTraits& traits) {
  return traits.ends_life || traits.may_end_life || traits.fails_device ||
         traits.gives_notice || traits.cuts_power || traits.kills_launcher;
}

// Returns true iff the launcher itself ended, and was not killed.
bool HasEnded(const LauncherRun& run) {
  return std::ranges::find(run.events, RecordKind::kLauncherEnd,
                           &RecordEvent::kind) != run.events.end();
}

// Returns the attempts in the order of time. If a launcher was killed, the
// start of the next one counts as the end of an attempt, too.
std::vector<LostAttempt> LostAttemptsOf(const Outline& outline) {
  std::vector<LostAttempt> attempts;
  int64_t from_ns = INT64_MIN;
  const LauncherRun* before = nullptr;
  for (const LauncherRun& run : outline.record.launchers) {
    if (run.events.empty()) continue;
    const int64_t begin_ns = run.events.front().t_ns;
    if (before != nullptr && !HasEnded(*before)) {
      attempts.push_back({.from_ns = from_ns, .end_ns = begin_ns});
    }
    if (before != nullptr) from_ns = begin_ns;
    before = &run;
    for (const RecordEvent& event : run.events) {
      if (event.kind != RecordKind::kAttemptEnds ||
          event.reason == RecordReason::kResult) {
        continue;
      }
      attempts.push_back({.from_ns = from_ns, .end_ns = event.t_ns});
      from_ns = event.t_ns;
    }
  }
  for (LostAttempt& one : attempts) {
    for (const FaultOccurrence& occurrence : outline.occurrences) {
      const int64_t fired_ns = occurrence.event().t_ns;
      if (fired_ns > one.from_ns && fired_ns <= one.end_ns &&
          MayEndAnAttempt(occurrence.traits)) {
        one.faults.insert(occurrence.fault);
      }
    }
  }
  return attempts;
}

// Returns "worker 1 exited with code 70" or "worker 0 lost rank 1 (deadline)":
// the first sign of the end; "" if there is none.
std::string FirstSignText(const Record& record, const LostAttempt& attempt) {
  const RecordEvent* const end =
      FirstEnd(record, attempt.from_ns, attempt.end_ns);
  int64_t first_ns = end == nullptr ? INT64_MAX : end->t_ns;
  std::string text = end == nullptr ? "" : EndText(*end);
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kWorkerLost || !event.about ||
          event.t_ns < attempt.from_ns || event.t_ns > attempt.end_ns ||
          event.t_ns > first_ns) {
        continue;
      }
      first_ns = event.t_ns;
      text = fmt::format("worker {} lost rank {} ({})", life.worker,
                         *event.about, RecordReasonName(event.reason));
    }
  }
  return text;
}

// Returns "fault c (crash worker 1 at step.begin, step 8) ended attempts 1, 2".
std::string EndedByText(const RecordFault& fault,
                        const std::vector<size_t>& numbers) {
  return fmt::format("fault {} ({}) ended attempt{} {}", fault.id,
                     fault.summary, numbers.size() == 1 ? "" : "s",
                     fmt::join(numbers, ", "));
}

// Describes the end of the first attempt.
std::string RestartText(const Outline& outline,
                        const std::vector<LostAttempt>& attempts) {
  if (attempts.empty()) return "";
  const LostAttempt& first = attempts.front();
  std::vector<std::string> texts;
  for (const RecordFault* fault : first.faults) {
    texts.push_back(EndedByText(*fault, {1}));
  }
  const std::string sign = FirstSignText(outline.record, first);
  if (texts.empty()) return sign;
  const std::string faults = fmt::format("{}", fmt::join(texts, ", "));
  return sign.empty() ? faults : fmt::format("{}: {}", faults, sign);
}

// Returns "restarts used up (cluster.restart.max is 2)"; "" if no launcher gave
// up.
std::string WhyGaveUp(const Record& record) {
  for (const LauncherRun& run : record.launchers) {
    for (const RecordEvent& event : run.events) {
      if (event.kind != RecordKind::kGaveUp) continue;
      std::string reason(RecordReasonName(event.reason));
      std::ranges::replace(reason, '_', ' ');
      if (event.reason != RecordReason::kRestartsUsedUp) return reason;
      const int most = record.setup.max_restarts;
      return most == 0
                 ? "cluster.restart permits no restart"
                 : fmt::format("{} (cluster.restart.max is {})", reason, most);
    }
  }
  return "";
}

std::string GaveUpText(const Outline& outline,
                       const std::vector<LostAttempt>& attempts,
                       const std::string& why) {
  std::vector<std::string> texts;
  for (const RecordFault& fault : outline.record.faults) {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < attempts.size(); ++i) {
      if (attempts[i].faults.contains(&fault)) numbers.push_back(i + 1);
    }
    if (!numbers.empty()) texts.push_back(EndedByText(fault, numbers));
  }
  texts.push_back("the launcher gave up: " + why);
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Returns the reason why a complete run had no restart.
std::string NoRestartText(const Record& record) {
  const RecordEvent* const end = FirstEnd(record, INT64_MIN, INT64_MAX);
  return end == nullptr
             ? "no process ended before training was complete, so nothing had "
               "to be restarted"
             : EndText(*end) + ", but training was completed without a restart";
}

}  // namespace

std::string ExplainOutcome(const Outline& outline, const Verdict& verdict) {
  if (std::ranges::find(verdict.broken_expectations, "outcome",
                        &Finding::name) == verdict.broken_expectations.end()) {
    return "";
  }
  const Record& record = outline.record;
  const Outcome expected = record.expect.outcome;
  if (record.ending != RunEnding::kExited) return "";
  const std::vector<LostAttempt> attempts = LostAttemptsOf(outline);
  const std::string gave_up = WhyGaveUp(record);
  if (!gave_up.empty()) {
    return expected == Outcome::kGivesUp
               ? ""
               : GaveUpText(outline, attempts, gave_up);
  }
  if (!IsDone(record)) return "";
  const bool restarted = verdict.facts.restarts > 0;
  if (expected == Outcome::kCompletes && restarted) {
    return RestartText(outline, attempts);
  }
  if (expected == Outcome::kRecovers && !restarted) {
    return NoRestartText(record);
  }
  return "";
}

}  // namespace gauntlet
