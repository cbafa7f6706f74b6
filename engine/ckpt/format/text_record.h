// Small text files that a person can read: "key: value" lines, and as the last
// line a digest of all bytes before it.
//
//   # a comment
//   key: value
//   xxh3_128: 0123456789abcdef0123456789abcdef
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_TEXT_RECORD_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_TEXT_RECORD_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace gauntlet {

// The whole text as a decimal number that T can hold.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

// Views into the text that it was read from.
struct TextField {
  std::string_view key;
  std::string_view value;
};

// The key of the last line.
inline constexpr std::string_view kDigestKey = "xxh3_128";

enum class DigestLine : uint8_t {
  kRight,    // the file is as it was written
  kWrong,    // there is one, of other bytes
  kMissing,  // the last line is something else
};

struct TextRecord {
  std::vector<TextField> fields;  // in order; without the digest
  DigestLine digest = DigestLine::kMissing;
  bool torn = false;  // the last line has no end

  // The value of the first field of that name.
  std::optional<std::string_view> Find(std::string_view key) const;
};

// Writes one, line by line.
class TextRecordWriter {
 public:
  // REQUIRES: no line ends in it; it may be empty.
  explicit TextRecordWriter(std::string_view comment);
  // REQUIRES: no line ends in either.
  void Field(std::string_view key, std::string_view value);
  // Returns the text, with the digest line at its end.
  std::string Finish() &&;

 private:
  std::string text_;
};

// The last line of a file with these lines before it.
std::string DigestLineOf(std::string_view before);

// One line, with or without its end; views into it. A comment or a blank line
// has neither key nor value; text without a colon is a value without a key.
TextField ParseTextLine(std::string_view line);

// Takes any bytes, which are to outlive the record. Lines that are no "key:
// value" become fields without a key.
TextRecord ParseTextRecord(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_TEXT_RECORD_H_
