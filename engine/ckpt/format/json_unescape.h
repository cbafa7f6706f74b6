// Fast decoding of escaped strings in the JSON that this program wrote: a
// manifest has the job as JSON within JSON, with an escape every few
// characters.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_JSON_UNESCAPE_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_JSON_UNESCAPE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gauntlet {

// Decodes a JSON string into `out`; `text` begins after its opening quote.
// Returns the string's length in `text`, closing quote included. Returns
// nullopt if the string does not end, or holds characters other than printable
// ASCII or escapes other than \" and \\; `out` is then unusable.
std::optional<size_t> UnescapeString(std::string_view text, std::string& out);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_JSON_UNESCAPE_H_
