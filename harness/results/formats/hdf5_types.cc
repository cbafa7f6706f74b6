#include "harness/results/formats/hdf5_types.h"

#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace gauntlet {
namespace {

std::optional<ElementType> FloatOf(hid_t type, size_t size) {
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0,
         mantissa_bits = 0;
  if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa,
                    &mantissa_bits) < 0) {
    return std::nullopt;
  }
  for (const char* const name :
       {"float16", "bfloat16", "float32", "float64", "float8_e5m2"}) {
    const ElementType known = ElementTypeOf(name);
    if (known.bytes == size && known.exponent_bits == exponent_bits &&
        known.mantissa_bits == mantissa_bits) {
      return known;
    }
  }
  return std::nullopt;
}

// Returns the complex type of two floats named r and i, as h5py writes them.
std::optional<ElementType> ComplexOf(hid_t type, size_t size) {
  if (H5Tget_nmembers(type) != 2 || H5Tget_member_index(type, "r") != 0 ||
      H5Tget_member_index(type, "i") != 1 ||
      H5Tget_member_class(type, 0) != H5T_FLOAT ||
      H5Tget_member_class(type, 1) != H5T_FLOAT ||
      H5Tget_member_offset(type, 1) * 2 != size) {
    return std::nullopt;
  }
  return FindElementType(fmt::format("complex{}", 8 * size));
}

ElementType TypeOf(hid_t type, const std::string& name) {
  const H5T_class_t kind = H5Tget_class(type);
  const size_t size = H5Tget_size(type);
  constexpr size_t kMaxElement = size_t{64} << 10;
  if (size == 0 || size > kMaxElement)
    throw Hdf5Failure{fmt::format("{}: an element of {} bytes", name, size)};
  std::optional<ElementType> found;
  hid_t number = type;
  const Hdf5Handle base(kind == H5T_ENUM ? H5Tget_super(type) : -1, H5Tclose);
  if (base.valid()) number = base.get();
  if (H5Tget_class(number) == H5T_INTEGER &&
      H5Tget_precision(number) == 8 * size) {
    const bool is_signed = H5Tget_sign(number) == H5T_SGN_2;
    found = FindElementType(
        fmt::format("{}{}", is_signed ? "int" : "uint", 8 * size));
  } else if (kind == H5T_FLOAT) {
    found = FloatOf(type, size);
  } else if (kind == H5T_COMPOUND) {
    found = ComplexOf(type, size);
  }
  if (!found) {
    constexpr const char* kNames[] = {
        "integer",  "float",     "time", "string", "bits", "opaque",
        "compound", "reference", "enum", "vlen",   "array"};
    const auto index = static_cast<size_t>(kind);
    const char* const word = index < std::size(kNames) ? kNames[index] : "?";
    return OpaqueType(fmt::format("{} of {} bytes", word, size),
                      static_cast<uint32_t>(size));
  }
  return H5Tget_order(number) == H5T_ORDER_BE ? BigEndian(*found) : *found;
}

}  // namespace

bool IsHdf5Text(hid_t type) {
  return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

bool HasAddresses(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_VLEN || kind == H5T_REFERENCE || IsHdf5Text(type))
    return true;
  if (kind == H5T_ARRAY) {
    const Hdf5Handle base(H5Tget_super(type), H5Tclose);
    return !base.valid() || HasAddresses(base.get());
  }
  if (kind != H5T_COMPOUND) return false;
  const int members = H5Tget_nmembers(type);
  for (int i = 0; i < members; ++i) {
    const Hdf5Handle member(H5Tget_member_type(type, static_cast<unsigned>(i)),
                            H5Tclose);
    if (!member.valid() || HasAddresses(member.get())) return true;
  }
  return members <= 0;
}

std::optional<Hdf5Description> DescribeHdf5(hid_t space, hid_t type,
                                            const std::string& name) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return std::nullopt;
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions < 0 || dimensions > H5S_MAX_RANK)
    throw Hdf5Failure{name + ": no shape"};
  Hdf5Description found{
      .type = TypeOf(type, name),
      .shape = std::vector<hsize_t>(static_cast<size_t>(dimensions))};
  if (dimensions > 0 &&
      H5Sget_simple_extent_dims(space, found.shape.data(), nullptr) < 0) {
    throw Hdf5Failure{name + ": no shape"};
  }
  bool fits = true;
  for (const hsize_t size : found.shape) {
    fits =
        fits && !__builtin_mul_overflow(found.elements, size, &found.elements);
  }
  if (!fits ||
      __builtin_mul_overflow(found.elements, found.type.bytes, &found.bytes)) {
    throw Hdf5Failure{name + ": more than 2^64 bytes"};
  }
  return found;
}

}  // namespace gauntlet
