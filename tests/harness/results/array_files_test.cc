// Files of safetensors.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/data/data_files.h"
#include "tests/harness/results/result_files.h"
#include "tests/harness/results/two_results.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

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
  // Types that are not known are compared by their bytes.
  EXPECT_EQ(opened.TypeOf("c"), "bytes []");
  EXPECT_EQ(opened.BytesOf("c"), "x");
}

TEST(SafetensorsFile, IsTakenAsBytes_WhereItIsNotSound) {
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

TEST(SafetensorsFile, IsTakenAsBytes_WhereHeaderIsLongerThanFile) {
  const OpenedFile opened("a.safetensors", LittleEndian(~uint64_t{0}, 8));
  EXPECT_EQ(opened.file.note,
            "compared as bytes: expected a header of at most 0 bytes, found a "
            "length of 18446744073709551615");
}

}  // namespace
}  // namespace gauntlet
