#include "engine/data/npy_array.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/data/source_file.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr uint64_t kMaxHeader = uint64_t{64} << 10;
constexpr size_t kMaxDimensions = 8;

struct NpyTypeInfo {
  NpyType type;
  std::string_view name;
  size_t bytes;
};
constexpr std::array kTypes = {
    NpyTypeInfo{NpyType::kU1, "|u1", 1}, NpyTypeInfo{NpyType::kI4, "<i4", 4},
    NpyTypeInfo{NpyType::kI8, "<i8", 8}, NpyTypeInfo{NpyType::kF4, "<f4", 4}};

// Returns bytes of a file in a form that can be displayed in a message.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 24;
  std::string shown;
  for (const char c : text.substr(0, kMost)) {
    const bool plain = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
    shown += plain ? std::string(1, c)
                   : fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  }
  return fmt::format("'{}{}'", shown, text.size() > kMost ? "..." : "");
}

// Reads a file from front to back and counts the offset.
class Cursor {
 public:
  Cursor(std::string_view path, std::string_view file)
      : path_(path), file_(file) {}

  size_t offset() const { return offset_; }
  size_t end() const { return file_.size(); }
  std::string_view rest() const { return file_.substr(offset_); }

  Status Expected(std::string_view what) const {
    const std::string found =
        rest().empty() ? "the end" : Shown(rest().substr(0, 25));
    return MalformedData(path_, offset_, what, found);
  }
  Status ExpectedAt(size_t offset, std::string_view what,
                    std::string_view found) const {
    return MalformedData(path_, offset, what, found);
  }

  // Makes the file end at offset `end` for all later calls.
  void EndAt(size_t end) { file_ = file_.substr(0, end); }
  bool Take(std::string_view text) {
    if (!rest().starts_with(text)) return false;
    offset_ += text.size();
    return true;
  }
  // Reads a little-endian number.
  Result<uint64_t> TakeNumber(size_t bytes, std::string_view what) {
    if (rest().size() < bytes) return Expected(what);
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(file_[offset_ + i]);
    }
    offset_ += bytes;
    return value;
  }
  void SkipSpaces() {
    while (offset_ < file_.size() &&
           (file_[offset_] == ' ' || file_[offset_] == '\n')) {
      ++offset_;
    }
  }
  // Reads the text up to the next `stop`, and skips `stop`. Returns nullopt if
  // the rest has no `stop`.
  std::optional<std::string_view> TakeUntil(char stop) {
    const size_t found = file_.find(stop, offset_);
    if (found == std::string_view::npos) return std::nullopt;
    const std::string_view text = file_.substr(offset_, found - offset_);
    offset_ = found + 1;
    return text;
  }
  std::optional<uint64_t> TakeDecimal() {
    uint64_t value = 0;
    const std::string_view digits = rest();
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) return std::nullopt;
    offset_ += static_cast<size_t>(stop - digits.data());
    return value;
  }

 private:
  std::string_view path_;
  std::string_view file_;
  size_t offset_ = 0;
};

Result<std::string_view> TakeString(Cursor& cursor, std::string_view what) {
  const char quote = cursor.rest().starts_with('"') ? '"' : '\'';
  if (cursor.Take(std::string_view(&quote, 1))) {
    if (const auto text = cursor.TakeUntil(quote)) return *text;
  }
  return cursor.Expected(what);
}

Result<NpyType> TakeType(Cursor& cursor) {
  constexpr std::string_view kWanted = "a type, one of '|u1' '<i4' '<i8' '<f4'";
  const size_t offset = cursor.offset();
  ASSIGN_OR_RETURN(const std::string_view name, TakeString(cursor, kWanted));
  const auto found = std::ranges::find(kTypes, name, &NpyTypeInfo::name);
  if (found != kTypes.end()) return found->type;
  return cursor.ExpectedAt(offset, kWanted, Shown(name));
}

Status TakeOrder(Cursor& cursor) {
  const size_t offset = cursor.offset();
  if (cursor.Take("False")) return OkStatus();
  if (!cursor.Take("True")) return cursor.Expected("True or False");
  return cursor.ExpectedAt(
      offset, "an array in C order (numpy.ascontiguousarray makes one)",
      "one in Fortran order");
}

Result<std::vector<uint64_t>> ParseShape(Cursor& cursor) {
  std::vector<uint64_t> shape;
  if (!cursor.Take("(")) return cursor.Expected("a shape as (2, 28, 28)");
  cursor.SkipSpaces();
  while (!cursor.Take(")")) {
    const std::optional<uint64_t> dimension =
        shape.size() < kMaxDimensions ? cursor.TakeDecimal() : std::nullopt;
    if (!dimension) {
      return cursor.Expected(
          fmt::format("at most {} sizes and then )", kMaxDimensions));
    }
    shape.push_back(*dimension);
    cursor.SkipSpaces();
    if (!cursor.Take(",") && !cursor.rest().starts_with(')')) {
      return cursor.Expected(", or ) in the shape");
    }
    cursor.SkipSpaces();
  }
  return shape;
}

// Parts of the header read so far.
struct NpyHeader {
  NpyArray array;
  bool type_seen = false;
  bool order_seen = false;
  bool shape_seen = false;
};

Status TakeEntry(Cursor& cursor, NpyHeader& header) {
  constexpr std::string_view kKeys =
      "one of the keys 'descr' 'fortran_order' 'shape', each once";
  const size_t offset = cursor.offset();
  ASSIGN_OR_RETURN(const std::string_view key, TakeString(cursor, kKeys));
  cursor.SkipSpaces();
  if (!cursor.Take(":")) return cursor.Expected("a colon after the key");
  cursor.SkipSpaces();
  if (key == "descr" && !header.type_seen) {
    header.type_seen = true;
    header.array.type_offset = cursor.offset();
    ASSIGN_OR_RETURN(header.array.type, TakeType(cursor));
    return OkStatus();
  }
  if (key == "fortran_order" && !header.order_seen) {
    header.order_seen = true;
    return TakeOrder(cursor);
  }
  if (key == "shape" && !header.shape_seen) {
    header.shape_seen = true;
    header.array.shape_offset = cursor.offset();
    ASSIGN_OR_RETURN(header.array.shape, ParseShape(cursor));
    return OkStatus();
  }
  return cursor.ExpectedAt(offset, kKeys, Shown(key));
}

Result<NpyArray> TakeHeader(Cursor& cursor) {
  NpyHeader header;
  cursor.SkipSpaces();
  if (!cursor.Take("{")) return cursor.Expected("a Python dict");
  cursor.SkipSpaces();
  while (!cursor.Take("}")) {
    RETURN_IF_ERROR(TakeEntry(cursor, header));
    cursor.SkipSpaces();
    if (!cursor.Take(",") && !cursor.rest().starts_with('}')) {
      return cursor.Expected(", or } in the header");
    }
    cursor.SkipSpaces();
  }
  cursor.SkipSpaces();
  if (!cursor.rest().empty()) {
    return cursor.Expected("nothing but spaces after the header");
  }
  if (header.type_seen && header.order_seen && header.shape_seen) {
    return std::move(header.array);
  }
  return cursor.ExpectedAt(cursor.offset(),
                           "'descr', 'fortran_order' and 'shape' in the header",
                           "fewer keys");
}

// Reads everything before the header. Returns the offset of the header's end.
Result<size_t> TakeFront(Cursor& cursor) {
  if (!cursor.Take(kMagic)) return cursor.Expected("the magic '\\x93NUMPY'");
  const size_t version_at = cursor.offset();
  ASSIGN_OR_RETURN(const uint64_t version,
                   cursor.TakeNumber(2, "the version, two bytes"));
  const uint64_t major = version & 0xff;
  const uint64_t minor = version >> 8;
  if ((major != 1 && major != 2) || minor != 0) {
    return cursor.ExpectedAt(version_at, "version 1.0 or 2.0",
                             fmt::format("{}.{}", major, minor));
  }
  const size_t length_at = cursor.offset();
  ASSIGN_OR_RETURN(
      const uint64_t length,
      cursor.TakeNumber(major == 1 ? 2 : 4, "the header's length"));
  const uint64_t left = cursor.rest().size();
  if (length > kMaxHeader || length > left) {
    return cursor.ExpectedAt(
        length_at,
        fmt::format("a header of at most {} bytes", std::min(kMaxHeader, left)),
        std::to_string(length));
  }
  return cursor.offset() + length;
}

}  // namespace

std::string_view NpyTypeName(NpyType type) {
  return std::ranges::find(kTypes, type, &NpyTypeInfo::type)->name;
}

size_t NpyTypeBytes(NpyType type) {
  return std::ranges::find(kTypes, type, &NpyTypeInfo::type)->bytes;
}

Result<NpyArray> ParseNpy(std::string_view path, std::string_view file) {
  Cursor cursor(path, file);
  ASSIGN_OR_RETURN(const size_t data_offset, TakeFront(cursor));
  cursor.EndAt(data_offset);
  ASSIGN_OR_RETURN(NpyArray array, TakeHeader(cursor));
  array.elements = 1;
  array.data_offset = data_offset;
  uint64_t bytes = 0;
  bool fits = true;
  for (const uint64_t size : array.shape) {
    fits =
        fits && !__builtin_mul_overflow(array.elements, size, &array.elements);
  }
  fits = fits && !__builtin_mul_overflow(array.elements,
                                         NpyTypeBytes(array.type), &bytes);
  const uint64_t left = file.size() - data_offset;
  if (fits && bytes == left) return array;
  return MalformedData(
      path, data_offset,
      fmt::format("{} bytes of data ({} of shape ({}))",
                  fits ? std::to_string(bytes) : "more than 2^64",
                  NpyTypeName(array.type), fmt::join(array.shape, ", ")),
      std::to_string(left));
}

}  // namespace gauntlet
