#include "engine/ckpt/state_file.h"

#include <algorithm>
#include <bit>
#include <utility>

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

// A wish differs from every cut and every flipped bit of a file as it was
// written: whole to its last line, every line what it says it is, the digest
// line nowhere, not even behind another one, and `latest`, which stands last,
// another than the last of `all`.
bool IsEdit(std::string_view text, const TextRecord& record,
            std::string_view latest, const std::vector<std::string>& all) {
  const bool strange =
      std::ranges::any_of(record.fields, [](const TextField& field) {
        if (field.key == "latest") return false;
        return field.key != "all" || !CheckpointName::Parse(field.value);
      });
  return record.digest == DigestLine::kMissing && !record.torn && !strange &&
         !HasControlBytes(text) && text.find(kDigestKey) == text.npos &&
         (all.empty() || all.back() != latest);
}

bool DifferInOneBit(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int bits = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    bits += std::popcount(static_cast<unsigned char>(a[i] ^ b[i]));
  }
  return bits == 1;
}

// Nothing but `latest` is other than it was written, and what it names now is
// no flipped bit.
bool IsHalfEdit(std::string_view text, std::string_view latest,
                const std::vector<std::string>& all) {
  if (all.empty() || latest == all.back() || !CheckpointName::Parse(latest)) {
    return false;
  }
  const std::string written = EncodeStateFile(all);
  return text.ends_with(
             std::string_view(written).substr(written.rfind(kDigestKey))) &&
         !DifferInOneBit(text, written);
}

std::string DamageOf(std::string_view text, const TextRecord& record) {
  if (record.digest == DigestLine::kRight) return "";
  if (text.empty()) return "empty";
  if (record.digest == DigestLine::kWrong) {
    return "its last line is the digest of other bytes";
  }
  return "neither as it was written nor an edit";
}

}  // namespace

std::string EncodeStateFile(std::span<const std::string> all) {
  TextRecordWriter text(kComment);
  for (const std::string& name : all) text.Field("all", name);
  if (!all.empty()) text.Field("latest", all.back());
  return std::move(text).Finish();
}

StateFile ParseStateFile(std::string_view text) {
  const TextRecord record = ParseTextRecord(text);
  StateFile file;
  for (const TextField& field : record.fields) {
    if (field.key == "all") file.all.emplace_back(field.value);
  }
  const auto latest = record.Find("latest");
  if (latest && IsEdit(text, record, *latest, file.all)) file.edit = *latest;
  if (latest && IsHalfEdit(text, *latest, file.all)) file.half_edit = *latest;
  if (!file.edit) file.damage = DamageOf(text, record);
  return file;
}

}  // namespace gauntlet
