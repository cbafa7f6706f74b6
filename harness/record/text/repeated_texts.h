// Merges repeated events in lists for people. Their texts differ only in
// numbers, such as those of 40 failed saves.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_REPEATED_TEXTS_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_REPEATED_TEXTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns the text up to the first ": ", with "#" in place of each number, list
// or range of numbers: "steps #; saved #" for "steps 3-7; saved 4, 6". So
// similar events give equal texts. The part after ": ", such as an error, may
// differ.
std::string TextWithoutNumbers(std::string_view text);

// Merges the texts: returns the first one, with a range such as "5..80" in
// place of each number that differs between them. If they differ in anything
// else, the result ends with "..." at the first such place. REQUIRES: at least
// one text.
std::string MergedText(const std::vector<std::string>& texts);

// Returns " (38 times until 12.400s)"; the time counts from the first event of
// the run. "" if `times` is 1.
std::string RepetitionNote(size_t times, int64_t until_ns);

struct EventKey {
  std::string emitter;  // worker, host or launcher
  std::string pattern;  // equal for similar events of one emitter
};

// Groups the indices of the events, separately for each emitter. A sequence of
// keys repeats if it occurs at least four times in a row; the order within each
// repetition does not matter. All events of a repeated sequence that have the
// same key form one group. Any other event is a group of its own. Indices in a
// group ascend; groups are ordered by their first index.
std::vector<std::vector<size_t>> GroupRepeated(
    const std::vector<EventKey>& events);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_REPEATED_TEXTS_H_
