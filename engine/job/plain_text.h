// Characters that a JSON string holds unescaped.
#ifndef GAUNTLET_ENGINE_JOB_PLAIN_TEXT_H_
#define GAUNTLET_ENGINE_JOB_PLAIN_TEXT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gauntlet {

// Returns true for ASCII except control characters.
constexpr bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }
constexpr bool IsPlain(char c) {
  return IsPrintable(c) && c != '"' && c != '\\';
}

// Returns the number of plain characters before the first other one.
inline size_t PlainLength(std::string_view text) {
  static_assert(std::endian::native == std::endian::little,
                "the first character is the lowest byte");
  constexpr uint64_t kEach = 0x0101010101010101;
  constexpr uint64_t kHighs = kEach * 0x80;
  size_t at = 0;
  // Eight at a time: each character that is not plain sets its high bit.
  // Borrows and carries go upwards, so bits after the first one may be false.
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    const uint64_t quote = word ^ kEach * '"';
    const uint64_t backslash = word ^ kEach * '\\';
    const uint64_t below =
        ((word - kEach * ' ') | (quote - kEach) | (backslash - kEach)) & ~word;
    const uint64_t above = (word + kEach) | word;
    const uint64_t found = (below | above) & kHighs;
    if (found == 0) continue;
    return at + static_cast<size_t>(std::countr_zero(found)) / 8;
  }
  while (at < text.size() && IsPlain(text[at])) ++at;
  return at;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_JOB_PLAIN_TEXT_H_
