#include "tests/harness/mutation/record_edit.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {

const RecordEvent& EventAt(const Record& record, EventPlace place) {
  return record.incarnations[place.incarnation].events[place.index];
}

RecordEvent& EventAt(Record& record, EventPlace place) {
  return record.incarnations[place.incarnation].events[place.index];
}

std::string PlaceText(const Record& record, EventPlace place) {
  const IncarnationEvents& incarnation = record.incarnations[place.incarnation];
  const RecordEvent& event = incarnation.events[place.index];
  std::string text = fmt::format(
      "event {} of worker {}, incarnation {} ({}", place.index,
      incarnation.worker, incarnation.number, RecordKindName(event.kind));
  if (event.step != 0) text += fmt::format(", step {}", event.step);
  if (!event.path.empty()) text += ", " + event.path;
  return text + ")";
}

std::vector<EventPlace> FindPlaces(const Record& record,
                                   const EventFilter& filter) {
  std::vector<EventPlace> places;
  for (size_t incarnation = 0; incarnation < record.incarnations.size();
       ++incarnation) {
    const std::vector<RecordEvent>& events =
        record.incarnations[incarnation].events;
    for (size_t index = 0; index < events.size(); ++index) {
      if (filter(events[index])) places.push_back({incarnation, index});
    }
  }
  return places;
}

std::vector<EventPlace> PlacesOf(const Record& record, RecordKind kind) {
  return FindPlaces(
      record, [kind](const RecordEvent& event) { return event.kind == kind; });
}

std::optional<size_t> FindIndex(const IncarnationEvents& incarnation,
                                RecordKind kind) {
  const auto found =
      std::ranges::find(incarnation.events, kind, &RecordEvent::kind);
  if (found == incarnation.events.end()) return std::nullopt;
  return static_cast<size_t>(found - incarnation.events.begin());
}

void RemoveEvent(Record& record, EventPlace place) {
  std::vector<RecordEvent>& events =
      record.incarnations[place.incarnation].events;
  events.erase(events.begin() + static_cast<ptrdiff_t>(place.index));
}

void InsertEvent(Record& record, EventPlace place, RecordEvent event) {
  std::vector<RecordEvent>& events =
      record.incarnations[place.incarnation].events;
  events.insert(events.begin() + static_cast<ptrdiff_t>(place.index),
                std::move(event));
}

void DelayAllFrom(Record& record, EventPlace place) {
  const int64_t from_ns = EventAt(record, place).t_ns;
  for (size_t incarnation = 0; incarnation < record.incarnations.size();
       ++incarnation) {
    std::vector<RecordEvent>& events = record.incarnations[incarnation].events;
    for (size_t index = 0; index < events.size(); ++index) {
      const bool is_behind = incarnation == place.incarnation
                                 ? index >= place.index
                                 : events[index].t_ns >= from_ns;
      if (is_behind) events[index].t_ns += kHourNs;
    }
  }
  const auto delay = [from_ns](std::vector<RecordEvent>& events) {
    for (RecordEvent& event : events) {
      if (event.t_ns >= from_ns) event.t_ns += kHourNs;
    }
  };
  for (LauncherRun& launcher : record.launchers) delay(launcher.events);
  delay(record.machine);
  record.virtual_seconds += static_cast<double>(kHourNs) / 1e9;
}

void DelayIncarnationFrom(Record& record, EventPlace place) {
  std::vector<RecordEvent>& events =
      record.incarnations[place.incarnation].events;
  for (size_t index = place.index; index < events.size(); ++index) {
    events[index].t_ns += kHourNs;
  }
}

void Renumber(Record& record) {
  struct Numbered {
    int64_t t_ns;    // no earlier than that of the process's previous event
    uint64_t order;  // no lower than that of the process's previous event
    RecordEvent* event;
  };
  std::vector<Numbered> all;
  const auto add = [&all](std::vector<RecordEvent>& events) {
    Numbered last = {.t_ns = 0, .order = 0, .event = nullptr};
    for (RecordEvent& event : events) {
      last = {.t_ns = std::max(last.t_ns, event.t_ns),
              .order = std::max(last.order, event.order),
              .event = &event};
      all.push_back(last);
    }
  };
  for (IncarnationEvents& incarnation : record.incarnations)
    add(incarnation.events);
  for (LauncherRun& launcher : record.launchers) add(launcher.events);
  add(record.machine);
  std::ranges::stable_sort(all, [](const Numbered& a, const Numbered& b) {
    return std::tie(a.t_ns, a.order) < std::tie(b.t_ns, b.order);
  });
  uint64_t order = 0;
  for (const Numbered& one : all) one.event->order = ++order;
}

std::optional<Mutant> EditAny(const Record& record,
                              const std::vector<EventPlace>& places,
                              Choice& choice, const EditAt& edit) {
  if (places.empty()) return std::nullopt;
  Mutant mutant = {.record = record, .place = {}};
  const size_t first = choice.Below(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const EventPlace place = places[(first + i) % places.size()];
    if (!edit(mutant.record, place, choice)) continue;
    mutant.place = PlaceText(record, place);
    return mutant;
  }
  return std::nullopt;
}

}  // namespace gauntlet
