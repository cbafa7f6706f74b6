#include "harness/results/comparison.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/results/result_files.h"
#include "tests/harness/results/two_results.h"
#include <sys/stat.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Comparison, NamesFirstElementThatDiffers) {
  EXPECT_THAT(
      DifferencesOf("final.safetensors",
                    SafetensorsOf({1, 2, 0.25, 4, 5, 6.5}, "[2,3]"),
                    SafetensorsOf({1, 2, 0.5, 4, 5, 6}, "[2,3]")),
      ElementsAre("final.safetensors: tensor `fc.weight`, element [0,2]: 0.25 "
                  "(0x3e800000) instead of 0.5 (0x3f000000); 2 of 6 elements "
                  "differ, by at most 8388608 ulp"));
}

TEST(Comparison, IsEqual_IfOnlyMetadataDiffer) {
  const std::string one = SafetensorsOf({1, 2}, "[2]");
  std::string other = one;
  other.replace(other.find("12:00"), 5, "13:00");
  EXPECT_THAT(DifferencesOf("final.safetensors", one, other), IsEmpty());
}

TEST(Comparison, NamesMissingAndUnexpectedTensors) {
  const auto file = [](const char* name) {
    return Safetensors(std::string("{\"") + name +
                           R"(":{"dtype":"U8","shape":[1],)"
                           R"("data_offsets":[0,1]}})",
                       "x");
  };
  EXPECT_THAT(DifferencesOf("a.safetensors", file("new"), file("old")),
              ElementsAre("a.safetensors: tensor `new`: not expected",
                          "a.safetensors: tensor `old`: missing"));
}

TEST(Comparison, ComparesNoElements_IfShapesDiffer) {
  EXPECT_THAT(DifferencesOf("a.safetensors", SafetensorsOf({1, 2}, "[2]"),
                            SafetensorsOf({1, 2}, "[1,2]")),
              ElementsAre("a.safetensors: tensor `fc.weight`: float32 [2] "
                          "instead of float32 [1,2]"));
}

TEST(Comparison, DistinguishesShapesOfEqualRank) {
  const std::vector<float> six(6);
  EXPECT_THAT(DifferencesOf("a.safetensors", SafetensorsOf(six, "[2,3]"),
                            SafetensorsOf(six, "[3,2]")),
              ElementsAre("a.safetensors: tensor `fc.weight`: float32 [2,3] "
                          "instead of float32 [3,2]"));
}

TEST(Comparison, NamesFirstByteThatDiffers_IfOneFileIsNoText) {
  EXPECT_THAT(DifferencesOf("log.txt",
                            "step\x01"
                            "1",
                            "step\x01"
                            "2"),
              ElementsAre("log.txt: byte 6: 0x31 instead of 0x32; 1 of 6 bytes "
                          "differ"));
  EXPECT_THAT(DifferencesOf("log.txt", "stop",
                            "step\xff"
                            "2"),
              ElementsAre("log.txt: byte 3: 0x6f instead of 0x65; 3 of 6 "
                          "bytes differ, 4 bytes instead of 6"));
}

TEST(Comparison, NamesFirstLineThatDiffers_IfBothFilesAreText) {
  struct LineCase {
    std::string found;
    std::string expected;
    std::string text;
  };
  const LineCase kCases[] = {
      {"step 1", "step 2", "line 1: `step 1` instead of `step 2`"},
      {R"({"step": 4, "w": 5.1})", R"({"step": 10, "w": 4.25})",
       R"(line 1: `{"step": 4, "w": 5.1}` instead of )"
       R"(`{"step": 10, "w": 4.25}`)"},
      {"a\nb\nc\nd\n", "a\nB\nc\nD\n",
       "line 2: `b` instead of `B`; 2 of 4 lines differ"},
      {"a\nb\n", "a\nB\nc\n",
       "line 2: `b` instead of `B`; 2 lines instead of 3"},
      {"α\tβ\n", "α\tγ\n", R"(line 1: `α\x09β` instead of `α\x09γ`)"},
      {std::string(50, 'x') + "a" + std::string(90, 'y'),
       std::string(50, 'x') + "b",
       "line 1: `…" + std::string(20, 'x') + "a" + std::string(39, 'y') +
           "…` instead of `…" + std::string(20, 'x') + "b`"},
  };
  for (const auto& [found, expected, text] : kCases) {
    EXPECT_THAT(DifferencesOf("log.txt", found, expected),
                ElementsAre("log.txt: " + text));
  }
}

TEST(Comparison, DescribesLengths_IfOneFileBeginsAsTheOther) {
  struct LengthCase {
    const char* found;
    const char* expected;
    const char* text;
  };
  const LengthCase kCases[] = {
      {"", "step", "empty, expected 4 bytes"},
      {"", "s", "empty, expected 1 byte"},
      {"step", "", "4 bytes, expected none"},
      {"step", "step 2", "ends after 4 of 6 bytes, which are right"},
      {"step 2", "step", "2 bytes after the expected 4, which are right"},
  };
  for (const auto& [found, expected, text] : kCases) {
    EXPECT_THAT(DifferencesOf("log.txt", found, expected),
                ElementsAre(std::string("log.txt: ").append(text)));
  }
}

TEST(Comparison, FindsDifferencesBehindFirstPiece) {
  std::string one(3 << 20, 'a');
  std::string other = one;
  other[(2 << 20) + 5] = 'b';
  EXPECT_THAT(DifferencesOf("data.bin", one, other),
              ElementsAre("data.bin: byte 2097158: 0x61 instead of 0x62; 1 of "
                          "3145728 bytes differ"));
}

TEST(Comparison, NamesMissingAndUnexpectedFiles) {
  TwoResults results;
  results.Found("a/new.txt", "");
  results.Found("same.txt", "x");
  results.Expected("same.txt", "x");
  results.Expected("old.txt", "");
  EXPECT_THAT(results.Differences(),
              ElementsAre("old.txt: missing", "a/new.txt: not expected"));
  EXPECT_EQ(results.comparison().files, 1u);
  EXPECT_EQ(results.comparison().bytes, 1u);
}

TEST(Comparison, TakesOnlyChosenFiles) {
  TwoResults results;
  results.Found("run/final.txt", "1");
  results.Expected("run/final.txt", "2");
  results.Found("run/events.log", "1");
  EXPECT_EQ(results.Differences().size(), 2u);
  EXPECT_THAT(results.Differences({.files = {"*.txt"}}).size(), 1u);
  EXPECT_THAT(results.Differences({.left_out = {"run/*"}}), IsEmpty());
  EXPECT_EQ(results.comparison().files, 0u);
}

TEST(Comparison, CountsDifferencesThatAreNotDescribed) {
  TwoResults results;
  for (const char* const name : {"a", "b", "c"}) {
    results.Found(name, "1");
    results.Expected(name, "2");
  }
  const auto lines = results.Differences({.max_differences = 1});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], "2 more differences");
  EXPECT_EQ(results.comparison().differing, 3u);
}

TEST(Comparison, ComparesLinksByTheirTargets) {
  TwoResults results;
  results.Found("step-1", "x");
  results.Expected("step-1", "x");
  namespace fs = std::filesystem;
  fs::create_symlink("step-1", fs::path(results.found()) / "latest");
  fs::create_symlink(fs::path(results.expected()) / "step-1",
                     fs::path(results.expected()) / "latest");
  EXPECT_THAT(results.Differences(), IsEmpty());
  fs::remove(fs::path(results.found()) / "latest");
  fs::create_symlink("step-2", fs::path(results.found()) / "latest");
  EXPECT_THAT(results.Differences(),
              ElementsAre("latest: tensor `link`: \"step-2\" instead of "
                          "\"step-1\""));
}

TEST(Comparison, DistinguishesLinkFromFile) {
  TwoResults results;
  results.Found("latest", "x");
  results.Expected("file", "x");
  results.Found("file", "x");
  std::filesystem::create_symlink("file", results.expected() + "/latest");
  EXPECT_THAT(results.Differences(),
              ElementsAre("latest: bytes instead of a link"));
}

TEST(Comparison, LeavesOutPipes_WithNote) {
  TwoResults results;
  results.Found("a", "x");
  results.Expected("a", "x");
  ASSERT_EQ(mkfifo((results.found() + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(results.Differences(), IsEmpty());
  EXPECT_THAT(results.comparison().notes,
              ElementsAre("pipe: not compared, as it is no regular file"));
}

TEST(Comparison, RefusesMissingFolder) {
  TwoResults results;
  results.Found("a", "x");
  const auto status =
      CompareResults(results.found(), results.expected(), {}).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.message(),
            results.expected() + ": expected a folder of results, found none");
}

TEST(Comparison, ComparesDamagedFileAsBytes_WithNote) {
  TwoResults results;
  const std::string sound = SafetensorsOf({1, 2}, "[2]");
  results.Found("a.safetensors", sound.substr(0, sound.size() - 1));
  results.Expected("a.safetensors", sound);
  EXPECT_THAT(results.Differences(),
              ElementsAre(testing::HasSubstr("ends after 107 of 108 bytes")));
  EXPECT_THAT(
      results.comparison().notes,
      ElementsAre("a.safetensors: compared as bytes: fc.weight: expected a "
                  "shape, and data_offsets within 7 bytes",
                  "a.safetensors: compared as bytes: bytes instead of "
                  "safetensors"));
}

// The tests above check that digests agree with comparisons. Digests also cover
// the names of files.
TEST(ResultDigest, DiffersByNameOfFile) {
  TwoResults results;
  results.Found("a", "x");
  results.Expected("b", "x");
  EXPECT_NE(*DigestOfResult(results.found(), {}),
            *DigestOfResult(results.expected(), {}));
}

}  // namespace
}  // namespace gauntlet
