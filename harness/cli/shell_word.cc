#include "harness/cli/shell_word.h"

#include <algorithm>

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

std::string Escaped(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsControl(c) || byte >= 0x80) {
      // Always two digits: what follows cannot be taken for one more.
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
  if (std::ranges::any_of(text, IsControl)) return Escaped(text);
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
