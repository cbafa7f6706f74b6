#include "harness/results/tensor_comparison.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/utf8.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr uint64_t kComparedPiece = uint64_t{1} << 20;
// Numbers of bytes that are shown of a differing text: before the first
// difference, and from it on.
constexpr uint64_t kShownBefore = 20;
constexpr uint64_t kShownFrom = 40;
constexpr uint64_t kLongestText = uint64_t{1} << 20;  // compared by lines

std::string DescriptionOf(const ResultTensor& tensor) {
  if (tensor.IsSequence()) return tensor.type.name;
  return fmt::format("{} [{}]", tensor.type.name, fmt::join(tensor.shape, ","));
}

// Returns "[3,5]" for the element with that row-major index; "" for a scalar.
std::string CoordinatesOf(uint64_t element,
                          const std::vector<uint64_t>& shape) {
  if (shape.empty()) return "";
  std::vector<uint64_t> coordinates(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = element % shape[i];
    element /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(coordinates, ","));
}

// Compares two values of equal type, piece by piece.
class ElementComparison {
 public:
  ElementComparison(const ElementType& type, ResultDifference& difference)
      : type_(type), difference_(difference) {}

  // Compares elements from index `first` on.
  void Compare(uint64_t first, std::span<const std::byte> found,
               std::span<const std::byte> expected) {
    if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return;
    const size_t width = type_.bytes;
    for (size_t at = 0; at < found.size(); at += width) {
      const auto a = found.subspan(at, width);
      const auto b = expected.subspan(at, width);
      if (std::memcmp(a.data(), b.data(), width) == 0) continue;
      if (difference_.tensor.differing++ == 0)
        TakeFirst(first + at / width, a, b);
      const auto ulps = UlpsBetween(type_, a, b);
      if (ulps)
        difference_.largest_ulps =
            std::max(difference_.largest_ulps.value_or(0), *ulps);
    }
  }

  uint64_t first() const { return first_; }

 private:
  void TakeFirst(uint64_t element, std::span<const std::byte> found,
                 std::span<const std::byte> expected) {
    first_ = element;
    difference_.tensor.first.push_back(
        {.index = "",
         .found = DecimalOf(type_, found),
         .found_bits = BitsOf(type_, found),
         .expected = DecimalOf(type_, expected),
         .expected_bits = BitsOf(type_, expected),
         .ulps = UlpsBetween(type_, found, expected)});
  }

  const ElementType& type_;
  ResultDifference& difference_;
  uint64_t first_ = 0;
};

// Compares bytes up to the length of the shorter value. Returns the first
// element that differs.
Result<uint64_t> CompareBytes(const ResultTensor& found,
                              const ResultTensor& expected,
                              ResultDifference& difference) {
  const uint64_t width = found.type.bytes;
  const uint64_t size = std::min(found.bytes->size(), expected.bytes->size());
  const uint64_t piece =
      std::min(size, std::max<uint64_t>(kComparedPiece / width * width, width));
  std::vector<std::byte> a(piece);
  std::vector<std::byte> b(piece);
  ElementComparison comparison(found.type, difference);
  for (uint64_t at = 0; at < size;) {
    const uint64_t count = std::min(piece, size - at);
    const auto first = std::span(a).first(count);
    const auto second = std::span(b).first(count);
    RETURN_IF_ERROR(found.bytes->Read(at, first));
    RETURN_IF_ERROR(expected.bytes->Read(at, second));
    comparison.Compare(at / width, first, second);
    at += count;
  }
  return comparison.first();
}

// Returns "…weights of epoch 3…", in quotes.
Result<std::string> TextAround(ByteSource& text, uint64_t place) {
  const uint64_t begin = place < kShownBefore ? 0 : place - kShownBefore;
  const uint64_t end = std::min(text.size(), place + kShownFrom);
  std::string shown(end - std::min(begin, end), '\0');
  if (!shown.empty()) {
    RETURN_IF_ERROR(text.Read(begin, std::as_writable_bytes(std::span(shown))));
  }
  // Removes incomplete characters.
  std::string_view whole = shown;
  const auto is_inside = [](char c) { return (c & 0xc0) == 0x80; };
  while (begin > 0 && !whole.empty() && is_inside(whole[0]))
    whole.remove_prefix(1);
  if (end < text.size()) whole = TruncateUtf8(whole, whole.size());
  return fmt::format("\"{}{}{}\"", begin > 0 ? "…" : "", EscapeBytes(whole),
                     end < text.size() ? "…" : "");
}

// Returns the lines of a text without their ends.
std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Returns the whole value if it is a text, else nullopt.
Result<std::optional<std::string>> ReadText(ByteSource& bytes) {
  if (bytes.size() > kLongestText) return std::optional<std::string>();
  std::string text(bytes.size(), '\0');
  if (!text.empty()) {
    RETURN_IF_ERROR(bytes.Read(0, std::as_writable_bytes(std::span(text))));
  }
  const bool has_control = std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
  });
  if (has_control || !IsUtf8(text)) return std::optional<std::string>();
  return std::optional(std::move(text));
}

// Returns the part of the line around column `place`: "…weights of epoch 3…".
std::string PartOfLine(std::string_view line, size_t place) {
  const auto is_inside = [](char c) { return (c & 0xc0) == 0x80; };
  size_t begin = place < kShownBefore ? 0 : place - kShownBefore;
  while (begin > 0 && is_inside(line[begin])) --begin;
  const std::string_view rest = line.substr(begin);
  const std::string_view shown =
      TruncateUtf8(rest, static_cast<size_t>(kShownBefore + kShownFrom));
  return fmt::format("{}{}{}", begin > 0 ? "…" : "", EscapeBytes(shown),
                     shown.size() < rest.size() ? "…" : "");
}

// Returns nullopt if one of the values is not a text, or if no line differs
// from the line of the same number in the other text. Lines that only one text
// has do not count.
Result<std::optional<DifferingLine>> CompareLines(
    const ResultTensor& found, const ResultTensor& expected) {
  ASSIGN_OR_RETURN(const std::optional<std::string> a, ReadText(*found.bytes));
  ASSIGN_OR_RETURN(const std::optional<std::string> b,
                   ReadText(*expected.bytes));
  if (!a || !b) return std::optional<DifferingLine>();
  const std::vector<std::string_view> left = LinesOf(*a);
  const std::vector<std::string_view> right = LinesOf(*b);
  DifferingLine line{.found_lines = left.size(),
                     .expected_lines = right.size()};
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i] == right[i] || line.differing++ > 0) continue;
    const size_t shorter = std::min(left[i].size(), right[i].size());
    size_t place = 0;
    while (place < shorter && left[i][place] == right[i][place]) ++place;
    line.number = i + 1;
    line.found = PartOfLine(left[i], place);
    line.expected = PartOfLine(right[i], place);
  }
  if (line.differing == 0) return std::optional<DifferingLine>();
  return std::optional(std::move(line));
}

// Completes the comparison of two texts or byte strings. They may differ in
// length: all bytes after the end of the shorter one count as different.
Status FinishSequence(const ResultTensor& found, const ResultTensor& expected,
                      uint64_t first, ResultDifference& difference) {
  const uint64_t sizes[] = {found.bytes->size(), expected.bytes->size()};
  DifferingTensor& tensor = difference.tensor;
  difference.found_bytes = sizes[0];
  difference.expected_bytes = sizes[1];
  if (sizes[0] == sizes[1] && tensor.differing == 0) return OkStatus();
  if (tensor.differing == 0) {
    first = std::min(sizes[0], sizes[1]);
    tensor.first.push_back({.index = "",
                            .found = "the end",
                            .found_bits = "",
                            .expected = "the end",
                            .expected_bits = "",
                            .ulps = {}});
    const bool found_is_longer = sizes[0] > sizes[1];
    std::byte next{};
    ByteSource& longer = found_is_longer ? *found.bytes : *expected.bytes;
    RETURN_IF_ERROR(longer.Read(first, std::span(&next, 1)));
    DifferingElement& element = tensor.first[0];
    (found_is_longer ? element.found : element.expected) =
        DecimalOf(found.type, std::span(&next, 1));
    (found_is_longer ? element.found_bits : element.expected_bits) =
        BitsOf(found.type, std::span(&next, 1));
  }
  tensor.elements = std::max(sizes[0], sizes[1]);
  tensor.differing += tensor.elements - std::min(sizes[0], sizes[1]);
  tensor.first[0].index = fmt::format("[{}]", first);
  if (found.type.kind == ElementKind::kBytes) {
    // A value with a name is part of a file of another format.
    if (found.name.empty()) {
      ASSIGN_OR_RETURN(difference.line, CompareLines(found, expected));
    }
    return OkStatus();
  }
  tensor.first[0] = {.index = ""};
  ASSIGN_OR_RETURN(tensor.first[0].found, TextAround(*found.bytes, first));
  ASSIGN_OR_RETURN(tensor.first[0].expected,
                   TextAround(*expected.bytes, first));
  return OkStatus();
}

}  // namespace

Result<std::optional<ResultDifference>> CompareResultTensors(
    const ResultTensor& found, const ResultTensor& expected) {
  ResultDifference difference{
      .file = {},
      .tensor = {.name = found.name, .mismatch = {}, .first = {}},
      .largest_ulps = {}};
  if (found.type != expected.type || found.shape != expected.shape) {
    difference.tensor.mismatch = fmt::format(
        "{} instead of {}", DescriptionOf(found), DescriptionOf(expected));
    return std::optional(std::move(difference));
  }
  ASSIGN_OR_RETURN(const uint64_t first,
                   CompareBytes(found, expected, difference));
  if (found.IsSequence()) {
    RETURN_IF_ERROR(FinishSequence(found, expected, first, difference));
  } else {
    difference.tensor.elements = found.bytes->size() / found.type.bytes;
    if (difference.tensor.differing > 0)
      difference.tensor.first[0].index = CoordinatesOf(first, found.shape);
  }
  if (difference.tensor.differing == 0)
    return std::optional<ResultDifference>();
  return std::optional(std::move(difference));
}

ResultDifference MissingTensor(const std::string& name) {
  return {.file = {},
          .tensor = {.name = name, .mismatch = "missing", .first = {}},
          .largest_ulps = {}};
}

ResultDifference UnexpectedTensor(const std::string& name) {
  return {.file = {},
          .tensor = {.name = name, .mismatch = "not expected", .first = {}},
          .largest_ulps = {}};
}

}  // namespace gauntlet
