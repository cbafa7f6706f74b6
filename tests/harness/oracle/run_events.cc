#include "tests/harness/oracle/run_events.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace gauntlet {
namespace {

std::vector<RecordEvent>& EventsOf(Record& record, const Emitter& by) {
  if (by.kind == Emitter::Kind::kMachine) return record.machine;
  if (by.kind == Emitter::Kind::kLauncher) {
    const auto index = static_cast<size_t>(by.incarnation) - 1;
    if (record.launchers.size() <= index) record.launchers.resize(index + 1);
    return record.launchers[index].events;
  }
  const auto place = std::ranges::find_if(
      record.incarnations, [&](const IncarnationEvents& incarnation) {
        return incarnation.worker == by.worker &&
               incarnation.number == by.incarnation;
      });
  if (place != record.incarnations.end()) return place->events;
  record.incarnations.push_back(
      {.worker = by.worker, .number = by.incarnation, .events = {}});
  return record.incarnations.back().events;
}

}  // namespace

void RunEvents::Append(const Emitter& by, RecordEvent event) {
  all_.push_back({.by = by, .event = std::move(event)});
}

size_t RunEvents::IndexOf(const Emitter& by, RecordKind kind,
                          size_t nth) const {
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].by == by && all_[i].event.kind == kind && nth-- == 0) return i;
  }
  std::fprintf(stderr, "no such event: %s of %s\n",
               std::string(RecordKindName(kind)).c_str(), NameOf(by).c_str());
  std::abort();
}

RecordEvent& RunEvents::At(const Emitter& by, RecordKind kind, size_t nth) {
  return all_[IndexOf(by, kind, nth)].event;
}

void RunEvents::Remove(const Emitter& by, RecordKind kind, size_t nth) {
  all_.erase(all_.begin() +
             static_cast<std::ptrdiff_t>(IndexOf(by, kind, nth)));
}

void RunEvents::Repeat(const Emitter& by, RecordKind kind, size_t nth) {
  InsertAfter(by, kind, nth, by, At(by, kind, nth));
}

void RunEvents::MoveAfter(const Emitter& by, RecordKind kind,
                          const Emitter& other, RecordKind other_kind,
                          size_t other_nth) {
  const RecordEvent moved = At(by, kind);
  Remove(by, kind);
  InsertAfter(other, other_kind, other_nth, by, moved);
}

void RunEvents::Delay(int64_t ns, const Emitter& by, RecordKind kind,
                      size_t nth) {
  all_[IndexOf(by, kind, nth)].wait_ns += ns;
}

void RunEvents::CutAfter(const Emitter& by, RecordKind kind, size_t nth) {
  all_.resize(IndexOf(by, kind, nth) + 1);
}

void RunEvents::InsertBefore(const Emitter& at, RecordKind kind, size_t nth,
                             const Emitter& by, RecordEvent event) {
  const auto index = static_cast<std::ptrdiff_t>(IndexOf(at, kind, nth));
  all_.insert(all_.begin() + index, {.by = by, .event = std::move(event)});
}

void RunEvents::InsertAfter(const Emitter& at, RecordKind kind, size_t nth,
                            const Emitter& by, RecordEvent event) {
  const auto index = static_cast<std::ptrdiff_t>(IndexOf(at, kind, nth)) + 1;
  all_.insert(all_.begin() + index, {.by = by, .event = std::move(event)});
}

void RunEvents::RemoveIf(
    const std::function<bool(const EmittedEvent&)>& matches) {
  std::erase_if(all_, matches);
}

void RunEvents::AddTo(Record& record) const {
  int64_t now = 0;
  uint64_t order = 0;
  for (const EmittedEvent& one : all_) {
    RecordEvent event = one.event;
    event.t_ns = now += one.wait_ns;
    event.order = ++order;
    EventsOf(record, one.by).push_back(std::move(event));
  }
  std::ranges::sort(record.incarnations, {},
                    [](const IncarnationEvents& incarnation) {
                      return std::pair(incarnation.worker, incarnation.number);
                    });
}

}  // namespace gauntlet
