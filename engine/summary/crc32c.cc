#include "engine/summary/crc32c.h"

#include <array>

namespace gauntlet {
namespace {

constexpr uint32_t kReflectedPolynomial = 0x82f63b78;
constexpr uint32_t kMaskDelta = 0xa282ead8;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0);
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  }
  return ~crc;
}

uint32_t MaskedCrc32c(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return (crc >> 15 | crc << 17) + kMaskDelta;
}

}  // namespace gauntlet
