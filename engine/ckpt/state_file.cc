#include "engine/ckpt/state_file.h"

#include <algorithm>

#include "engine/ckpt/store_names.h"
#include "engine/ckpt/text_record.h"

namespace gauntlet {
namespace {

constexpr std::string_view kComment =
    "Written by gauntlet. To go back to another checkpoint, set latest to its "
    "name and delete the last line.";

bool HasControlBytes(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const bool of_text = c == '\n' || c == '\t' || c == '\r';
    return !of_text && (static_cast<unsigned char>(c) < ' ' || c == '\x7f');
  });
}

}  // namespace

std::string EncodeStateFile(std::span<const std::string> all) {
  std::vector<TextField> fields;
  if (!all.empty()) fields.push_back({"latest", all.back()});
  for (const std::string& name : all) fields.push_back({"all", name});
  return EncodeTextRecord(kComment, fields);
}

StateFile ParseStateFile(std::string_view text) {
  const TextRecord record = ParseTextRecord(text);
  StateFile file;
  for (const TextField& field : record.fields) {
    if (field.key == "all") file.all.push_back(field.value);
  }
  const auto latest = record.Find("latest");
  if (!latest) return file;
  // A line that breaks off in the middle of a name, one that is neither (a
  // digest line whose key is damaged), and bytes that no editor leaves are
  // damage, though the digest line is gone too.
  const bool strange =
      std::ranges::any_of(record.fields, [](const TextField& field) {
        return field.key != "latest" && field.key != "all";
      });
  const bool breaks_off =
      record.torn && !CheckpointName::Parse(record.fields.back().value);
  const bool edited = record.digest == DigestLine::kMissing && !breaks_off &&
                      !strange && !HasControlBytes(text);
  if (edited) file.edit = *latest;
  file.damaged = !edited && record.digest != DigestLine::kRight;
  return file;
}

}  // namespace gauntlet
