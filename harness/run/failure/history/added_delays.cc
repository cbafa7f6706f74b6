#include "harness/run/failure/history/added_delays.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/text/counted.h"
#include "engine/text/units.h"
#include "harness/oracle/history/fault_traits.h"
#include "harness/oracle/history/history.h"
#include "harness/record/fault_occurrence.h"
#include "harness/run/failure/history/wait_limit.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Collects the delays that end after a wait began, until its end.
class DelayCollector {
 public:
  DelayCollector(int64_t from_ns, int64_t until_ns)
      : from_ns_(from_ns), until_ns_(until_ns) {}

  void Add(const RecordFault& fault, int worker, int64_t t_ns,
           int64_t delay_ns) {
    if (delay_ns <= 0 || t_ns > until_ns_ || t_ns + delay_ns <= from_ns_) {
      return;
    }
    auto sum = std::ranges::find(sums_, &fault, &DelaySum::fault);
    if (sum == sums_.end()) {
      sum = sums_.insert(sum, {.fault = &fault, .worker = worker});
    }
    ++sum->count;
    sum->longest_ns = std::max(sum->longest_ns, delay_ns);
    sum->total_ns += delay_ns;
  }

  int64_t Total() const {
    int64_t total_ns = 0;
    for (const DelaySum& sum : sums_) total_ns += sum.total_ns;
    return total_ns;
  }

  // Returns true iff only several delays exceed the limit.
  bool Exceeds(int64_t limit_ns) const {
    return Total() > limit_ns &&
           std::ranges::all_of(sums_, [limit_ns](const DelaySum& sum) {
             return sum.longest_ns <= limit_ns;
           });
  }

  std::vector<DelaySum> Take() && { return std::move(sums_); }

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
    delays.Add(*fault, -1, event.t_ns, event.limit_ns);
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
    delays.Add(*fault, incarnation.worker, event.t_ns, DelayOf(*fault));
  }
}

std::string DelaySumText(const DelaySum& sum) {
  const auto time = [](int64_t ns) { return DurationToText(Duration(ns)); };
  const bool are_equal =
      sum.total_ns == sum.longest_ns * static_cast<int64_t>(sum.count);
  const std::string each =
      are_equal ? fmt::format("{} each, {} in all", time(sum.longest_ns),
                              time(sum.total_ns))
                : fmt::format("up to {:.3f} s each, {:.3f} s in all",
                              Seconds(sum.longest_ns), Seconds(sum.total_ns));
  if (sum.worker < 0) {
    return fmt::format(
        "fault {} made {} late during the wait ({}), and an exchange needs "
        "several frames one after another",
        sum.fault->id, Counted(sum.count, "frame"), each);
  }
  return fmt::format("fault {} fired {} in worker {} during the wait ({})",
                     sum.fault->id, Counted(sum.count, "time"), sum.worker,
                     each);
}

}  // namespace

int64_t DelayOf(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  if (!traits.DelaysTask() && traits.hinders != HinderedPart::kDevice) return 0;
  return traits.lasts ? fault.duration_ns : fault.latency_ns;
}

std::vector<DelaySum> AddedDelays(const Record& record, const FirstSign& sign) {
  if (sign.event == nullptr || sign.event->kind != RecordKind::kWorkerLost) {
    return {};
  }
  const std::optional<WaitLimit> wait =
      LimitOfLoss(record.setup, sign.emitter, *sign.event);
  if (!wait) return {};
  const int64_t until_ns = sign.event->t_ns;
  const int64_t from_ns = until_ns - wait->total_ns();
  // Delays of different processes pass at the same time.
  for (const IncarnationEvents& incarnation : record.incarnations) {
    DelayCollector delays(from_ns, until_ns);
    AddTasks(record, incarnation, delays);
    if (delays.Exceeds(wait->total_ns())) return std::move(delays).Take();
  }
  DelayCollector frames(from_ns, until_ns);
  AddFrames(record, record.machine, frames);
  for (const IncarnationEvents& incarnation : record.incarnations) {
    AddFrames(record, incarnation.events, frames);
  }
  if (frames.Exceeds(wait->total_ns())) return std::move(frames).Take();
  return {};
}

std::string AddedDelaysText(const Record& record, const FirstSign& sign) {
  std::vector<std::string> texts;
  for (const DelaySum& sum : AddedDelays(record, sign)) {
    texts.push_back(DelaySumText(sum));
  }
  if (texts.empty()) return "";
  return fmt::format(", as delays add up: {}", fmt::join(texts, ", and "));
}

}  // namespace gauntlet
