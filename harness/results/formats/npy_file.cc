#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/utf8.h"
#include "harness/results/formats/formats.h"
#include "harness/results/formats/numpy_object.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
// Magic, version, and a length of 32 bits.
constexpr uint64_t kNpyFrontBytes = 12;
constexpr uint64_t kMaxNpyHeader = uint64_t{1} << 20;
constexpr size_t kMaxDimensions = 64;  // limit of NumPy
constexpr int kMaxTypeDepth = 32;      // nesting of a structured type

struct NpyDescription {
  std::string type;  // "<f4"; for a structured type the text of its list
  bool is_structured = false;
  bool is_column_major = false;
  std::vector<uint64_t> shape;
  uint64_t data_offset = 0;
};

// Reads the few kinds of Python literals that a header consists of.
class Literals {
 public:
  explicit Literals(std::string_view text) : text_(text) {}

  bool Take(std::string_view token) {
    SkipSpaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool AtEnd() {
    SkipSpaces();
    return at_ == text_.size();
  }
  // Takes a string without escapes: keys and plain types have none.
  std::optional<std::string_view> TakeString() {
    SkipSpaces();
    if (at_ == text_.size()) return std::nullopt;
    const char quote = text_[at_];
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  std::optional<std::vector<uint64_t>> TakeShape() {
    if (!Take("(")) return std::nullopt;
    std::vector<uint64_t> shape;
    while (!Take(")")) {
      const std::optional<uint64_t> size = TakeNumber();
      if (!size || shape.size() == kMaxDimensions) return std::nullopt;
      shape.push_back(*size);
      Take("L");  // written by Python 2
      if (!Take(",") && !text_.substr(at_).starts_with(")"))
        return std::nullopt;
    }
    return shape;
  }
  // Takes a list, with everything nested in it, as text.
  std::optional<std::string_view> TakeList() {
    SkipSpaces();
    const size_t begin = at_;
    int depth = 0;
    do {
      if (TakeString()) continue;
      if (at_ == text_.size()) return std::nullopt;
      const char next = text_[at_++];
      if (next == '[' || next == '(') ++depth;
      if (next == ']' || next == ')') --depth;
      if (depth > kMaxTypeDepth) return std::nullopt;
    } while (depth > 0);
    return text_.substr(begin, at_ - begin);
  }

 private:
  void SkipSpaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  std::optional<uint64_t> TakeNumber() {
    SkipSpaces();
    uint64_t value = 0;
    const auto [stop, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(stop - text_.data());
    return value;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

bool TakeType(Literals& literals, NpyDescription& array) {
  if (const auto plain = literals.TakeString()) {
    array.type = *plain;
    return true;
  }
  const auto list = literals.TakeList();
  if (!list || !list->starts_with('[')) return false;
  array.type = *list;
  array.is_structured = true;
  return true;
}

bool TakeOrder(Literals& literals, NpyDescription& array) {
  array.is_column_major = literals.Take("True");
  return array.is_column_major || literals.Take("False");
}

bool TakeShape(Literals& literals, NpyDescription& array) {
  auto shape = literals.TakeShape();
  if (!shape) return false;
  array.shape = *std::move(shape);
  return true;
}

// Takes the three keys, each once, in any order.
bool TakeHeader(std::string_view text, NpyDescription& array) {
  Literals literals(text);
  std::array<bool, 3> seen{};
  if (!literals.Take("{")) return false;
  while (!literals.Take("}")) {
    const auto key = literals.TakeString();
    if (!key || !literals.Take(":")) return false;
    size_t which = 0;
    bool taken = false;
    if (*key == "descr") {
      taken = TakeType(literals, array);
    } else if (*key == "fortran_order") {
      which = 1;
      taken = TakeOrder(literals, array);
    } else if (*key == "shape") {
      which = 2;
      taken = TakeShape(literals, array);
    }
    if (!taken || std::exchange(seen[which], true)) return false;
    if (literals.Take(",")) continue;
    if (!literals.Take("}")) return false;
    break;
  }
  return literals.AtEnd() && std::ranges::count(seen, false) == 0;
}

Result<NpyDescription> ReadDescription(ByteSource& file) {
  std::array<std::byte, kNpyFrontBytes> front{};
  if (file.size() < kNpyFrontBytes)
    return DataLoss("expected a header of .npy");
  RETURN_IF_ERROR(file.Read(0, front));
  const auto byte = [&](size_t i) {
    return std::to_integer<uint64_t>(front[i]);
  };
  const uint64_t major = byte(6);
  if (major < 1 || major > 3)
    return DataLoss(fmt::format("expected version 1 to 3, found {}", major));
  uint64_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  const uint64_t begin = major == 1 ? kNpyFrontBytes - 2 : kNpyFrontBytes;
  const uint64_t most = std::min(file.size() - begin, kMaxNpyHeader);
  if (length > most) {
    return DataLoss(fmt::format(
        "expected a header of at most {} bytes, found {}", most, length));
  }
  std::string text(length, '\0');
  RETURN_IF_ERROR(file.Read(begin, std::as_writable_bytes(std::span(text))));
  NpyDescription array{.data_offset = begin + length};
  if (TakeHeader(text, array)) return array;
  return DataLoss("expected a header with descr, fortran_order and shape");
}

// Returns the element type. The size of a structured element is computed from
// the size of the data.
std::optional<ElementType> NumpyTypeOf(const NpyDescription& array,
                                       uint64_t data_bytes) {
  if (!array.is_structured) return FindNumpyType(array.type);
  // Elements with objects are stored as a pickle, not as plain bytes.
  if (array.type.find("O'") != std::string::npos) return std::nullopt;
  const Result<uint64_t> elements = ByteCount(array.shape, 1);
  if (!elements.ok() || *elements == 0 || data_bytes % *elements != 0)
    return std::nullopt;
  const uint64_t bytes = data_bytes / *elements;
  if (bytes == 0 || bytes > kMaxNumpyElement) return std::nullopt;
  return OpaqueType(EscapeBytes(array.type), static_cast<uint32_t>(bytes));
}

}  // namespace

bool IsNpy(ByteSource& file) {
  std::array<char, kMagic.size()> front{};
  return file.size() >= front.size() &&
         file.Read(0, std::as_writable_bytes(std::span(front))).ok() &&
         std::string_view(front.data(), front.size()) == kMagic;
}

Status AddNpyFile(const std::string& name, const Bytes& file,
                  TensorList& list) {
  ASSIGN_OR_RETURN(NpyDescription array, ReadDescription(*file));
  const uint64_t left = file->size() - array.data_offset;
  const std::optional<ElementType> type = NumpyTypeOf(array, left);
  if (!type) {
    return DataLoss(fmt::format("elements of type {} are not read",
                                EscapeBytes(array.type.substr(0, 40))));
  }
  ASSIGN_OR_RETURN(const uint64_t size, ByteCount(array.shape, type->bytes));
  if (size != left) {
    return DataLoss(fmt::format(
        "type and shape make {} bytes of data, found {}", size, left));
  }
  StridedArray place{.element_bytes = type->bytes,
                     .shape = array.shape,
                     .strides = array.is_column_major
                                    ? ColumnMajorStrides(array.shape)
                                    : RowMajorStrides(array.shape)};
  ASSIGN_OR_RETURN(Bytes bytes,
                   RowMajor(PartOf(file, array.data_offset, size), place));
  return list.Add({.name = name,
                   .type = *type,
                   .shape = std::move(array.shape),
                   .bytes = std::move(bytes)});
}

}  // namespace gauntlet
