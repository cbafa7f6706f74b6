#include "harness/results/element_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct NamedType {
  std::string_view name;
  ElementKind kind;
  uint32_t bytes;
  uint8_t exponent_bits = 0;
  uint8_t mantissa_bits = 0;
  bool has_infinity = true;
};

constexpr std::array kNamedTypes = {
    NamedType{"float32", ElementKind::kFloat, 4, 8, 23},
    NamedType{"float64", ElementKind::kFloat, 8, 11, 52},
    NamedType{"float16", ElementKind::kFloat, 2, 5, 10},
    NamedType{"bfloat16", ElementKind::kFloat, 2, 8, 7},
    NamedType{"float8_e4m3fn", ElementKind::kFloat, 1, 4, 3, false},
    NamedType{"float8_e5m2", ElementKind::kFloat, 1, 5, 2},
    NamedType{"float8_e4m3fnuz", ElementKind::kOpaque, 1},
    NamedType{"float8_e5m2fnuz", ElementKind::kOpaque, 1},
    NamedType{"float8_e8m0fnu", ElementKind::kOpaque, 1},
    NamedType{"complex64", ElementKind::kComplex, 8, 8, 23},
    NamedType{"complex128", ElementKind::kComplex, 16, 11, 52},
    NamedType{"complex32", ElementKind::kComplex, 4, 5, 10},
    NamedType{"int8", ElementKind::kSigned, 1},
    NamedType{"int16", ElementKind::kSigned, 2},
    NamedType{"int32", ElementKind::kSigned, 4},
    NamedType{"int64", ElementKind::kSigned, 8},
    NamedType{"uint8", ElementKind::kUnsigned, 1},
    NamedType{"uint16", ElementKind::kUnsigned, 2},
    NamedType{"uint32", ElementKind::kUnsigned, 4},
    NamedType{"uint64", ElementKind::kUnsigned, 8},
    NamedType{"bool", ElementKind::kBool, 1},
    NamedType{"text", ElementKind::kText, 1},
    NamedType{"bytes", ElementKind::kBytes, 1},
    NamedType{"none", ElementKind::kText, 1},
    NamedType{"empty list", ElementKind::kText, 1},
    NamedType{"empty dict", ElementKind::kText, 1},
};

// Reads a number of up to 8 bytes.
uint64_t Load(std::span<const std::byte> bytes, bool is_big_endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t at = is_big_endian ? i : bytes.size() - 1 - i;
    value = value << 8 | std::to_integer<uint64_t>(bytes[at]);
  }
  return value;
}

uint64_t LowBits(uint64_t value, unsigned bits) {
  return value & ((uint64_t{1} << bits) - 1);
}

bool IsNan(const ElementType& type, uint64_t bits) {
  const uint64_t mantissa = LowBits(bits, type.mantissa_bits);
  const uint64_t exponent =
      LowBits(bits >> type.mantissa_bits, type.exponent_bits);
  const uint64_t all_ones = LowBits(~uint64_t{0}, type.exponent_bits);
  if (exponent != all_ones) return false;
  return type.has_infinity
             ? mantissa != 0
             : mantissa == LowBits(~uint64_t{0}, type.mantissa_bits);
}

// Returns the value of a float of at most 32 bits, which a double holds
// exactly.
double SmallFloat(const ElementType& type, uint64_t bits) {
  const unsigned width = type.mantissa_bits + type.exponent_bits;
  const double sign = (bits >> width & 1) != 0 ? -1 : 1;
  const auto mantissa = static_cast<double>(LowBits(bits, type.mantissa_bits));
  const auto exponent =
      static_cast<int>(LowBits(bits >> type.mantissa_bits, type.exponent_bits));
  const int all_ones = (1 << type.exponent_bits) - 1;
  const int bias = all_ones >> 1;
  if (IsNan(type, bits)) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == all_ones && type.has_infinity)
    return sign * std::numeric_limits<double>::infinity();
  const double hidden = exponent == 0 ? 0 : std::ldexp(1, type.mantissa_bits);
  return sign * std::ldexp(mantissa + hidden,
                           std::max(exponent, 1) - bias - type.mantissa_bits);
}

std::string FloatDecimal(const ElementType& type, uint64_t bits) {
  if (type.mantissa_bits == 52)
    return fmt::format("{}", std::bit_cast<double>(bits));
  // Shortest decimal of a float32; shorter floats have few digits anyway.
  return fmt::format("{}", static_cast<float>(SmallFloat(type, bits)));
}

// Maps the bits of a float to an integer, so that the integers have the order
// of the floats.
int64_t OnLine(const ElementType& type, uint64_t bits) {
  const unsigned width = type.mantissa_bits + type.exponent_bits;
  const auto magnitude = static_cast<int64_t>(LowBits(bits, width));
  return (bits >> width & 1) != 0 ? -magnitude - 1 : magnitude;
}

std::optional<uint64_t> FloatDistance(const ElementType& type, uint64_t first,
                                      uint64_t second) {
  if (IsNan(type, first) || IsNan(type, second)) return std::nullopt;
  const auto low = static_cast<uint64_t>(OnLine(type, first));
  const auto high = static_cast<uint64_t>(OnLine(type, second));
  const bool ascends = OnLine(type, first) <= OnLine(type, second);
  return ascends ? high - low : low - high;
}

// Returns the bits of one part of a complex number.
uint64_t LoadHalf(const ElementType& type, std::span<const std::byte> element,
                  size_t half) {
  const size_t bytes = type.bytes / 2;
  return Load(element.subspan(half * bytes, bytes), type.is_big_endian);
}

std::string HexOfBytes(std::span<const std::byte> bytes) {
  constexpr size_t kShown = 32;
  std::string hex;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kShown)))
    hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return bytes.size() > kShown ? hex + "…" : hex;
}

}  // namespace

std::optional<ElementType> FindElementType(std::string_view name) {
  const auto found = std::ranges::find(kNamedTypes, name, &NamedType::name);
  if (found == kNamedTypes.end()) return std::nullopt;
  return ElementType{.name = std::string(name),
                     .kind = found->kind,
                     .bytes = found->bytes,
                     .exponent_bits = found->exponent_bits,
                     .mantissa_bits = found->mantissa_bits,
                     .has_infinity = found->has_infinity};
}

ElementType ElementTypeOf(std::string_view name) {
  const std::optional<ElementType> type = FindElementType(name);
  CHECK(type.has_value(), "an unknown element type");
  return *type;
}

ElementType OpaqueType(std::string name, uint32_t bytes) {
  CHECK(bytes > 0, "an element without bytes");
  return {
      .name = std::move(name), .kind = ElementKind::kOpaque, .bytes = bytes};
}

ElementType BigEndian(ElementType type) {
  if (type.bytes == 1 || type.is_big_endian) return type;
  type.is_big_endian = true;
  type.name += " (big-endian)";
  return type;
}

std::string DecimalOf(const ElementType& type,
                      std::span<const std::byte> element) {
  switch (type.kind) {
    case ElementKind::kSigned: {
      const unsigned unused = 64 - 8 * type.bytes;
      const auto high =
          static_cast<int64_t>(Load(element, type.is_big_endian) << unused);
      return std::to_string(high >> unused);
    }
    case ElementKind::kUnsigned:
    case ElementKind::kText:
    case ElementKind::kBytes:
      return std::to_string(Load(element, type.is_big_endian));
    case ElementKind::kBool:
      return element[0] == std::byte{0} ? "False" : "True";
    case ElementKind::kFloat:
      return FloatDecimal(type, Load(element, type.is_big_endian));
    case ElementKind::kComplex: {
      const std::string imaginary =
          FloatDecimal(type, LoadHalf(type, element, 1));
      return fmt::format("({}{}{}j)",
                         FloatDecimal(type, LoadHalf(type, element, 0)),
                         imaginary.starts_with('-') ? "" : "+", imaginary);
    }
    case ElementKind::kOpaque:
      break;
  }
  return BitsOf(type, element);
}

std::string BitsOf(const ElementType& type,
                   std::span<const std::byte> element) {
  if (type.kind == ElementKind::kOpaque) return HexOfBytes(element);
  if (type.kind == ElementKind::kComplex) {
    const uint32_t digits = type.bytes;  // hex digits of one part
    return fmt::format("{:0{}x}{:0{}x}", LoadHalf(type, element, 0), digits,
                       LoadHalf(type, element, 1), digits);
  }
  return fmt::format("{:0{}x}", Load(element, type.is_big_endian),
                     2 * type.bytes);
}

std::optional<uint64_t> UlpsBetween(const ElementType& type,
                                    std::span<const std::byte> first,
                                    std::span<const std::byte> second) {
  if (type.kind == ElementKind::kFloat) {
    return FloatDistance(type, Load(first, type.is_big_endian),
                         Load(second, type.is_big_endian));
  }
  if (type.kind != ElementKind::kComplex) return std::nullopt;
  const auto real =
      FloatDistance(type, LoadHalf(type, first, 0), LoadHalf(type, second, 0));
  const auto imaginary =
      FloatDistance(type, LoadHalf(type, first, 1), LoadHalf(type, second, 1));
  if (!real || !imaginary) return std::nullopt;
  return std::max(*real, *imaginary);
}

}  // namespace gauntlet
