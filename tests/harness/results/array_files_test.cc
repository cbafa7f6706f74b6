// Files of safetensors and NumPy.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/data/data_files.h"
#include "tests/harness/results/result_files.h"
#include "tests/harness/results/two_results.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Entry(const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return R"({"dtype":")" + type + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}";
}

TEST(SafetensorsFile, ReadsTypesAndShapes) {
  const OpenedFile opened(
      "x", Safetensors(R"({"a":)" + Entry("BF16", "[2]", "[0,4]") + R"(,"b":)" +
                           Entry("I64", "[]", "[4,12]") + R"(,"c":)" +
                           Entry("F4", "[2]", "[12,13]") + "}",
                       std::string(13, 'x')));
  EXPECT_EQ(opened.file.format, FileFormat::kSafetensors);
  EXPECT_EQ(opened.TypeOf("a"), "bfloat16 [2]");
  EXPECT_EQ(opened.TypeOf("b"), "int64 []");
  // Unknown types are compared byte by byte.
  EXPECT_EQ(opened.TypeOf("c"), "bytes []");
  EXPECT_EQ(opened.BytesOf("c"), "x");
}

TEST(SafetensorsFile, IsComparedAsBytes_IfInvalid) {
  const struct {
    std::string header;
    std::string_view reason;
  } cases[] = {
      {R"({"a":)" + Entry("F32", "[2]", "[0,4]") + "}", "make 8 bytes"},
      {R"({"a":)" + Entry("F32", "[1]", "[4,8]") + "}", "within 4 bytes"},
      {R"({"a":)" + Entry("F32", "[1]", "[4,0]") + "}", "within 4 bytes"},
      {R"({"a":)" + Entry("F32", "[-1]", "[0,4]") + "}", "expected a shape"},
      {R"({"a":)" + Entry("F32", "[4294967296,4294967296]", "[0,4]") + "}",
       "more than 2^63"},
      {R"({"a":)" + Entry("U8", "[1]", "[0,1]") + R"(,"a":)" +
           Entry("U8", "[1]", "[0,1]") + "}",
       "appears twice"},
      {"[1]", "expected a header in JSON"},
      {R"({"a":[[[[1]]]]})", "nested too deep"},
      {"{", "expected a header in JSON"}};
  for (const auto& one : cases) {
    const OpenedFile opened("a.safetensors", Safetensors(one.header, "data"));
    EXPECT_EQ(opened.file.format, FileFormat::kBytes) << one.header;
    EXPECT_THAT(opened.file.note, HasSubstr(one.reason)) << one.header;
  }
}

TEST(SafetensorsFile, IsComparedAsBytes_IfHeaderIsLongerThanFile) {
  const OpenedFile opened("a.safetensors", LittleEndian(~uint64_t{0}, 8));
  EXPECT_EQ(opened.file.note,
            "compared as bytes: expected a header of at most 0 bytes, found a "
            "length of 18446744073709551615");
}

TEST(NpyFile, ReadsTypesAndShapes) {
  const struct {
    std::string type;
    std::string shape;
    size_t bytes;
    std::string_view read;
  } cases[] = {{"<f4", "(2, 3)", 24, "float32 [2,3]"},
               {"|b1", "(2,)", 2, "bool [2]"},
               {"<c16", "()", 16, "complex128 []"},
               {">i8", "(1,)", 8, "int64 (big-endian) [1]"},
               {"<U3", "(2,)", 24, "<U3 [2]"},
               {"<M8[s]", "(1,)", 8, "<M8[s] [1]"},
               {"<f8", "(0, 3)", 0, "float64 [0,3]"}};
  for (const auto& one : cases) {
    const OpenedFile opened(
        "a.npy", Npy(one.type, one.shape, std::string(one.bytes, 'x')));
    EXPECT_EQ(opened.file.format, FileFormat::kNpy) << opened.file.note;
    EXPECT_EQ(opened.TypeOf(""), one.read);
  }
}

TEST(NpyFile, ComparesColumnMajorArraysByTheirElements) {
  const auto ordered = [](const char* fortran, const char* data) {
    return NpyOf(std::string("{'descr': '|u1', 'fortran_order': ") + fortran +
                     ", 'shape': (2, 3), }\n",
                 data);
  };
  EXPECT_THAT(DifferencesOf("a.npy", ordered("True", "abcdef"),
                            ordered("False", "acebdf")),
              IsEmpty());
  EXPECT_THAT(DifferencesOf("a.npy", ordered("True", "abcdxf"),
                            ordered("False", "acebdf")),
              ElementsAre("a.npy: element [0,2]: 120 (0x78) instead of 101 "
                          "(0x65); 1 of 6 elements differ"));
}

TEST(NpyFile, TakesStructuredElementsAsOpaque) {
  const std::string header =
      "{'descr': [('a', '<i2'), ('b', '|u1', (2,))], 'fortran_order': False, "
      "'shape': (2,), }\n";
  EXPECT_THAT(
      DifferencesOf("a.npy", NpyOf(header, "abcdefgX"),
                    NpyOf(header, "abcdefgh")),
      ElementsAre("a.npy: element [1]: 65666758 (0x65666758) instead of "
                  "65666768 (0x65666768); 1 of 2 elements differ"));
}

TEST(NpyFile, IsComparedAsBytes_IfInvalid) {
  const std::string files[] = {
      Npy("|O", "(1,)", "pickle"),
      NpyOf("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,)}",
            "pickle"),
      Npy("<f4", "(2,)", "1234"),
      Npy("<f", "(1,)", "123"),
      Npy("<f4", "(18446744073709551615, 4)", "1234"),
      Npy("<f4", "(1,", "1234"),
      NpyOf("{'descr': '|u1', 'shape': (1,)}", "1"),
      NpyOf("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'x': 1}",
            "1"),
      std::string("\x93NUMPY\x04\x00", 8) + "1234",
      std::string("\x93NUMPY\x01\x00\xff\xff", 10) + "1234"};
  for (const std::string& file : files) {
    const OpenedFile opened("a.npy", file);
    EXPECT_EQ(opened.file.format, FileFormat::kBytes) << file;
    EXPECT_THAT(opened.file.note, HasSubstr("compared as bytes: ")) << file;
  }
}

TEST(NpyFile, ReadsLongHeadersOfLaterVersions) {
  const std::string header = NpyHeaderOf("|u1", "(4,)");
  for (const char* const version : {"\x02", "\x03"}) {
    const OpenedFile opened(
        "a.npy", "\x93NUMPY" + std::string(version) + std::string(1, '\0') +
                     LittleEndian(header.size(), 4) + header + "data");
    EXPECT_EQ(opened.BytesOf(""), "data");
  }
}

}  // namespace
}  // namespace gauntlet
