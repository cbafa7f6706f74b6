// Texts whose last line is a digest of all before it: a fuzzer cannot make up
// the digest, so it is put right here.
#ifndef GAUNTLET_TESTS_FUZZ_TARGETS_SIGNED_TEXT_H_
#define GAUNTLET_TESTS_FUZZ_TARGETS_SIGNED_TEXT_H_

#include <string>
#include <string_view>

#include "engine/digest.h"

namespace gauntlet {

// `prefix` and `suffix` stand around the digest: the text without its last
// line of that prefix, if it has one, and with the line that belongs there.
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
