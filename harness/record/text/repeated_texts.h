// Events that repeat, in lists for people: texts that differ only in their
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
// or range of numbers: "steps #; saved #" for "steps 3-7; saved 4, 6". Texts of
// like events are equal; what follows, such as an error, may differ.
std::string TextWithoutNumbers(std::string_view text);

// Returns the first text, with "5..80" in place of numbers that differ between
// the texts; "..." if the texts differ otherwise from there on. REQUIRES: at
// least one text.
std::string MergedText(const std::vector<std::string>& texts);

// Returns " (38 times until 12.400s)", the time since the first event of the
// run; "" if `times` is 1.
std::string RepetitionNote(size_t times, int64_t until_ns);

struct EventKey {
  std::string emitter;  // worker, host or launcher
  std::string pattern;  // equal for like events of the emitter
};

// Groups the indices of the events, separately for each emitter. If a
// sequence of keys occurs at least four times in a row, in any order within the
// sequence, each of its keys is one group, with all occurrences. All other
// indices are groups of their own. Members are ascending; groups are ordered by
// first members.
std::vector<std::vector<size_t>> GroupRepeated(
    const std::vector<EventKey>& events);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_REPEATED_TEXTS_H_
