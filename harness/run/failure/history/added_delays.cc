#include "harness/run/failure/history/added_delays.h"

#include <algorithm>
#include <optional>

#include "engine/text/counted.h"
#include "engine/text/units.h"
#include "harness/oracle/history/history.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/run/failure/history/wait_limit.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Collects the delays that overlap a wait, from `from_ns` to `until_ns`.
class DelayCollector {
 public:
  DelayCollector(int64_t from_ns, int64_t until_ns)
      : from_ns_(from_ns), until_ns_(until_ns) {}

  void Add(const RecordFault& fault, int64_t t_ns, int64_t delay_ns) {
    if (delay_ns <= 0 || t_ns > until_ns_ || t_ns + delay_ns <= from_ns_) {
      return;
    }
    auto sum = std::ranges::find(sums_, &fault, &DelaySum::fault);
    if (sum == sums_.end()) {
      sum = sums_.insert(sum, {.fault = &fault});
    }
    ++sum->count;
    sum->longest_ns = std::max(sum->longest_ns, delay_ns);
    sum->total_ns += delay_ns;
  }

  // Returns the delays if together they exceed the limit and none of them
  // exceeds it alone; else returns none.
  AddedDelays Exceeding(int64_t limit_ns) const {
    const AddedDelays added = {.sums = sums_};
    const bool is_any_longer = std::ranges::any_of(
        sums_,
        [limit_ns](const DelaySum& sum) { return sum.longest_ns > limit_ns; });
    return is_any_longer || added.total_ns() <= limit_ns ? AddedDelays()
                                                         : added;
  }

 private:
  const int64_t from_ns_;
  const int64_t until_ns_;
  std::vector<DelaySum> sums_;  // by fault
};

void AddFrames(const Record& record, const std::vector<RecordEvent>& events,
               DelayCollector& delays) {
  for (const RecordEvent& event : events) {
    if (event.kind != RecordKind::kFrameLate) continue;
    const RecordFault* const fault = FindFault(record, event.detail);
    if (fault == nullptr) continue;
    delays.Add(*fault, event.t_ns, event.limit_ns);
  }
}

void AddTasks(const Record& record, const IncarnationEvents& incarnation,
              DelayCollector& delays) {
  for (const RecordEvent& event : incarnation.events) {
    if (event.kind != RecordKind::kFaultFired &&
        event.kind != RecordKind::kFaultAgain) {
      continue;
    }
    const RecordFault* const fault = FindFault(record, event.detail);
    if (fault == nullptr) continue;
    delays.Add(*fault, event.t_ns, DelayOf(*fault));
  }
}

// Returns the smallest number of frames, sent one after the other, that exceed
// the limit. Assumes that each one is as late as the frame with the longest
// delay. Returns none if an exchange has fewer frames in a row: one to each
// worker, and one from each.
AddedDelays FramesInARow(const AddedDelays& all, int64_t limit_ns,
                         int workers) {
  if (all.sums.empty()) return {};
  AddedDelays added;
  for (const DelaySum& sum : all.sums) added.late_frames += sum.count;
  DelaySum longest =
      *std::ranges::max_element(all.sums, {}, &DelaySum::longest_ns);
  const int64_t in_a_row = limit_ns / longest.longest_ns + 1;
  if (in_a_row > 2 * static_cast<int64_t>(workers)) return {};
  longest.count = static_cast<size_t>(in_a_row);
  longest.total_ns = in_a_row * longest.longest_ns;
  added.sums = {longest};
  return added;
}

std::string DelayLength(int64_t ns) {
  constexpr int64_t kMillisecond = 1'000'000;
  return ns % kMillisecond == 0 ? DurationToText(Duration(ns))
                                : fmt::format("{:.3f} s", Seconds(ns));
}

// Returns "fault s fired 2 times (3s each)".
std::string FiredText(const DelaySum& sum) {
  return fmt::format("fault {} fired {} ({}{})", sum.fault->id,
                     Counted(sum.count, "time"), DelayLength(sum.longest_ns),
                     sum.count == 1 ? "" : " each");
}

std::string LateFramesText(const AddedDelays& added) {
  const DelaySum& sum = added.sums.front();
  return fmt::format(
      "fault {} made {} late during the wait (heartbeats among them), and {} "
      "frames of an exchange, one after the other, take {} ({} each)",
      sum.fault->id, Counted(added.late_frames, "frame"), sum.count,
      DelayLength(sum.total_ns), DelayLength(sum.longest_ns));
}

}  // namespace

int64_t AddedDelays::total_ns() const {
  int64_t total_ns = 0;
  for (const DelaySum& sum : sums) total_ns += sum.total_ns;
  return total_ns;
}

int64_t DelayOf(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  if (!traits.DelaysTask() && traits.hinders != HinderedPart::kDevice) return 0;
  return traits.lasts ? fault.duration_ns : fault.latency_ns;
}

AddedDelays FindAddedDelays(const Record& record, const FirstSign& sign) {
  if (sign.event == nullptr || sign.event->kind != RecordKind::kWorkerLost) {
    return {};
  }
  const std::optional<WaitLimit> wait =
      LimitOfLoss(record.setup, sign.emitter, *sign.event);
  if (!wait) return {};
  const int64_t limit_ns = wait->total_ns();
  const int64_t until_ns = sign.event->t_ns;
  // Adds up only the delays of one process, because those of different
  // processes pass at the same time.
  for (const IncarnationEvents& incarnation : record.incarnations) {
    DelayCollector delays(until_ns - limit_ns, until_ns);
    AddTasks(record, incarnation, delays);
    AddedDelays added = delays.Exceeding(limit_ns);
    added.worker = incarnation.worker;
    if (!added.sums.empty()) return added;
  }
  if (sign.event->reason != RecordReason::kDeadline) return {};
  DelayCollector frames(until_ns - limit_ns, until_ns);
  AddFrames(record, record.machine, frames);
  for (const IncarnationEvents& incarnation : record.incarnations) {
    AddFrames(record, incarnation.events, frames);
  }
  return FramesInARow(frames.Exceeding(limit_ns), limit_ns,
                      record.setup.workers);
}

std::string AddedDelaysText(const Record& record, const FirstSign& sign) {
  const AddedDelays added = FindAddedDelays(record, sign);
  if (added.sums.empty()) return "";
  if (added.late_frames > 0) {
    return ", as delays add up: " + LateFramesText(added);
  }
  std::vector<std::string> texts;
  for (const DelaySum& sum : added.sums) texts.push_back(FiredText(sum));
  return fmt::format(
      ", as delays add up: {} in worker {} during the wait, {} in all",
      fmt::join(texts, " and "), added.worker, DelayLength(added.total_ns()));
}

}  // namespace gauntlet
