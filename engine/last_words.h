// Standard error, for what must not wait until somebody reads it: the message
// of a process that is about to end, and what libraries log in between.
#ifndef GAUNTLET_ENGINE_LAST_WORDS_H_
#define GAUNTLET_ENGINE_LAST_WORDS_H_

#include <cstddef>
#include <string_view>

namespace gauntlet {

// What a pipe takes whole; longer texts are cut.
inline constexpr size_t kMaxLastWords = 4096;

// Writes the text to standard error if there is room for it now, else drops it.
// Safe from any thread, and where no memory is left.
void WriteUnlessBlocked(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_LAST_WORDS_H_
