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

// Returns the longest prefix of at most `max_bytes` that does not split a
// character.
std::string_view TruncateUtf8(std::string_view text, size_t max_bytes);

// Returns the text with \xNN in place of each byte of a control character, a
// line separator or a mark that changes the writing direction. If the text is
// not UTF-8, each byte beyond ASCII is replaced as well.
std::string EscapeBytes(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_UTF8_H_
