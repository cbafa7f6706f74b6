// Types of the elements of a tensor, and their values in words.
#ifndef GAUNTLET_HARNESS_RESULTS_ELEMENT_TYPE_H_
#define GAUNTLET_HARNESS_RESULTS_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gauntlet {

enum class ElementKind : uint8_t {
  kSigned,
  kUnsigned,
  kBool,
  kFloat,
  kComplex,  // two floats
  kOpaque,   // shown by its bits alone
  kText,     // the whole tensor is one text
  kBytes,    // the whole tensor is a sequence of bytes, of any length
};

struct ElementType {
  std::string name;  // "float32", "int64", "bool", "text"
  ElementKind kind = ElementKind::kOpaque;
  uint32_t bytes = 1;  // size of one element; at least 1
  // Bits of a float, and of each half of a complex number.
  uint8_t exponent_bits = 0;
  uint8_t mantissa_bits = 0;
  bool has_infinity = true;
  bool is_big_endian = false;

  bool operator==(const ElementType&) const = default;
};

// The type of that name, little-endian: int8 to int64, uint8 to uint64, bool,
// float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, complex64,
// complex32, complex128, text, bytes, none, "empty list", "empty dict"; other
// floats of 8 bits are opaque.
std::optional<ElementType> FindElementType(std::string_view name);
// REQUIRES: there is one of that name.
ElementType ElementTypeOf(std::string_view name);
// Elements of `bytes` each, of which nothing more is known.
ElementType OpaqueType(std::string name, uint32_t bytes);
// The same, with its bytes in the other order; its name says so.
ElementType BigEndian(ElementType type);

// "0.25", "-3", "True", "(1+2j)"; of an opaque one its bits.
std::string DecimalOf(const ElementType& type,
                      std::span<const std::byte> element);
// Hex digits, the most significant first; of an opaque one in the file's order.
std::string BitsOf(const ElementType& type, std::span<const std::byte> element);
// Distance of two floats, counted in floats of their type from one to the other
// (-0 and +0 are one apart); of complex numbers the larger one of their halves.
// nullopt for other types and NaN.
std::optional<uint64_t> UlpsBetween(const ElementType& type,
                                    std::span<const std::byte> first,
                                    std::span<const std::byte> second);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_ELEMENT_TYPE_H_
