// CRC-32C (Castagnoli, RFC 3720 section 12.1), a byte at a time by table.
#ifndef GAUNTLET_ENGINE_SUMMARY_CRC32C_H_
#define GAUNTLET_ENGINE_SUMMARY_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

uint32_t Crc32c(std::string_view bytes);

// Returns the checksum as TFRecord stores it: rotated, and with a constant
// added. A plain checksum over bytes that contain checksums would be weak.
uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_SUMMARY_CRC32C_H_
