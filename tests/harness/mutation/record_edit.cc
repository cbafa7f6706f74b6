#include "tests/harness/mutation/record_edit.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {

const RecordEvent& EventAt(const Record& record, EventPlace place) {
  return record.lives[place.life].events[place.index];
}

RecordEvent& EventAt(Record& record, EventPlace place) {
  return record.lives[place.life].events[place.index];
}

std::string PlaceText(const Record& record, EventPlace place) {
  const LifeEvents& life = record.lives[place.life];
  const RecordEvent& event = life.events[place.index];
  std::string text =
      fmt::format("event {} of worker {}, incarnation {} ({}", place.index,
                  life.worker, life.life, RecordKindName(event.kind));
  if (event.step != 0) text += fmt::format(", step {}", event.step);
  if (!event.path.empty()) text += ", " + event.path;
  return text + ")";
}

std::vector<EventPlace> FindPlaces(const Record& record,
                                   const EventFilter& filter) {
  std::vector<EventPlace> places;
  for (size_t life = 0; life < record.lives.size(); ++life) {
    const std::vector<RecordEvent>& events = record.lives[life].events;
    for (size_t index = 0; index < events.size(); ++index) {
      if (filter(events[index])) places.push_back({life, index});
    }
  }
  return places;
}

std::vector<EventPlace> PlacesOf(const Record& record, RecordKind kind) {
  return FindPlaces(
      record, [kind](const RecordEvent& event) { return event.kind == kind; });
}

std::optional<size_t> FindIndex(const LifeEvents& life, RecordKind kind) {
  const auto found = std::ranges::find(life.events, kind, &RecordEvent::kind);
  if (found == life.events.end()) return std::nullopt;
  return static_cast<size_t>(found - life.events.begin());
}

void RemoveEvent(Record& record, EventPlace place) {
  std::vector<RecordEvent>& events = record.lives[place.life].events;
  events.erase(events.begin() + static_cast<ptrdiff_t>(place.index));
}

void InsertEvent(Record& record, EventPlace place, RecordEvent event) {
  std::vector<RecordEvent>& events = record.lives[place.life].events;
  events.insert(events.begin() + static_cast<ptrdiff_t>(place.index),
                std::move(event));
}

void DelayAllFrom(Record& record, EventPlace place) {
  const int64_t from_ns = EventAt(record, place).t_ns;
  for (size_t life = 0; life < record.lives.size(); ++life) {
    std::vector<RecordEvent>& events = record.lives[life].events;
    for (size_t index = 0; index < events.size(); ++index) {
      const bool is_behind = life == place.life ? index >= place.index
                                                : events[index].t_ns >= from_ns;
      if (is_behind) events[index].t_ns += kHourNs;
    }
  }
  record.virtual_seconds += static_cast<double>(kHourNs) / 1e9;
}

void DelayLifeFrom(Record& record, EventPlace place) {
  std::vector<RecordEvent>& events = record.lives[place.life].events;
  for (size_t index = place.index; index < events.size(); ++index) {
    events[index].t_ns += kHourNs;
  }
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
