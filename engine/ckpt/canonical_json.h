// Reads JSON of which every byte is known beforehand but for the values: what
// this program writes itself, in the way it writes it. Anything else, valid or
// not, is "no", and is then for the strict reader (strict_json.h), which also
// knows what is wrong with it. So this one needs no messages, and no tree.
#ifndef GAUNTLET_ENGINE_CKPT_CANONICAL_JSON_H_
#define GAUNTLET_ENGINE_CKPT_CANONICAL_JSON_H_

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/job/plain_text.h"

namespace gauntlet {

class CanonicalJson {
 public:
  explicit CanonicalJson(std::string_view text) : rest_(text) {}

  // Each takes what it is named after from the front of the text, or says no,
  // after which what is left of the text is of no use but to Take.
  bool Take(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A number as to_chars writes it, within the type.
  template <typename T>
  bool TakeNumber(T& out) {
    const char* const begin = rest_.data();
    const auto [end, error] = std::from_chars(begin, begin + rest_.size(), out);
    if (error != std::errc()) return false;
    const auto size = static_cast<size_t>(end - begin);
    const size_t sign = *begin == '-' ? 1 : 0;
    const bool padded = begin[sign] == '0' && size > 1;
    if (padded) return false;
    rest_.remove_prefix(size);
    return true;
  }
  // A string of ASCII without control characters, its quotes taken off. Of
  // escapes there are \" and \\ only.
  bool TakeString(std::string& out) {
    if (!Take('"')) return false;
    const size_t plain = PlainLength(rest_);
    if (plain == rest_.size()) return false;
    if (rest_[plain] != '"') return rest_[plain] == '\\' && Unescape(out);
    out.assign(rest_.data(), plain);
    rest_.remove_prefix(plain + 1);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  // The same from behind the first quote, character by character.
  bool Unescape(std::string& out) {
    out.clear();
    std::array<char, 256> piece;
    size_t size = 0;
    for (size_t i = 0; i < rest_.size(); ++i) {
      char c = rest_[i];
      if (c == '"') {
        out.append(piece.data(), size);
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (c == '\\') {
        if (++i == rest_.size()) return false;
        c = rest_[i];
        if (c != '"' && c != '\\') return false;
      }
      if (!IsPrintable(c)) return false;
      piece[size++] = c;
      if (size == piece.size()) {
        out.append(piece.data(), size);
        size = 0;
      }
    }
    return false;
  }

  std::string_view rest_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_CANONICAL_JSON_H_
