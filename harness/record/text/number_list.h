// Lists of numbers, such as steps and attempts, in sentences.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_NUMBER_LIST_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_NUMBER_LIST_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace gauntlet {

// Returns "1", "1 and 2", "1 to 5 and 13" or "4, 8 and 12": three or more
// consecutive numbers become a range. "" for an empty set.
std::string NumberListText(const std::set<uint64_t>& numbers);

// Returns the list after its noun: "attempt 1", "attempts 1 to 5 and 13".
std::string NumberedText(std::string_view noun,
                         const std::set<uint64_t>& numbers);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_NUMBER_LIST_H_
