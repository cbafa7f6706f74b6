#include "harness/run/failure/idle_fault.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/restart_limits.h"
#include "engine/text/counted.h"
#include "engine/text/units.h"
#include "engine/world/fault_point.h"
#include "harness/oracle/history/last_words.h"
#include "harness/oracle/history/outline.h"
#include "harness/record/fault_traits.h"
#include "harness/record/finding_kind.h"
#include "harness/record/text/gave_up.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/number_list.h"
#include "harness/record/text/simulated_time.h"
#include "harness/run/failure/advice.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/inconclusive_advice.h"
#include "harness/run/failure/limits/killed_in_grace.h"
#include "harness/run/failure/lost_checkpoints.h"
#include "harness/run/failure/met_expectations.h"
#include "harness/run/failure/remedy/end_remedy.h"
#include "harness/run/failure/remedy/restart_remedy.h"
#include "harness/run/failure/remedy/store_remedy.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

struct IdleReason {
  std::string cause;
  std::string next;
};

// A fault of the plan that never fired.
struct IdleFault {
  const Fault& fault;
  // First occurrence of the fault that it waits for (`after`); null: none.
  const RecordEvent* after = nullptr;

  // Time after which the fault could have fired.
  int64_t since_ns() const {
    return after == nullptr ? INT64_MIN : after->t_ns;
  }

  const FaultSite& site() const { return fault.site; }
};

// Progress of the incarnation with a given number, in the workers in which the
// fault could fire.
struct Progress {
  uint64_t step = 0;                            // the last one
  std::vector<const RecordEvent*> saves_begun;  // in the order of time
  std::set<uint64_t> acknowledged;              // steps
  int64_t end_ns = INT64_MIN;                   // time of the last event
};

bool Selects(const FaultSite& site, int incarnation) {
  return site.incarnation == kAnyIncarnation || site.incarnation == incarnation;
}

// Returns "worker 1", "the chief", "any worker" or "each worker".
std::string OwnerText(const FaultSite& site) {
  switch (site.worker) {
    case kChief:
      return "the chief";
    case kAnyWorker:
      return "any worker";
    case kAllWorkers:
      return "each worker";
    default:
      return fmt::format("worker {}", site.worker);
  }
}

// Returns the numbers of the incarnations of `worker` that emitted events after
// `since_ns`. If `worker` is negative, those of any worker.
std::set<uint64_t> NumbersSince(const Record& record, int64_t since_ns,
                                int worker) {
  std::set<uint64_t> numbers;
  for (const IncarnationEvents& one : record.incarnations) {
    const bool is_later =
        !one.events.empty() && one.events.back().t_ns > since_ns;
    if (is_later && (worker < 0 || one.worker == worker)) {
      numbers.insert(static_cast<uint64_t>(one.number));
    }
  }
  return numbers;
}

// Returns the progress of the selected worker in that incarnation. Saves are
// those of the whole job, as the chief reports them.
Progress ProgressOf(const Record& record, const FaultSite& site, int number) {
  Progress progress;
  for (const IncarnationEvents& one : record.incarnations) {
    if (one.number != number) continue;
    for (const RecordEvent& event : one.events) {
      if (event.kind == RecordKind::kSaveBegin) {
        progress.saves_begun.push_back(&event);
      }
      if (event.kind == RecordKind::kSaveAcknowledged) {
        progress.acknowledged.insert(event.step);
      }
      if (site.worker >= 0 && one.worker != site.worker) continue;
      progress.end_ns = std::max(progress.end_ns, event.t_ns);
      if (event.kind == RecordKind::kStep) {
        progress.step = std::max(progress.step, event.step);
      }
    }
  }
  return progress;
}

// Returns the interruption that ended the incarnation whose last event is at
// `last_ns`; null if there is none.
const Interruption* EndOf(const std::vector<Interruption>& all,
                          int64_t last_ns) {
  const auto found =
      std::ranges::find_if(all, [last_ns](const Interruption& one) {
        return one.from_ns < last_ns && last_ns <= one.reaction_ns;
      });
  return found == all.end() ? nullptr : &*found;
}

// Returns true iff the launcher gave up before an attempt that would have had
// the worker of the fault (cluster.workers_per_attempt). `last`: number of the
// last attempt.
bool IsOfUnreachedAttempt(const Record& record, const FaultSite& site,
                          int last) {
  if (FindGaveUp(record) == nullptr) return false;
  const std::vector<int>& workers = record.setup.workers_per_attempt;
  for (size_t i = static_cast<size_t>(last); i < workers.size(); ++i) {
    if (site.worker < workers[i] && Selects(site, static_cast<int>(i) + 1)) {
      return true;
    }
  }
  return false;
}

// Explains a fault whose worker no longer exists; "" if the worker exists, or
// if a later attempt would have had it.
IdleReason MissingWorker(const Record& record, const IdleFault& idle) {
  const FaultSite& site = idle.site();
  if (site.worker < 0 || record.setup.rejoins) return {};
  std::set<uint64_t> numbers =
      NumbersSince(record, idle.since_ns(), kAnyWorker);
  std::erase_if(numbers, [&site](uint64_t number) {
    return !Selects(site, static_cast<int>(number));
  });
  if (numbers.empty()) return {};
  const auto last = static_cast<int>(*numbers.rbegin());
  std::set<uint64_t> workers;
  for (const IncarnationEvents& one : record.incarnations) {
    if (one.number == last) workers.insert(static_cast<uint64_t>(one.worker));
  }
  if (workers.contains(static_cast<uint64_t>(site.worker)) ||
      IsOfUnreachedAttempt(record, site, last)) {
    return {};
  }
  const std::string_view key = record.setup.workers_per_attempt.empty()
                                   ? "cluster.min_workers"
                                   : "cluster.workers_per_attempt";
  return {fmt::format("fault {} waits for worker {}, but incarnation {} has "
                      "only {} ({})",
                      idle.fault.id, site.worker, last,
                      NumberedText("worker", workers), key),
          fmt::format("set `worker` of fault {} to one of incarnation {} ({}), "
                      "or raise {}",
                      idle.fault.id, last, NumberListText(workers), key)};
}

// Explains a fault of an incarnation that was never started.
IdleReason MissingIncarnation(const Record& record, const IdleFault& idle) {
  const FaultSite& site = idle.site();
  const std::set<uint64_t> numbers =
      NumbersSince(record, INT64_MIN, site.worker);
  if (site.incarnation == kAnyIncarnation || numbers.empty() ||
      site.incarnation <= static_cast<int>(*numbers.rbegin())) {
    return {};
  }
  return {
      fmt::format("fault {} waits for incarnation {} of {}, but the last "
                  "one that started is incarnation {}",
                  idle.fault.id, site.incarnation, OwnerText(site),
                  *numbers.rbegin()),
      fmt::format("set `incarnation` of fault {} to {}{}, or add a "
                  "fault that ends incarnation {}",
                  idle.fault.id, *numbers.rbegin(),
                  *numbers.rbegin() == 1 ? "" : " or less", *numbers.rbegin())};
}

// Explains a fault that damages the next file that its worker writes after the
// point, if the worker wrote no file after the point.
IdleReason MissingFile(const Record& record, const IdleFault& idle,
                       const std::vector<Interruption>& all) {
  const FaultSite& site = idle.site();
  const PointInfo& point = InfoOf(site.point);
  const bool is_before_a_file = point.next == StorageOperation::kWrite ||
                                point.next == StorageOperation::kOpenToWrite;
  if (!InfoOf(idle.fault.kind).effects.damages_file ||
      point.part != RunPart::kSave || point.rate != HitRate::kOncePerSave ||
      is_before_a_file || site.step || site.epoch) {
    return {};
  }
  const int number = std::max(site.incarnation, 1);
  const Progress progress = ProgressOf(record, site, number);
  const uint64_t save = site.save.value_or(site.occurrence);
  if (save == 0 || save > progress.saves_begun.size()) return {};
  const RecordEvent& begun = *progress.saves_begun[save - 1];
  if (!progress.acknowledged.contains(begun.step)) return {};
  const Interruption* const end = EndOf(all, progress.end_ns);
  return {
      fmt::format("fault {} damages the file that {} writes next after {}, and "
                  "after that point of save {} (step {}) it wrote none in "
                  "incarnation {}{}",
                  idle.fault.id, OwnerText(site), point.name, save, begun.step,
                  number,
                  end == nullptr || end->faults.empty()
                      ? ""
                      : fmt::format(", which fault {} ended",
                                    (*end->faults.begin())->id)),
      fmt::format("set the point of fault {} to {}, which is before the "
                  "file is written",
                  idle.fault.id, PointName(Point::kShardWrite))};
}

// Explains a fault at a point of a load, in a run that loaded nothing.
IdleReason MissingLoad(const Record& record, const IdleFault& idle) {
  const PointInfo& point = InfoOf(idle.site().point);
  const bool has_loaded = std::ranges::any_of(
      record.incarnations, [](const IncarnationEvents& one) {
        return std::ranges::any_of(one.events, [](const RecordEvent& event) {
          return event.kind == RecordKind::kLoaded ||
                 event.kind == RecordKind::kLoadFailed;
        });
      });
  if (point.part != RunPart::kLoad || has_loaded) return {};
  return {fmt::format("fault {} waits for {}, which is a point of a load, and "
                      "the run loaded no checkpoint",
                      idle.fault.id, point.name),
          "add a fault that ends the workers after a save, so that they load "
          "the checkpoint"};
}

// Returns "its last step was 2" for the incarnation that ended; for a fault in
// a save, "its last step was 2 and 1 save had begun".
std::string ProgressText(const IdleFault& idle, const Progress& progress) {
  const std::string steps =
      progress.step == 0 ? "no step had been trained in it"
                         : fmt::format("its last step was {}", progress.step);
  return IsOfSave(idle.site().point)
             ? fmt::format("{} and {} had begun", steps,
                           Counted(progress.saves_begun.size(), "save"))
             : steps;
}

// Returns true iff the incarnation had passed the place of the fault: it had
// trained a later step than that of the fault, or the save of the fault had
// been acknowledged.
bool IsPassed(const FaultSite& site, const Progress& progress) {
  if (site.step && *site.step < progress.step) return true;
  if (!site.save || *site.save == 0) return false;
  return *site.save <= progress.saves_begun.size() &&
         progress.acknowledged.contains(
             progress.saves_begun[*site.save - 1]->step);
}

// Explains a fault of an incarnation that another fault ended too early.
IdleReason EndedIncarnation(const Outline& outline, const IdleFault& idle,
                            const std::vector<Interruption>& all) {
  const FaultSite& site = idle.site();
  if (site.incarnation == kAnyIncarnation) return {};
  const Progress progress = ProgressOf(outline.record, site, site.incarnation);
  if (IsPassed(site, progress)) return {};
  const Interruption* const end = EndOf(all, progress.end_ns);
  if (end == nullptr) return {};
  const bool has_no_other_fault =
      end->faults.empty() ||
      std::ranges::any_of(end->faults, [&idle](const RecordFault* fault) {
        return fault->id == idle.fault.after;
      });
  const std::string by =
      has_no_other_fault
          ? ""
          : fmt::format("add `after: {}`, or ", (*end->faults.begin())->id);
  return {fmt::format("fault {} waits in incarnation {} of {}, which ended "
                      "before: {} ({})",
                      idle.fault.id, site.incarnation, OwnerText(site),
                      ProgressText(idle, progress),
                      InterruptionText(outline, *end)),
          fmt::format("{}set `incarnation: any` inside `at` of fault {}", by,
                      idle.fault.id)};
}

// Returns advice on a fault that occurred at no place of the run.
std::string OtherPlaceAdvice(const IdleFault& idle, const std::string& show) {
  const FaultSite& site = idle.site();
  // Workers other than the chief reach ckpt.end at the step of the save.
  const bool may_be_chief =
      site.worker <= 0 || InfoOf(site.point).reached_by == ReachedBy::kChief;
  if (site.step.value_or(0) > 0 && IsTailOfSave(site.point) && may_be_chief) {
    return fmt::format(
        "replace `step` inside `at` of fault {} by `save: N`, which selects "
        "the N-th save; at {}, `step` is the step that training has reached, "
        "not that of the checkpoint; {} prints the saves of each worker",
        idle.fault.id, PointName(site.point), show);
  }
  return fmt::format(
      "{}change `at` of fault {} to a point, step, save or incarnation that "
      "the run reaches{}; {} prints the steps and saves of each worker, "
      "gauntlet list points all points",
      site.occurrence == 1
          ? ""
          : fmt::format("lower `occurrence` inside `at` of fault {} ({}), as "
                        "the point may have been reached fewer times, or ",
                        idle.fault.id, site.occurrence),
      idle.fault.id,
      idle.after == nullptr
          ? ""
          : fmt::format(" after fault {} has fired", idle.fault.after),
      show);
}

// Returns "after fault rot had fired (step 14), "; "" if the fault waits for no
// other one.
std::string WaitedForText(const IdleFault& idle) {
  return idle.after == nullptr
             ? ""
             : fmt::format("after fault {} had fired (step {}), ",
                           idle.fault.after, idle.after->step);
}

// Explains a fault for which no other reason is known: "…: incarnation 1
// reached step 24 and began 4 saves", with each incarnation that the fault
// selects.
IdleReason UnreachedPlace(const Record& record, const IdleFault& idle,
                          const std::string& show) {
  const std::string owner =
      idle.site().worker == kAllWorkers ? "any worker" : OwnerText(idle.site());
  std::vector<std::string> texts;
  for (const uint64_t number :
       NumbersSince(record, idle.since_ns(), kAnyWorker)) {
    if (!Selects(idle.site(), static_cast<int>(number))) continue;
    const Progress progress =
        ProgressOf(record, idle.site(), static_cast<int>(number));
    texts.push_back(fmt::format("incarnation {} reached step {} and began {}",
                                number, progress.step,
                                Counted(progress.saves_begun.size(), "save")));
  }
  return {texts.empty()
              ? ""
              : fmt::format("{}no occurrence of {} in {} was that of fault {}: "
                            "{}",
                            WaitedForText(idle), PointName(idle.site().point),
                            owner, idle.fault.id, fmt::join(texts, ", ")),
          OtherPlaceAdvice(idle, show)};
}

// Returns the change after which the launcher does not give up.
std::string RemedyForEarlyEnd(const Outline& outline, const Verdict& verdict,
                              const RecordEvent& gave_up) {
  const RunSetup& setup = outline.record.setup;
  const bool may_scale_down =
      setup.min_workers > 0 && setup.min_workers < setup.workers &&
      gave_up.reason == RecordReason::kRestartsUsedUp &&
      !setup.never_restarts && setup.max_restarts < kFailuresToExclude;
  return may_scale_down
             ? fmt::format(
                   "raise cluster.restart.max ({}) to {} or more, so "
                   "that the launcher leaves out a worker that fails {} "
                   "times in a row (cluster.min_workers)",
                   setup.max_restarts, kFailuresToExclude, kFailuresToExclude)
             : RestartRemedy(outline, verdict);
}

// Explains a fault whose place the run did not reach because its launcher gave
// up before.
IdleReason GaveUpBefore(const Outline& outline, const Verdict& verdict,
                        const IdleFault& idle,
                        const std::vector<Interruption>& all) {
  const Record& record = outline.record;
  const RecordEvent* const gave_up = FindGaveUp(record);
  if (gave_up == nullptr) return {};
  std::vector<std::string> texts = EndsOfAttempts(outline, all);
  texts.push_back("the launcher gave up: " +
                  GaveUpReasonText(record.setup, *gave_up));
  return {fmt::format("the run ended before fault {} could fire: {}",
                      idle.fault.id, JoinedTexts(std::move(texts))),
          RemedyForEarlyEnd(outline, verdict, *gave_up)};
}

// Returns the number of the last incarnation of any worker; 0 if there is none.
int LastIncarnation(const Record& record) {
  int last = 0;
  for (const IncarnationEvents& one : record.incarnations) {
    last = std::max(last, one.number);
  }
  return last;
}

// Returns true iff the end of the run kept the fault from firing: it is not of
// an earlier incarnation than the last, and that one had not passed its place.
bool WasAheadAtTheEnd(const Record& record, const FaultSite& site) {
  const int last = LastIncarnation(record);
  const bool is_earlier =
      site.incarnation != kAnyIncarnation && site.incarnation < last;
  return !is_earlier && !IsPassed(site, ProgressOf(record, site, last));
}

// Explains a fault that was not reached because a notice stopped the job, which
// was not started again. Returns {} for a fault of an earlier incarnation.
IdleReason StoppedBefore(const Outline& outline, const IdleFault& idle) {
  const Record& record = outline.record;
  const RecordFault* const notice = NoticeOfStop(outline);
  if (notice == nullptr || record.launchers.empty() ||
      !record.launchers.back().result) {
    return {};
  }
  const FaultSite& site = idle.site();
  if (!WasAheadAtTheEnd(record, site)) return {};
  const int last = LastIncarnation(record);
  const std::string removed = fmt::format("remove fault {}", idle.fault.id);
  const std::optional<uint64_t> requeue = UsedUpRequeue(record);
  const uint64_t more = site.incarnation > last
                            ? static_cast<uint64_t>(site.incarnation - last)
                            : 1;
  const bool is_to_stop = record.expect.outcome == Outcome::kStopsCleanly;
  return {fmt::format("the run ended before fault {} could fire: fault {} "
                      "stopped the job at step {}, and it was not started "
                      "again (preemption.requeue)",
                      idle.fault.id, notice->id,
                      record.launchers.back().result->steps),
          is_to_stop || !requeue
              ? removed
              : fmt::format("{}, or raise preemption.requeue ({}) to {}, so "
                            "that the job starts again after its stop",
                            removed, *requeue, *requeue + more)};
}

// Explains a fault that was not reached because the run refused to train.
IdleReason RefusedBefore(const Outline& outline, const IdleFault& idle) {
  if (!HasRefused(outline.record) ||
      !WasAheadAtTheEnd(outline.record, idle.site())) {
    return {};
  }
  const std::string refusal = ExplainRefusal(outline.record);
  if (refusal.empty()) return {};
  return {fmt::format("the run ended before fault {} could fire: {}",
                      idle.fault.id, refusal),
          LoadableCheckpointRemedy(outline)};
}

IdleReason ReasonFor(const Outline& outline, const Verdict& verdict,
                     const IdleFault& idle, const std::string& show) {
  const Record& record = outline.record;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const auto is_known = [](const IdleReason& reason) {
    return !reason.cause.empty();
  };
  if (IdleReason reason = MissingWorker(record, idle); is_known(reason)) {
    return reason;
  }
  IdleReason ended = EndedIncarnation(outline, idle, all);
  if (FindGaveUp(record) != nullptr) {
    if (is_known(ended)) return ended;
    IdleReason gave_up = GaveUpBefore(outline, verdict, idle, all);
    if (gave_up.next.empty()) {
      gave_up.next = UnreachedPlace(record, idle, show).next;
    }
    return gave_up;
  }
  IdleReason refused = RefusedBefore(outline, idle);
  if (is_known(refused) && refused.next.empty()) {
    refused.next = UnreachedPlace(record, idle, show).next;
  }
  for (IdleReason reason :
       {std::move(refused), StoppedBefore(outline, idle),
        MissingIncarnation(record, idle), MissingFile(record, idle, all),
        MissingLoad(record, idle), std::move(ended)}) {
    if (is_known(reason)) return reason;
  }
  return UnreachedPlace(record, idle, show);
}

const Fault* FindPlanned(const FaultPlan& plan, std::string_view id) {
  const auto found = std::ranges::find(plan.faults, id, &Fault::id);
  return found == plan.faults.end() ? nullptr : &*found;
}

// Returns the first occurrence of the fault; null if it never fired.
const FaultOccurrence* FirstOccurrence(const Outline& outline,
                                       std::string_view id) {
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (occurrence.fault->id == id) return &occurrence;
  }
  return nullptr;
}

// Explains the first fault of the plan that never fired. If it waits for
// another fault that never fired either (`after`), explains the first fault of
// this chain that never fired.
IdleReason NeverFired(const Outline& outline, const Verdict& verdict,
                      const FaultPlan& plan, const std::string& show) {
  const auto idle = std::ranges::find_if(plan.faults, [&](const Fault& fault) {
    return FirstOccurrence(outline, fault.id) == nullptr;
  });
  if (idle == plan.faults.end()) return {};
  const Fault* root = &*idle;
  const RecordEvent* after = nullptr;
  while (!root->after.empty()) {
    if (const FaultOccurrence* const before =
            FirstOccurrence(outline, root->after)) {
      after = &before->event();
      break;
    }
    const Fault* const before = FindPlanned(plan, root->after);
    if (before == nullptr) return {};
    root = before;
  }
  IdleReason reason =
      ReasonFor(outline, verdict, {.fault = *root, .after = after}, show);
  if (root != &*idle && !reason.cause.empty()) {
    reason.cause =
        fmt::format("fault {} comes after fault {}, which never fired: {}",
                    idle->id, root->id, reason.cause);
  }
  return reason;
}

// Explains a notice that no worker read before the run ended.
IdleReason UnreadNotice(const Outline& outline) {
  const RunSetup& setup = outline.record.setup;
  for (const FaultOccurrence& notice : outline.occurrences) {
    const RecordFault& fault = *notice.fault;
    if (!GivesNotice(*notice.fault)) continue;
    const int worker = notice.incarnation->worker;
    const int64_t lasted_ns =
        notice.incarnation->events.back().t_ns - notice.event().t_ns;
    const std::string course = fmt::format(
        "the notice of fault {} was not read: worker {} ended {:.3f} s after "
        "it",
        fault.id, worker, Seconds(lasted_ns));
    if (!fault.polled) {
      return {course + ", before it had read it",
              fmt::format("set `at` of fault {} to an earlier step", fault.id)};
    }
    const Duration poll(std::min(lasted_ns, fault.grace_ns) / 10 / 1'000'000 *
                        1'000'000);
    return {fmt::format("{}, before it polled for notices again, which it does "
                        "every {}",
                        course, PollEveryText(setup)),
            fmt::format("lower {} below that time and the grace of fault {} "
                        "({}), such as to {}",
                        PollEveryText(setup), fault.id,
                        DurationToText(Duration(fault.grace_ns)),
                        DurationToText(std::max<Duration>(
                            poll, std::chrono::milliseconds(1))))};
  }
  return {};
}

// Explains a fault whose process exited before the fault killed it.
IdleReason LateKill(const Outline& outline) {
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    const RecordFault& fault = *occurrence.fault;
    const std::vector<RecordEvent>& events = occurrence.incarnation->events;
    const auto exit = std::ranges::find(events, RecordKind::kWorkerExited,
                                        &RecordEvent::kind);
    if (exit == events.end() || !occurrence.traits.ends_incarnation) continue;
    const int64_t lasted_ns = exit->t_ns - occurrence.event().t_ns;
    if (lasted_ns < 0 || lasted_ns >= fault.latency_ns) continue;
    return {fmt::format("fault {} kills worker {} {} after its point, but the "
                        "worker exited {:.3f} s after it",
                        fault.id, occurrence.incarnation->worker,
                        DurationToText(Duration(fault.latency_ns)),
                        Seconds(lasted_ns)),
            fmt::format("lower the latency of fault {} ({}) below that time",
                        fault.id, DurationToText(Duration(fault.latency_ns)))};
  }
  return {};
}

bool HasFinding(const Verdict& verdict, std::string_view finding) {
  return std::ranges::any_of(
      verdict.invariants, [finding](const InvariantReport& report) {
        return std::ranges::find(report.findings, finding, &Finding::name) !=
               report.findings.end();
      });
}

// Explains a run without the restart or the loss that its scenario has
// expectations about: `recomputed_steps`, `epochs_after_restart` or
// `detected_in`. Explains no run that is inconclusive for another reason.
IdleReason NothingLost(const Outline& outline, const CaseResult& result) {
  const Record& record = outline.record;
  const Expectation& expect = record.expect;
  std::vector<std::string_view> keys;
  if (expect.recomputed_steps_max) keys.emplace_back("recomputed_steps");
  if (expect.epochs_after_restart_exactly) {
    keys.emplace_back("epochs_after_restart");
  }
  if (expect.detected_in_max_ns) keys.emplace_back("detected_in");
  const bool is_the_reason =
      std::ranges::any_of(keys, [&result](std::string_view key) {
        return result.verdict.reason.starts_with(
            fmt::format("{}{}", key, kIsExpectedBut));
      });
  if (!is_the_reason || result.verdict.facts.restarts > 0 || !IsDone(record)) {
    return {};
  }
  return {NoRestartText(record),
          fmt::format("remove {} under expect ({}), or add a fault that ends a "
                      "worker (do: crash){}",
                      fmt::join(keys, ", "), PlaceOfExpect(result),
                      expect.outcome == Outcome::kCompletes
                          ? " and set outcome: recovers"
                          : "")};
}

}  // namespace

void ExplainIdleFault(const Record& record, CaseResult& result) {
  const Verdict& verdict = result.verdict;
  if (verdict.kind != VerdictKind::kError) return;
  const Outline outline(record);
  IdleReason reason;
  if (HasFinding(verdict, "never-fired")) {
    const Result<FaultPlan> plan = PlanFromJson(record.plan_json);
    if (!plan.ok()) return;
    reason =
        NeverFired(outline, verdict, *plan, CommandToShow(result, "--all"));
    const bool restarts_too = record.expect.outcome == Outcome::kCompletes &&
                              verdict.facts.restarts > 0;
    if (restarts_too) {
      reason.next +=
          "; the run restarts, so set outcome: recovers under expect";
    }
  } else if (HasFinding(verdict, InfoOf(FindingKind::kUnseen).name)) {
    reason = UnreadNotice(outline);
  } else if (HasFinding(verdict, "no-effect")) {
    reason = LateKill(outline);
  } else {
    reason = NothingLost(outline, result);
  }
  if (reason.cause.empty() && reason.next.empty()) {
    reason.next = AdviceOnInconclusive(record, result);
  }
  result.cause = WithClockOfWorld(std::move(reason.cause), result.world);
  result.summary.next = std::move(reason.next);
}

}  // namespace gauntlet
