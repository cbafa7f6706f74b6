// Small text files that people can read: lines "key: value", and a last line
// with a digest of all bytes before it.
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

// Parses the entire text as a decimal number within the range of T.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

// Views into the parsed text.
struct TextField {
  std::string_view key;
  std::string_view value;
};

// Key of the last line.
inline constexpr std::string_view kDigestKey = "xxh3_128";

enum class DigestLine : uint8_t {
  kRight,    // the file is as it was written
  kWrong,    // the digest is of other bytes
  kMissing,  // the last line has another key
};

struct TextRecord {
  std::vector<TextField> fields;  // in order; without the digest line
  DigestLine digest = DigestLine::kMissing;
  bool torn = false;  // the last line lacks its line end

  // Returns the value of the first field with that key.
  std::optional<std::string_view> Find(std::string_view key) const;
};

// Writes a text record, line by line.
class TextRecordWriter {
 public:
  // REQUIRES: `comment` contains no line end; it may be empty.
  explicit TextRecordWriter(std::string_view comment);
  // REQUIRES: neither contains a line end.
  void Field(std::string_view key, std::string_view value);
  // Returns the text, with the digest line at its end.
  std::string Finish() &&;

 private:
  std::string text_;
};

// Returns the digest line of a file that begins with the bytes `before`.
std::string DigestLineOf(std::string_view before);

// Parses one line, with or without its line end. Returns views into the line. A
// comment or a blank line has neither key nor value; text without a colon is a
// value without a key.
TextField ParseTextLine(std::string_view line);

// Accepts any bytes; they must outlive the record. A line without a colon
// becomes a field without a key. Comments and blank lines are left out.
TextRecord ParseTextRecord(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_TEXT_RECORD_H_
