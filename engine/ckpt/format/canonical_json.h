// Reads JSON of which every byte is known beforehand but for the values: what
// this program writes itself, in the way it writes it. Anything else, valid or
// not, is "no", and is then for the strict reader (strict_json.h), which also
// knows what is wrong with it. So this one needs no messages, and no tree.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_CANONICAL_JSON_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_CANONICAL_JSON_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "engine/ckpt/format/json_unescape.h"
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
  // The same of a size that the compiler knows: then it takes no call.
  template <size_t N>
  bool Take(const char (&literal)[N]) {
    constexpr size_t kSize = N - 1;
    if (rest_.size() < kSize) return false;
    if (std::memcmp(rest_.data(), literal, kSize) != 0) return false;
    rest_.remove_prefix(kSize);
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
  // escapes there are \" and \\ only. The view is of the text, or of
  // `unescaped` where there are escapes.
  bool TakeString(std::string_view& out, std::string& unescaped) {
    if (!Take('"')) return false;
    const size_t plain = PlainLength(rest_);
    if (plain == rest_.size()) return false;
    if (rest_[plain] != '"') {
      const bool whole = rest_[plain] == '\\' && Unescape(unescaped);
      out = unescaped;
      return whole;
    }
    out = rest_.substr(0, plain);
    rest_.remove_prefix(plain + 1);
    return true;
  }
  bool TakeString(std::string& out) {
    std::string_view view;
    if (!TakeString(view, out)) return false;
    if (view.data() != out.data()) out.assign(view);
    return true;
  }
  // So many characters, whatever they are; fewer at the end of the text.
  std::string_view TakeCharacters(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }

 private:
  bool Unescape(std::string& out) {
    const std::optional<size_t> size = UnescapeString(rest_, out);
    rest_.remove_prefix(size.value_or(0));
    return size.has_value();
  }

  std::string_view rest_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_CANONICAL_JSON_H_
