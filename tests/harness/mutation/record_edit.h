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
  size_t incarnation = 0;  // index in Record::incarnations
  size_t index = 0;
};

const RecordEvent& EventAt(const Record& record, EventPlace place);
RecordEvent& EventAt(Record& record, EventPlace place);
// Returns text like "event 17 of worker 1, incarnation 2 (step 8)".
std::string PlaceText(const Record& record, EventPlace place);

using EventFilter = std::function<bool(const RecordEvent&)>;
// Returns the places of all events that the filter accepts.
std::vector<EventPlace> FindPlaces(const Record& record,
                                   const EventFilter& filter);
std::vector<EventPlace> PlacesOf(const Record& record, RecordKind kind);
// Returns the first event of the kind in the incarnation; nullopt if there is
// none.
std::optional<size_t> FindIndex(const IncarnationEvents& incarnation,
                                RecordKind kind);

void RemoveEvent(Record& record, EventPlace place);
// Inserts the event before the one at the place. The place may be the end of
// the incarnation.
void InsertEvent(Record& record, EventPlace place, RecordEvent event);

// Delays the event by an hour, together with all events after it in its
// incarnation, and all events of other processes at or after its time.
void DelayAllFrom(Record& record, EventPlace place);
// Delays only the event and those after it in its incarnation.
void DelayIncarnationFrom(Record& record, EventPlace place);

// Renumbers all events by time, keeping each process's order. Inserted and
// moved events get the numbers that their times and neighbours imply.
void Renumber(Record& record);

// Changes a record at a place. Returns false, without changing the record, if
// there is nothing to change.
using EditAt = std::function<bool(Record&, EventPlace, Choice&)>;
// Applies the edit at one place. Tries the places in turn, from a randomly
// chosen one on, until the edit returns true. Returns nullopt if it never does.
std::optional<Mutant> EditAny(const Record& record,
                              const std::vector<EventPlace>& places,
                              Choice& choice, const EditAt& edit);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_RECORD_EDIT_H_
