// Small data files as other programs write them, as bytes.
#ifndef GAUNTLET_TESTS_ENGINE_DATA_DATA_FILES_H_
#define GAUNTLET_TESTS_ENGINE_DATA_DATA_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gauntlet {

// Returns a sample of CIFAR-10's binary version in which all values are equal.
inline std::string CifarSample(int label, char value) {
  return std::string(1, static_cast<char>(label)) + std::string(3072, value);
}

// Returns the low `bytes` bytes of the value, in little-endian order.
inline std::string LittleEndian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(value >> 8 * i & 0xff));
  }
  return text;
}

// Returns the value in big-endian order, as in IDX headers.
inline std::string BigEndian(uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(value >> shift & 0xff));
  }
  return text;
}

// Returns one gzip member, as the gzip program writes it.
std::string Gzip(std::string_view bytes);

// Returns a file of format 1.0 with that header, without padding.
inline std::string NpyOf(std::string_view header, std::string_view data) {
  return std::string("\x93NUMPY\x01\x00", 8) + LittleEndian(header.size(), 2) +
         std::string(header) + std::string(data);
}

// Returns the header as numpy.save writes it; `shape` is like "(2, 3)".
inline std::string NpyHeaderOf(std::string_view type, std::string_view shape) {
  return "{'descr': '" + std::string(type) +
         "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }\n";
}

inline std::string Npy(std::string_view type, std::string_view shape,
                       std::string_view data) {
  return NpyOf(NpyHeaderOf(type, shape), data);
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_DATA_DATA_FILES_H_
