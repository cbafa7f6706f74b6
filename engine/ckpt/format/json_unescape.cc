#include "engine/ckpt/format/json_unescape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "engine/job/plain_text.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gauntlet {
namespace {

// Characters are classified 64 at a time, one bit each; the lowest bit is the
// first character.
constexpr size_t kBlock = 64;
// Runs of characters are copied 16 at a time, so up to 16 more bytes must be
// readable and writable after each run.
constexpr size_t kPiece = 16;

struct Marks {
  uint64_t quotes = 0;
  uint64_t backslashes = 0;
  uint64_t unprintable = 0;
};

#if defined(__SSE2__)
Marks MarksOf(const char* block) {
  Marks marks;
  for (size_t at = 0; at < kBlock; at += 16) {
    const __m128i text =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    const auto put = [at](__m128i found, uint64_t& into) {
      into |=
          static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(found)))
          << at;
    };
    put(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')), marks.quotes);
    put(_mm_cmpeq_epi8(text, _mm_set1_epi8('\\')), marks.backslashes);
    // As signed numbers, all non-ASCII bytes are less than ' '.
    put(_mm_or_si128(_mm_cmplt_epi8(text, _mm_set1_epi8(' ')),
                     _mm_cmpgt_epi8(text, _mm_set1_epi8('~'))),
        marks.unprintable);
  }
  return marks;
}
#else
Marks MarksOf(const char* block) {
  Marks marks;
  for (size_t i = 0; i < kBlock; ++i) {
    marks.quotes |= uint64_t{block[i] == '"'} << i;
    marks.backslashes |= uint64_t{block[i] == '\\'} << i;
    marks.unprintable |= uint64_t{!IsPrintable(block[i])} << i;
  }
  return marks;
}
#endif

// Returns the backslashes that begin an escape. The character after such a
// backslash is escaped, and begins no escape itself.
uint64_t Escapes(uint64_t backslashes) {
  const bool apart = (backslashes & backslashes << 1) == 0;
  if (apart) return backslashes;
  uint64_t escapes = 0;
  while (backslashes != 0) {
    const uint64_t first = backslashes & -backslashes;
    escapes |= first;
    backslashes &= ~(first | first << 1);
  }
  return escapes;
}

// Copies the block's first `size` characters, without the marked ones. Returns
// the end of the copy.
char* CopyWithout(uint64_t marked, const char* block, size_t size, char* to) {
  size_t from = 0;
  const auto copy_until = [&](size_t end) {
    for (size_t at = from; at < end; at += kPiece) {
      std::memcpy(to + (at - from), block + at, kPiece);
    }
    to += end - from;
    from = end + 1;
  };
  for (; marked != 0; marked &= marked - 1) {
    copy_until(static_cast<size_t>(std::countr_zero(marked)));
  }
  if (from < size) copy_until(size);
  return to;
}

}  // namespace

std::optional<size_t> UnescapeString(std::string_view text, std::string& out) {
  out.clear();
  size_t written = 0;
  uint64_t escaped_first = 0;  // 1: the block before ends within an escape
  for (size_t at = 0; at < text.size(); at += kBlock) {
    out.resize(written + kBlock + kPiece);
    const char* block = text.data() + at;
    std::array<char, kBlock + kPiece> last;
    if (text.size() - at < last.size()) {
      // Pads the text with '\0', which is not printable.
      last.fill('\0');
      std::memcpy(last.data(), block, std::min(kBlock, text.size() - at));
      block = last.data();
    }
    const Marks marks = MarksOf(block);
    const uint64_t escapes = Escapes(marks.backslashes & ~escaped_first);
    const uint64_t escaped = escapes << 1 | escaped_first;
    escaped_first = escapes >> (kBlock - 1);
    const uint64_t ends = marks.quotes & ~escaped;
    const size_t end = static_cast<size_t>(std::countr_zero(ends));
    const uint64_t within = ends == 0 ? ~uint64_t{0} : (uint64_t{1} << end) - 1;
    const uint64_t wrong =
        marks.unprintable | (escaped & ~(marks.quotes | marks.backslashes));
    if ((wrong & within) != 0) return std::nullopt;
    char* const to = out.data() + written;
    written +=
        static_cast<size_t>(CopyWithout(escapes & within, block, end, to) - to);
    if (ends == 0) continue;
    out.resize(written);
    return at + end + 1;
  }
  return std::nullopt;
}

}  // namespace gauntlet
