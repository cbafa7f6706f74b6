// Text is UTF-8 wherever it is stored or sent: paths, scenarios, records.
#ifndef GAUNTLET_ENGINE_UTF8_H_
#define GAUNTLET_ENGINE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace gauntlet {

// Returns true iff the text is UTF-8: shortest forms only, no surrogates,
// nothing above U+10FFFF.
bool IsUtf8(std::string_view text);

// The longest beginning of at most `max_bytes` that ends with a whole
// character.
std::string_view TruncateUtf8(std::string_view text, size_t max_bytes);

// The text with \xNN for each control character and, if it is not UTF-8, for
// each byte beyond ASCII.
std::string EscapeBytes(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_UTF8_H_
