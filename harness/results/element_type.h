// Types of tensor elements, and text for their values.
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
  kOpaque,   // shown only by its bits
  kText,     // the whole tensor is one text
  kBytes,    // the whole tensor is a sequence of bytes, of any length
};

struct ElementType {
  std::string name;  // "float32", "int64", "bool", "text"
  ElementKind kind = ElementKind::kOpaque;
  uint32_t bytes = 1;  // size of one element; at least 1
  // Numbers of bits of a float, or of each half of a complex number.
  uint8_t exponent_bits = 0;
  uint8_t mantissa_bits = 0;
  bool has_infinity = true;
  bool is_big_endian = false;

  bool operator==(const ElementType&) const = default;
};

// Returns the little-endian type of that name: int8 to int64, uint8 to uint64,
// bool, float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2,
// complex64, complex32, complex128, text, bytes, none, "empty list", "empty
// dict". Other 8-bit floats are opaque.
std::optional<ElementType> FindElementType(std::string_view name);
// As FindElementType. REQUIRES: a type has that name.
ElementType ElementTypeOf(std::string_view name);
// Returns a type for elements of `bytes` bytes that are otherwise unknown.
ElementType OpaqueType(std::string name, uint32_t bytes);
// Returns the same type in big-endian order, with a name that states the order.
ElementType BigEndian(ElementType type);

// Returns "0.25", "-3", "True" or "(1+2j)"; for an opaque type the bits.
std::string DecimalOf(const ElementType& type,
                      std::span<const std::byte> element);
// Returns hex digits, the most significant first; for an opaque type in the
// order of the file.
std::string BitsOf(const ElementType& type, std::span<const std::byte> element);
// Returns the distance of two floats, as the number of steps between adjacent
// floats of their type (-0 and +0 are one step apart); for complex numbers the
// larger distance of their parts. nullopt for other types and for NaN.
std::optional<uint64_t> UlpsBetween(const ElementType& type,
                                    std::span<const std::byte> first,
                                    std::span<const std::byte> second);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_ELEMENT_TYPE_H_
