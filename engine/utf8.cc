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
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool shown = byte >= 0x80 ? is_utf8 : byte >= ' ' && byte != 0x7f;
    if (shown) {
      escaped += c;
    } else {
      escaped += fmt::format("\\x{:02x}", byte);
    }
  }
  return escaped;
}

}  // namespace gauntlet
