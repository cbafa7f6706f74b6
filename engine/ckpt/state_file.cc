#include "engine/ckpt/state_file.h"

#include "engine/ckpt/text_record.h"

namespace gauntlet {
namespace {

constexpr std::string_view kComment =
    "Written by gauntlet. To go back to another checkpoint, set latest to its "
    "name and delete the last line.";

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
  if (record.digest == DigestLine::kMissing) file.edit = *latest;
  file.damaged = record.digest == DigestLine::kWrong;
  return file;
}

}  // namespace gauntlet
