#include "engine/ckpt/format/state_file.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/format/text_record.h"
#include "engine/digest.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kComment =
    "Written by gauntlet. To go back to another checkpoint, set latest to its "
    "name and delete the last line.";
constexpr std::string_view kAllPrefix = "all: ";
constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

bool HasControlBytes(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const bool of_text = c == '\n' || c == '\t' || c == '\r';
    return !of_text && (static_cast<unsigned char>(c) < ' ' || c == '\x7f');
  });
}

// Returns true if the text begins with the byte order mark that an editor
// writes for UTF-16. One flipped bit in a file of the engine cannot produce
// this mark.
bool IsUtf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

std::string_view Excerpt(std::string_view text) { return text.substr(0, 200); }

int DifferingBits(std::string_view a, std::string_view b) {
  int bits = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    bits += std::popcount(static_cast<unsigned char>(a[i] ^ b[i]));
  }
  return bits;
}

// Flips each bit of the text, from byte `from` on, one at a time. Calls `with`
// while the bit is flipped, with the index of its byte. Stops, and returns
// true, once `with` returns true. The text is unchanged on return.
bool AnyBitFlipOf(std::string& text, size_t from,
                  const std::function<bool(size_t at)>& with) {
  for (size_t at = from; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      const char kept = text[at];
      text[at] = static_cast<char>(kept ^ (1 << bit));
      const bool found = with(at);
      text[at] = kept;
      if (found) return true;
    }
  }
  return false;
}

// Returns true iff the text is a file that the engine wrote, with flipped bits:
// one or two in the lines above the digest line; or at most one there, and a
// few in the digest line. (After an edit by hand, the digest of the text has
// nothing in common with the digest line.) Returns false for long texts, which
// then count as edits: the search would take too long.
bool HasFlippedBits(std::string_view text) {
  constexpr size_t kMostForOne = size_t{1} << 15;
  constexpr size_t kMostForTwo = size_t{1} << 9;
  constexpr int kFew = 8;
  const size_t tail_bytes = kDigestKey.size() + Digest::kDigits + 3;
  if (text.size() < tail_bytes || text.size() > kMostForOne) return false;
  std::string body(text.substr(0, text.size() - tail_bytes));
  const std::string_view tail = text.substr(body.size());
  const auto is_near = [&](size_t) {
    return DifferingBits(tail, DigestLineOf(body)) <= kFew;
  };
  if (is_near(0) || AnyBitFlipOf(body, 0, is_near)) return true;
  if (body.size() > kMostForTwo) return false;
  const auto digest =
      Digest::Parse(tail.substr(kDigestKey.size() + 2, Digest::kDigits));
  if (!digest) return false;
  const auto is_whole = [&](size_t) { return DigestOf(body) == *digest; };
  return AnyBitFlipOf(body, 0, [&](size_t first) {
    return AnyBitFlipOf(body, first, is_whole);
  });
}

// Removes the comment line and all complete "all:" lines after it from the
// text. Returns the names in these lines.
std::vector<std::string> ConsumeCompleteLines(std::string_view& text) {
  std::vector<std::string> names;
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  while (text.starts_with(kAllPrefix)) {
    const size_t end = text.find('\n');
    if (end == text.npos) break;
    names.emplace_back(text.substr(0, end).substr(kAllPrefix.size()));
    text.remove_prefix(end + 1);
  }
  return names;
}

// Returns true iff the text is the beginning of a file that EncodeStateFile
// could have written.
bool IsTruncated(std::string_view text) {
  const std::string header = fmt::format("# {}\n", kComment);
  if (header.starts_with(text)) return true;
  if (!text.starts_with(header)) return false;
  std::string_view rest = text;
  const std::vector<std::string> names = ConsumeCompleteLines(rest);
  if (EncodeStateFile(names).starts_with(text)) return true;
  return rest.find('\n') == rest.npos && !rest.empty() &&
         (rest.starts_with(kAllPrefix) || kAllPrefix.starts_with(rest));
}

// Reads an edited file line by line, and stops at the first line that is
// invalid.
class EditReader {
 public:
  explicit EditReader(std::string_view text) : text_(text) {}

  StateFile Read() {
    if (text_.starts_with(kUtf8Mark)) text_.remove_prefix(kUtf8Mark.size());
    for (size_t at = 0; at < text_.size() && file_.refusal.empty();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      Take(ParseTextLine(text_.substr(at, end - at)));
      at = end + 1;
    }
    if (file_.refusal.empty()) DecideEdit();
    return std::move(file_);
  }

 private:
  void Take(const TextField& field) {
    if (field.key.empty() && field.value.empty()) return;
    if (field.key == kDigestKey) {
      digest_line_ = line_;
      digest_ = field.value;
    } else if (field.key == "all" && CheckpointName::Parse(field.value)) {
      file_.all.emplace_back(field.value);
    } else if (field.key == "all") {
      Refuse(
          fmt::format("all: expected a checkpoint's name, such as "
                      "step-000000020-g1, found \"{}\"",
                      Excerpt(field.value)));
    } else if (field.key == "latest" && file_.edit) {
      Refuse(fmt::format("expected latest once, found it in line {} too",
                         file_.edit->line));
    } else if (field.key == "latest") {
      file_.edit = {.latest = std::string(field.value), .line = line_};
    } else {
      const bool is_pair = !field.key.empty();
      Refuse(fmt::format(
          "expected \"all: NAME\", \"latest: NAME\" or a line "
          "that begins with #, found \"{}{}{}\"",
          Excerpt(field.key), is_pair ? ": " : "", Excerpt(field.value)));
    }
  }

  // Decides whether a person has edited the file to go back to an older
  // checkpoint, and refuses an edit that cannot be applied. REQUIRES: all lines
  // are valid.
  void DecideEdit() {
    const bool unchanged =
        digest_line_ > 0 &&
        EncodeStateFile(file_.all).ends_with(fmt::format(": {}\n", digest_));
    const bool newest = file_.all.empty() ? !file_.edit
                                          : file_.edit && file_.edit->latest ==
                                                              file_.all.back();
    if (unchanged && newest) {
      // Only line ends, blanks or comments have changed, so nothing is
      // requested.
      file_.edit.reset();
    } else if (!file_.edit) {
      file_.refusal = "expected a line \"latest: NAME\", found none";
    } else if (digest_line_ > 0) {
      line_ = digest_line_;
      Refuse(
          fmt::format("the checksum is not that of the lines above it; "
                      "delete this line to go back to {}",
                      Excerpt(file_.edit->latest)));
    }
  }

  void Refuse(std::string_view why) {
    file_.refusal = fmt::format("line {}: {}", line_, why);
    file_.edit.reset();
  }

  std::string_view text_;
  StateFile file_;
  size_t line_ = 0;
  size_t digest_line_ = 0;  // 0: none
  std::string_view digest_;
};

// Reads a file that seems to be truncated. If it ends with a complete `latest`
// line, it may instead be an edit: to go back to that checkpoint, a person has
// removed the newer names and the digest line.
StateFile ParseTruncated(std::string_view text) {
  StateFile file;
  std::string_view rest = text;
  file.all = ConsumeCompleteLines(rest);
  file.damage = "cut off";
  if (file.all.empty()) return file;
  const std::string latest = fmt::format("latest: {}", file.all.back());
  if (rest == latest || rest == latest + "\n") {
    file.edit = {.latest = file.all.back(),
                 .line = file.all.size() + 2,
                 .may_be_truncated = true};
  }
  return file;
}

// Reads a file that is as the engine wrote it, or that has flipped bits.
StateFile ParseUnedited(const TextRecord& record) {
  StateFile file;
  for (const TextField& field : record.fields) {
    if (field.key == "all") file.all.emplace_back(field.value);
  }
  if (record.digest == DigestLine::kRight) return file;
  file.damage = "bits of it are flipped";
  // Refuses the file if `latest` is a name of the list, but not the last one. A
  // person may have edited a single character, and so changed only one or two
  // bits.
  const auto latest = record.Find("latest");
  if (latest && !file.all.empty() && *latest != file.all.back() &&
      std::ranges::find(file.all, *latest) != file.all.end()) {
    file.damage.clear();
    file.refusal = fmt::format(
        "line {}: the checksum is not that of the lines above it; delete this "
        "line to go back to {}",
        file.all.size() + 3, *latest);
  }
  return file;
}

}  // namespace

std::string EncodeStateFile(std::span<const std::string> all) {
  TextRecordWriter text(kComment);
  for (const std::string& name : all) text.Field("all", name);
  if (!all.empty()) text.Field("latest", all.back());
  return std::move(text).Finish();
}

StateFile ParseStateFile(std::string_view text) {
  if (text.empty()) return {.damage = "empty"};
  const TextRecord record = ParseTextRecord(text);
  if (record.digest == DigestLine::kRight || HasFlippedBits(text)) {
    return ParseUnedited(record);
  }
  if (IsUtf16(text)) {
    return {.refusal = "line 1: expected UTF-8, found UTF-16"};
  }
  if (HasControlBytes(text)) return {.damage = "not text"};
  if (IsTruncated(text)) return ParseTruncated(text);
  return EditReader(text).Read();
}

}  // namespace gauntlet
