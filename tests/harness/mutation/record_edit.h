// Places in a record, and changes at them.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_EDIT_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_EDIT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/harness/mutation/record_mutation.h"

namespace gauntlet {

inline constexpr int64_t kHourNs = 3'600'000'000'000;

// An event of a record, by its indices.
struct EventPlace {
  size_t life = 0;  // in Record::lives
  size_t index = 0;
};

const RecordEvent& EventAt(const Record& record, EventPlace place);
RecordEvent& EventAt(Record& record, EventPlace place);
// "event 17 of worker 1, incarnation 2 (step 8)".
std::string PlaceText(const Record& record, EventPlace place);

using EventFilter = std::function<bool(const RecordEvent&)>;
// Places of all events that the filter accepts.
std::vector<EventPlace> FindPlaces(const Record& record,
                                   const EventFilter& filter);
std::vector<EventPlace> PlacesOf(const Record& record, RecordKind kind);
// First event of the kind in the life; nullopt: none.
std::optional<size_t> FindIndex(const LifeEvents& life, RecordKind kind);

void RemoveEvent(Record& record, EventPlace place);
// Inserts the event before the one at the place, or behind the last one.
void InsertEvent(Record& record, EventPlace place, RecordEvent event);

// Moves the event, those behind it in its life, and those of other lives at or
// after its time by an hour: nothing happens for so long.
void DelayAllFrom(Record& record, EventPlace place);
// Moves only the event and those behind it in its life.
void DelayLifeFrom(Record& record, EventPlace place);

// Numbers all events anew, by time and in each process's order: what was put in
// or moved is at the place that its time and its neighbours give it.
void Renumber(Record& record);

// Changes a record at a place. Returns false, with the record as it was, if
// there is nothing to change.
using EditAt = std::function<bool(Record&, EventPlace, Choice&)>;
// Applies the edit at the first place where it can be applied, beginning with a
// chosen one.
std::optional<Mutant> EditAny(const Record& record,
                              const std::vector<EventPlace>& places,
                              Choice& choice, const EditAt& edit);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_EDIT_H_
