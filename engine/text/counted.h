// Counts with their nouns.
#ifndef GAUNTLET_ENGINE_TEXT_COUNTED_H_
#define GAUNTLET_ENGINE_TEXT_COUNTED_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gauntlet {

// Returns "1 case" or "3 cases".
std::string Counted(uint64_t count, std::string_view noun);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TEXT_COUNTED_H_
