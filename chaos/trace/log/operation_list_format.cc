#include "chaos/trace/log/operation_list_format.h"

#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/check.h"
#include "engine/digest.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "gauntlet operations\n";
constexpr uint32_t kVersion = 1;
constexpr size_t kDigestBytes = 16;

class Encoder {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) {
    std::array<char, sizeof value> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    text_.append(bytes.data(), bytes.size());
  }
  void operator()(const Duration& value) { (*this)(value.count()); }
  void operator()(const std::string& text) {
    CHECK(text.size() <= std::numeric_limits<uint32_t>::max(),
          "text of a path");
    (*this)(static_cast<uint32_t>(text.size()));
    text_ += text;
  }

  std::string& text() { return text_; }

 private:
  std::string text_;
};

// Decodes items; returns zeros from the first missing item on.
class Decoder {
 public:
  explicit Decoder(std::string_view text) : text_(text) {}

  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) {
    const std::string_view bytes = Take(sizeof value);
    if (bytes.empty()) return;
    if constexpr (std::same_as<T, bool>) {
      value = bytes[0] != 0;
    } else {
      std::memcpy(&value, bytes.data(), sizeof value);
    }
  }
  void operator()(Duration& value) {
    Duration::rep count = 0;
    (*this)(count);
    value = Duration(count);
  }
  void operator()(std::string& text) {
    uint32_t size = 0;
    (*this)(size);
    text = Take(size);
  }

  // Returns the next number of items. Rejects one that exceeds the length of
  // the remaining text, as each item takes at least a byte.
  uint64_t Count() {
    uint64_t count = 0;
    (*this)(count);
    if (count > text_.size()) is_cut_ = true;
    return is_cut_ ? 0 : count;
  }
  bool is_cut() const { return is_cut_; }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view Take(size_t size) {
    if (is_cut_ || size > text_.size()) {
      is_cut_ = true;
      return {};
    }
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }

  std::string_view text_;
  bool is_cut_ = false;
};

// Encodes or decodes field by field.
template <typename Coder, typename Name>
void CodeFileName(Coder& code, Name& name) {
  code(name.directory);
  code(name.path);
}

template <typename Coder, typename Operation>
void CodeOperation(Coder& code, Operation& op) {
  code(op.kind);
  code(op.implied);
  code(op.by_mapping);
  code(op.call);
  code(op.begin);
  code(op.end);
  code(op.time);
  code(op.process);
  code(op.thread);
  code(op.rank);
  code(op.file);
  CodeFileName(code, op.name);
  CodeFileName(code, op.to);
  code(op.target);
  code(op.offset);
  code(op.length);
  code(op.bytes.offset);
  code(op.bytes.length);
  code(op.bytes.digest);
  code(op.mode);
  code(op.flags);
  code(op.access_time);
  code(op.modification_time);
}

// Returns false for a path that could lead out of the directory, or contains a
// zero byte.
bool IsBelowItsDirectory(std::string_view path) {
  if (path.empty() || path == ".") return true;
  if (path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// Returns what is wrong with an operation; empty: nothing.
std::string_view FaultOf(const FileOperation& op, const OperationList& list) {
  if (op.kind > kLastOperationKind) return "has no kind";
  if (op.file > list.files.size()) return "is of no file";
  for (const FileName* const name : {&op.name, &op.to}) {
    if (name->directory >= list.directories.size()) return "has no directory";
    if (!IsBelowItsDirectory(name->path)) return "leaves its directory";
  }
  if (op.bytes.length > list.byte_count ||
      op.bytes.offset > list.byte_count - op.bytes.length) {
    return "has bytes that are not there";
  }
  return "";
}

std::string DigestText(std::string_view text) {
  const Digest digest = DigestOf(text);
  Encoder encoder;
  encoder(digest.high);
  encoder(digest.low);
  return encoder.text();
}

}  // namespace

std::string EncodeOperationList(const OperationList& list) {
  Encoder encoder;
  encoder.text() = kMagic;
  encoder(kVersion);
  encoder(uint64_t{list.directories.size()});
  for (const std::string& directory : list.directories) encoder(directory);
  encoder(list.start_time);
  encoder(list.byte_count);
  encoder(uint64_t{list.files.size()});
  for (const FileIdentity& file : list.files) {
    encoder(file.device);
    encoder(file.inode);
  }
  encoder(uint64_t{list.operations.size()});
  for (const FileOperation& op : list.operations) CodeOperation(encoder, op);
  encoder.text() += DigestText(encoder.text());
  return encoder.text();
}

Result<OperationList> DecodeOperationList(std::string_view text,
                                          std::string_view path) {
  const auto refused = [&](std::string_view why) {
    return DataLoss(fmt::format("{}: {}: record again", path, why));
  };
  if (!text.starts_with(kMagic)) return refused("not a list of operations");
  uint32_t version = 0;
  Decoder head(text.substr(kMagic.size()));
  head(version);
  if (!head.is_cut() && version != kVersion) {
    return refused(
        fmt::format("expected version {}, found {}", kVersion, version));
  }
  if (text.size() < kDigestBytes ||
      text.substr(text.size() - kDigestBytes) !=
          DigestText(text.substr(0, text.size() - kDigestBytes))) {
    return refused("cut or changed");
  }
  text.remove_suffix(kDigestBytes);
  Decoder decoder(text.substr(kMagic.size() + sizeof version));
  OperationList list;
  for (uint64_t left = decoder.Count(); left > 0 && !decoder.is_cut(); --left) {
    decoder(list.directories.emplace_back());
  }
  decoder(list.start_time);
  decoder(list.byte_count);
  for (uint64_t left = decoder.Count(); left > 0 && !decoder.is_cut(); --left) {
    FileIdentity& file = list.files.emplace_back();
    decoder(file.device);
    decoder(file.inode);
  }
  for (uint64_t left = decoder.Count(); left > 0 && !decoder.is_cut(); --left) {
    CodeOperation(decoder, list.operations.emplace_back());
  }
  if (decoder.is_cut() || !decoder.at_end()) return refused("cut or changed");
  for (size_t i = 0; i < list.operations.size(); ++i) {
    const std::string_view fault = FaultOf(list.operations[i], list);
    if (!fault.empty()) {
      return refused(fmt::format("operation {} {}", i + 1, fault));
    }
  }
  return list;
}

}  // namespace gauntlet
