// Texts whose last line is a digest of all text before it. A fuzzer cannot
// guess the digest, so SignedText corrects it.
#ifndef GAUNTLET_TESTS_FUZZ_TARGETS_SIGNED_TEXT_H_
#define GAUNTLET_TESTS_FUZZ_TARGETS_SIGNED_TEXT_H_

#include <string>
#include <string_view>

#include "engine/digest.h"

namespace gauntlet {

// Returns the text before the last occurrence of `prefix`, followed by a
// correct digest line: `prefix`, the digest, `suffix`.
inline std::string SignedText(std::string_view text, std::string_view prefix,
                              std::string_view suffix) {
  const size_t line = text.rfind(prefix);
  std::string body(text.substr(0, line));
  if (!body.empty() && body.back() != '\n') body += '\n';
  const std::string digest = DigestOf(body).ToString();
  return body.append(prefix).append(digest).append(suffix);
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_FUZZ_TARGETS_SIGNED_TEXT_H_
