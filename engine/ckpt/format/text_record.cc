#include "engine/ckpt/format/text_record.h"

#include <algorithm>
#include <utility>

#include "engine/digest.h"

namespace gauntlet {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string DigestLineOf(std::string_view before) {
  std::string line(kDigestKey);
  return line.append(": ").append(DigestOf(before).ToString()).append("\n");
}

TextField ParseTextLine(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  const std::string_view content = Trim(line);
  if (content.starts_with('#')) return {};
  const size_t colon = content.find(':');
  if (colon == content.npos) return {.key = "", .value = content};
  return {.key = Trim(content.substr(0, colon)),
          .value = Trim(content.substr(colon + 1))};
}

std::optional<std::string_view> TextRecord::Find(std::string_view key) const {
  for (const TextField& field : fields) {
    if (field.key == key) return field.value;
  }
  return std::nullopt;
}

TextRecordWriter::TextRecordWriter(std::string_view comment) {
  if (!comment.empty()) text_.append("# ").append(comment).append("\n");
}

void TextRecordWriter::Field(std::string_view key, std::string_view value) {
  text_.append(key).append(": ").append(value).append("\n");
}

std::string TextRecordWriter::Finish() && {
  text_ += DigestLineOf(text_);
  return std::move(text_);
}

TextRecord ParseTextRecord(std::string_view text) {
  TextRecord record;
  record.torn = !text.empty() && text.back() != '\n';
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const TextField field = ParseTextLine(line);
    if (field.key == kDigestKey) {
      // A digest line can be right only as the last line, as it is the digest
      // of all bytes before it.
      record.digest =
          end == text.size() && line == DigestLineOf(text.substr(0, at))
              ? DigestLine::kRight
              : DigestLine::kWrong;
    } else if (!field.key.empty() || !field.value.empty()) {
      record.fields.push_back(field);
    }
    at = end;
  }
  return record;
}

}  // namespace gauntlet
