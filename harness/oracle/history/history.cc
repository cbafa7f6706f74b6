#include "harness/oracle/history/history.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Events of one process that are not merged yet.
struct Stream {
  Emitter by;
  std::span<const RecordEvent> left;
};

std::vector<Stream> StreamsOf(const Record& record) {
  using Kind = Emitter::Kind;
  std::vector<Stream> streams;
  const auto add = [&](const Emitter& by, std::span<const RecordEvent> events) {
    if (!events.empty()) streams.push_back({.by = by, .left = events});
  };
  add({.kind = Kind::kMachine}, record.machine);
  for (size_t i = 0; i < record.launchers.size(); ++i) {
    add({.kind = Kind::kLauncher, .incarnation = static_cast<int>(i) + 1},
        record.launchers[i].events);
  }
  for (const IncarnationEvents& incarnation : record.incarnations) {
    add({.kind = Kind::kWorker,
         .worker = incarnation.worker,
         .incarnation = incarnation.number},
        incarnation.events);
  }
  return streams;
}

}  // namespace

std::pair<std::string, std::string> SecondsTexts(int64_t took_ns,
                                                 int64_t limit_ns) {
  constexpr int64_t kMillisecond = 1'000'000;
  std::pair<std::string, std::string> texts;
  int digits = 3;
  // `unit_ns` is the value of the last decimal.
  for (int64_t unit_ns = kMillisecond; unit_ns > 0; unit_ns /= 10, ++digits) {
    texts = {fmt::format("{:.{}f}", Seconds(took_ns), digits),
             fmt::format("{:.{}f}", Seconds(limit_ns), digits)};
    const bool shows_limit =
        limit_ns >= kMillisecond || limit_ns % unit_ns == 0;
    if (shows_limit && texts.first != texts.second) break;
  }
  return texts;
}

std::string NameOf(const Emitter& emitter) {
  switch (emitter.kind) {
    case Emitter::Kind::kLauncher:
      return fmt::format("launcher {}", emitter.incarnation);
    case Emitter::Kind::kMachine:
      return "the machine";
    case Emitter::Kind::kWorker:
      break;
  }
  return fmt::format("worker {}, incarnation {}", emitter.worker,
                     emitter.incarnation);
}

Emitter WorkerAbout(const RecordEvent& event) {
  return {.kind = Emitter::Kind::kWorker,
          .worker = *event.about,
          .incarnation = event.incarnation};
}

std::string EventAtStep(const RecordEvent& event) {
  if (event.kind == RecordKind::kStep) {
    return fmt::format("after step {}", event.step);
  }
  std::string kind(RecordKindName(event.kind));
  std::ranges::replace(kind, '_', ' ');
  return fmt::format("{} at step {}", kind, event.step);
}

std::string Where(const Emitter& emitter, const RecordEvent& event) {
  return fmt::format("{} ({})", EventAtStep(event), NameOf(emitter));
}

bool ComesBefore(const RecordEvent& a, const RecordEvent& b) {
  if (a.order != 0 && b.order != 0) return a.order < b.order;
  return a.t_ns < b.t_ns;
}

std::vector<HistoryEvent> HistoryOf(const Record& record) {
  std::vector<Stream> streams = StreamsOf(record);
  std::vector<HistoryEvent> history;
  const auto is_later = [&](size_t a, size_t b) {
    return ComesBefore(streams[b].left.front(), streams[a].left.front());
  };
  std::vector<size_t> heap;  // stream indices; the next event's on top
  for (size_t i = 0; i < streams.size(); ++i) heap.push_back(i);
  std::ranges::make_heap(heap, is_later);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, is_later);
    Stream& next = streams[heap.back()];
    history.push_back({.by = next.by, .event = &next.left.front()});
    next.left = next.left.subspan(1);
    if (next.left.empty()) {
      heap.pop_back();
    } else {
      std::ranges::push_heap(heap, is_later);
    }
  }
  return history;
}

}  // namespace gauntlet
