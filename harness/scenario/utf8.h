// What is text: scenarios, records and results are in UTF-8.
#ifndef GAUNTLET_HARNESS_SCENARIO_UTF8_H_
#define GAUNTLET_HARNESS_SCENARIO_UTF8_H_

#include <string_view>

namespace gauntlet {

// Whether every byte belongs to a character of UTF-8 (its form; not whether
// somebody uses it).
bool IsUtf8(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_UTF8_H_
