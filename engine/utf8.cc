#include "engine/utf8.h"

#include <cstddef>

#include <fmt/format.h>

namespace gauntlet {
namespace {

unsigned char ByteAt(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool IsContinuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// The second byte reveals overlong forms, surrogates and code points above
// U+10FFFF.
bool IsSecond(unsigned char first, unsigned char second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  if (first == 0xf4) return second < 0x90;
  return true;
}

// Returns the number of bytes of the character that begins with this byte.
size_t SizeOfCharacter(unsigned char first) {
  if (first < 0x80) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// Returns the code point of one UTF-8 character; or, if `character` is one byte
// of text that is not UTF-8, the value of that byte.
char32_t CodePointOf(std::string_view character) {
  char32_t code = ByteAt(character, 0);
  if (character.size() == 1) return code;
  code &= 0x7fU >> character.size();
  for (size_t i = 1; i < character.size(); ++i)
    code = code << 6U | (ByteAt(character, i) & 0x3fU);
  return code;
}

// Returns true for control characters, line separators and marks of the
// direction of writing: they change how a terminal shows the text around them.
bool DistortsText(char32_t code) {
  return code < U' ' || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
         code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return false;
    if (!IsSecond(first, ByteAt(text, i))) return false;
    const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    for (int k = 0; k < more; ++k, ++i) {
      if (!IsContinuation(ByteAt(text, i))) return false;
    }
  }
  return true;
}

std::string_view TruncateUtf8(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && IsContinuation(ByteAt(text, max_bytes))) --max_bytes;
  return text.substr(0, max_bytes);
}

std::string EscapeBytes(std::string_view text) {
  const bool is_utf8 = IsUtf8(text);
  std::string escaped;
  while (!text.empty()) {
    const std::string_view character =
        text.substr(0, is_utf8 ? SizeOfCharacter(ByteAt(text, 0)) : 1);
    text.remove_prefix(character.size());
    const char32_t code = CodePointOf(character);
    if (!DistortsText(code) && (is_utf8 || code < 0x80)) {
      escaped += character;
      continue;
    }
    for (size_t i = 0; i < character.size(); ++i)
      escaped += fmt::format("\\x{:02x}", ByteAt(character, i));
  }
  return escaped;
}

}  // namespace gauntlet
