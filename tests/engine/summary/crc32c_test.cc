#include "engine/summary/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

std::string Bytes(int first, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) {
    bytes.push_back(static_cast<char>(first + i * step));
  }
  return bytes;
}

// From RFC 3720, appendix B.4, and the check value of the CRC catalogues.
TEST(Crc32cTest, VectorsOfTheStandardHold) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(Bytes(0, 0)), 0x8a9136aau);
  EXPECT_EQ(Crc32c(Bytes(0xff, 0)), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(Bytes(0, 1)), 0x46dd794eu);
  EXPECT_EQ(Crc32c(Bytes(31, -1)), 0x113fdb5cu);
}

// The mask rotates right by 15 bits and adds a constant.
TEST(Crc32cTest, MaskIsTheOneOfTfRecord) {
  EXPECT_EQ(MaskedCrc32c("123456789"), 0xc78ab0e5u);
  EXPECT_EQ(MaskedCrc32c(""), 0xa282ead8u);
}

}  // namespace
}  // namespace gauntlet
