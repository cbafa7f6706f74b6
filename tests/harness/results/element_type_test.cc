#include "harness/results/element_type.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/engine/data/data_files.h"

namespace gauntlet {
namespace {

std::string ValueOf(const ElementType& type, std::string_view bytes) {
  const auto element = std::as_bytes(std::span(bytes));
  return DecimalOf(type, element) + " " + BitsOf(type, element);
}

TEST(ElementType, ShowsValues) {
  const struct {
    std::string_view type;
    uint64_t bits;
    std::string_view shown;
  } cases[] = {{"float32", 0x3e800000, "0.25 3e800000"},
               {"float32", 0x7fc00000, "nan 7fc00000"},
               {"float64", 0xbff0000000000000, "-1 bff0000000000000"},
               {"float16", 0x3555, "0.33325195 3555"},
               {"float16", 0xfc00, "-inf fc00"},
               {"float16", 0x0001, "5.9604645e-08 0001"},
               {"bfloat16", 0x3f80, "1 3f80"},
               {"bfloat16", 0x7f80, "inf 7f80"},
               {"float8_e4m3fn", 0x7e, "448 7e"},
               {"float8_e4m3fn", 0x7f, "nan 7f"},
               {"float8_e5m2", 0x7c, "inf 7c"},
               {"int8", 0xff, "-1 ff"},
               {"int64", 0xfffffffffffffffe, "-2 fffffffffffffffe"},
               {"uint16", 0xffff, "65535 ffff"},
               {"bool", 1, "True 01"},
               {"complex64", 0xbf8000003f800000, "(1-1j) 3f800000bf800000"},
               {"float8_e8m0fnu", 0x7f, "7f 7f"}};
  for (const auto& one : cases) {
    const ElementType type = ElementTypeOf(one.type);
    EXPECT_EQ(ValueOf(type, LittleEndian(one.bits, type.bytes)), one.shown)
        << one.type;
  }
}

TEST(ElementType, ReadsBigEndian) {
  const ElementType type = BigEndian(ElementTypeOf("int32"));
  EXPECT_EQ(type.name, "int32 (big-endian)");
  EXPECT_EQ(ValueOf(type, std::string_view("\0\0\1\2", 4)), "258 00000102");
  EXPECT_EQ(BigEndian(ElementTypeOf("int8")).name, "int8");
}

TEST(ElementType, CountsUlps) {
  const struct {
    std::string_view type;
    uint64_t first;
    uint64_t second;
    std::optional<uint64_t> ulps;
  } cases[] = {
      {"float32", 0x3f800000, 0x3f800002, 2},
      {"float32", 0x80000000, 0x00000000, 1},
      {"float32", 0x7fc00000, 0x3f800000, std::nullopt},
      {"float64", 0xffefffffffffffff, 0x7fefffffffffffff, 0xffdfffffffffffff},
      {"bfloat16", 0x3f80, 0x3f7f, 1},
      {"complex64", 0x3f80000000000000, 0x3f80000100000003, 3},
      {"int32", 1, 2, std::nullopt}};
  for (const auto& one : cases) {
    const ElementType type = ElementTypeOf(one.type);
    const std::string first = LittleEndian(one.first, type.bytes);
    const std::string second = LittleEndian(one.second, type.bytes);
    EXPECT_EQ(UlpsBetween(type, std::as_bytes(std::span(first)),
                          std::as_bytes(std::span(second))),
              one.ulps)
        << one.type;
  }
}

}  // namespace
}  // namespace gauntlet
