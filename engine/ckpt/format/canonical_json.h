// Parses JSON in the exact layout that this program writes, in which every byte
// except the values is fixed. Returns false for all other text, valid JSON or
// not. Callers then use the strict parser (strict_json.h), which also reports
// what is wrong. So this parser needs no messages and builds no tree.
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

  // Each function takes the named item from the front of the text, or returns
  // false. After false only Take may be called.
  bool Take(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  // As above, for a literal of constant length: avoids a call.
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
  // Takes a number in the form that to_chars writes, within the range of T.
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
  // Takes a string of printable ASCII without its quotes. Only the escapes \"
  // and \\ are accepted. `out` is a view of the text, or of `unescaped` if
  // there are escapes.
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
  // Takes `count` arbitrary characters, or all that are left if they are fewer.
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
