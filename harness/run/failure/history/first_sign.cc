#include "harness/run/failure/history/first_sign.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/wait_limit.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the worker that had the rank at `t_ns`: the last one that had started
// with this rank. If there is none, returns `rank` as the worker's number.
int WorkerOfRank(const Record& record, int rank, int64_t t_ns) {
  int worker = rank;
  int64_t newest_ns = INT64_MIN;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.events.empty()) continue;
    const RecordEvent& start = incarnation.events.front();
    if (start.kind == RecordKind::kWorkerStarted && start.count == rank &&
        start.t_ns <= t_ns && start.t_ns > newest_ns) {
      newest_ns = start.t_ns;
      worker = incarnation.worker;
    }
  }
  return worker;
}

bool IsRefusedTraining(const RecordEvent& event) {
  return event.kind == RecordKind::kWorkerExited && IsRefusal(event.count);
}

// Returns "the chief refused to train (exit code 8): REASON". A worker that the
// chief turned away repeats the chief's reason.
std::string RefusalText(int worker, const RecordEvent& exit) {
  constexpr std::string_view kOfChief = "chief: ";
  const std::string_view reason = exit.detail;
  const bool is_of_chief = reason.starts_with(kOfChief);
  return fmt::format(
      "{} refused to train (exit code {}): {}",
      is_of_chief ? "the chief" : fmt::format("worker {}", worker), exit.count,
      is_of_chief ? reason.substr(kOfChief.size()) : reason);
}

// Most waits of a chain that the text of a sign names.
constexpr size_t kMostWaits = 2;

class SignFinder {
 public:
  SignFinder(const Record& record, int64_t from_ns, int64_t until_ns)
      : record_(record), from_ns_(from_ns), first_ns_(until_ns) {}

  FirstSign Find() && {
    if (FindRefusal()) return std::move(sign_);
    TakeEnd();
    for (const IncarnationEvents& incarnation : record_.incarnations) {
      for (const RecordEvent& event : incarnation.events) {
        Look(incarnation.worker, event);
      }
    }
    for (const LauncherRun& run : record_.launchers) {
      for (const RecordEvent& event : run.events) {
        Look(kLauncherWorker, event);
      }
    }
    FollowDeadlines();
    return std::move(sign_);
  }

 private:
  bool IsInTime(const RecordEvent& event) const {
    return event.t_ns > from_ns_ && event.t_ns <= first_ns_;
  }

  // Finds the first exit of a worker that refused to train.
  bool FindRefusal() {
    for (const IncarnationEvents& incarnation : record_.incarnations) {
      for (const RecordEvent& event : incarnation.events) {
        if (!IsRefusedTraining(event) || !IsInTime(event)) continue;
        first_ns_ = event.t_ns;
        sign_ = {.event = &event,
                 .emitter = incarnation.worker,
                 .worker = incarnation.worker,
                 .text = RefusalText(incarnation.worker, event)};
      }
    }
    return sign_.event != nullptr;
  }

  void TakeEnd() {
    const RecordEvent* const end = FirstEnd(record_, from_ns_ + 1, first_ns_);
    if (end == nullptr) return;
    has_stopped_ = IsExit(end->count, {WorkerExit::kStopped});
    first_ns_ = end->t_ns;
    sign_ = {.event = end,
             .worker = end->about,
             .text = EndText(*end) + ReasonOfFailure(*end)};
  }

  // Returns ": REASON" for the exit of a worker that failed for good and stated
  // why; else "".
  std::string ReasonOfFailure(const RecordEvent& end) const {
    if (!IsExit(end.count, {WorkerExit::kFailed})) return "";
    for (const IncarnationEvents& incarnation : record_.incarnations) {
      if (incarnation.worker != end.about ||
          incarnation.number != end.incarnation || incarnation.events.empty()) {
        continue;
      }
      const RecordEvent& last = incarnation.events.back();
      if (last.kind != RecordKind::kWorkerExited || last.detail.empty()) break;
      return ": " + last.detail;
    }
    return "";
  }

  void Look(int emitter, const RecordEvent& event) {
    if (!IsInTime(event)) return;
    if (event.kind == RecordKind::kStopAgreed && has_stopped_) {
      first_ns_ = event.t_ns;
      sign_ = {.event = &event,
               .emitter = emitter,
               .text = fmt::format("the workers agreed to stop at step {}",
                                   event.step)};
    }
    if (event.kind != RecordKind::kWorkerLost || !event.about) return;
    first_ns_ = event.t_ns;
    TakeLoss(emitter, event);
  }

  // A worker that another one waited for too long may itself have waited for a
  // third. Replaces the sign by the last loss of such a chain, which names the
  // worker that kept the others waiting. Keeps the first loss if the workers
  // waited for each other in a circle.
  void FollowDeadlines() {
    const FirstSign first = sign_;
    std::set<int> seen;
    std::vector<std::string> waits;
    while (IsDeadline(sign_.event) && sign_.worker) {
      if (!seen.insert(*sign_.worker).second) {
        sign_ = first;
        return;
      }
      const RecordEvent* const next = LossOf(*sign_.worker, *first.event);
      if (!IsDeadline(next)) break;
      waits.push_back(fmt::format("worker {} waited for worker {}",
                                  sign_.emitter, *sign_.worker));
      TakeLoss(*sign_.worker, *next);
    }
    if (waits.empty()) return;
    sign_.text +=
        waits.size() <= kMostWaits
            ? fmt::format(", while {}", fmt::join(waits, " and "))
            : fmt::format(", while {} workers waited for each other in a chain",
                          waits.size());
  }

  static bool IsDeadline(const RecordEvent* event) {
    return event != nullptr && event->kind == RecordKind::kWorkerLost &&
           event->about && event->reason == RecordReason::kDeadline;
  }

  // Returns the first loss, not before `sign`, of the worker's process that ran
  // at that time; null if there is none.
  const RecordEvent* LossOf(int worker, const RecordEvent& sign) const {
    for (const IncarnationEvents& incarnation : record_.incarnations) {
      const std::vector<RecordEvent>& events = incarnation.events;
      if (incarnation.worker != worker || events.empty() ||
          events.front().t_ns > sign.t_ns || events.back().t_ns < sign.t_ns) {
        continue;
      }
      const auto loss =
          std::ranges::find_if(events, [&sign](const RecordEvent& event) {
            return event.kind == RecordKind::kWorkerLost &&
                   event.t_ns >= sign.t_ns;
          });
      return loss == events.end() ? nullptr : &*loss;
    }
    return nullptr;
  }

  void TakeLoss(int emitter, const RecordEvent& event) {
    const bool is_of_launcher = emitter == kLauncherWorker;
    const std::string who =
        is_of_launcher
            ? fmt::format("the launcher lost worker {}", *event.about)
            : fmt::format("worker {} lost rank {}", emitter, *event.about);
    sign_ = {.event = &event,
             .emitter = emitter,
             .worker = is_of_launcher
                           ? *event.about
                           : WorkerOfRank(record_, *event.about, event.t_ns),
             .text = fmt::format("{} ({})", who, ReasonText(emitter, event))};
  }

  // Returns "deadline: cluster.step_timeout is 7s", "silent: rank 1 sent
  // nothing in time, cluster.heartbeat.lost_after is 5s", or "closed".
  std::string ReasonText(int emitter, const RecordEvent& lost) const {
    const std::string_view reason = RecordReasonName(lost.reason);
    const std::optional<WaitLimit> wait =
        LimitOfLoss(record_.setup, emitter, lost);
    if (!wait) return std::string(reason);
    const std::string silence =
        lost.reason == RecordReason::kSilent && emitter != kLauncherWorker
            ? fmt::format("rank {} sent nothing in time, ", *lost.about)
            : "";
    return fmt::format("{}: {}{}", reason, silence, LimitValueText(*wait));
  }

  const Record& record_;
  const int64_t from_ns_;
  int64_t first_ns_;          // time of the first sign so far
  bool has_stopped_ = false;  // a worker stopped on a notice
  FirstSign sign_;
};

}  // namespace

FirstSign FindFirstSign(const Record& record, int64_t from_ns,
                        int64_t until_ns) {
  return SignFinder(record, from_ns, until_ns).Find();
}

}  // namespace gauntlet
