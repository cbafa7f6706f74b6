#include "harness/run/files/shell_word.h"

#include <algorithm>

#include "engine/utf8.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "_-./:,=+@%";

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// Returns true iff the text can be printed unchanged: it is UTF-8 without
// control characters. Control characters with two bytes (U+0080 to U+009F) are
// excluded too, because they can also move a cursor.
bool IsPrintable(std::string_view text) {
  if (!IsUtf8(text) || std::ranges::any_of(text, IsControl)) return false;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\xc2' && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      return false;
    }
  }
  return true;
}

std::string Escaped(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsControl(c) || byte >= 0x80) {
      // Writes two digits in any case. Otherwise a digit that follows could be
      // taken for a part of the number.
      word += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '\'' || c == '\\') word += '\\';
      word += c;
    }
  }
  return word + "'";
}

}  // namespace

std::string ShellWord(std::string_view text) {
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) {
    return std::string(text);
  }
  if (!IsPrintable(text)) return Escaped(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace gauntlet
