// Strings with escapes in the JSON that this program wrote, quickly: a manifest
// has the job as JSON within JSON, with an escape every few characters.
#ifndef GAUNTLET_ENGINE_CKPT_JSON_UNESCAPE_H_
#define GAUNTLET_ENGINE_CKPT_JSON_UNESCAPE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gauntlet {

// What a JSON string says that begins before `text`, whose opening quote has
// been taken. Returns how much of the text is the string's, its closing quote
// with it. nullopt: it does not end, or holds other characters than printable
// ASCII or other escapes than \" and \\; `out` is then of no use.
std::optional<size_t> UnescapeString(std::string_view text, std::string& out);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_JSON_UNESCAPE_H_
