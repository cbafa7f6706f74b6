#include "harness/trainer/text/name_pattern.h"

#include <string>

#include <gtest/gtest.h>

#include <fnmatch.h>

namespace gauntlet {
namespace {

TEST(NamePatternTest, NumbersAndMixedWordsAreStars) {
  EXPECT_EQ(NamePattern("ckpt-20/model.pt"), "ckpt-*/model.pt");
  EXPECT_EQ(NamePattern("tmp8f3a_1k2"), "tmp*_*");
  EXPECT_EQ(NamePattern("latest.weights.h5"), "latest.weights.h*");
  EXPECT_EQ(NamePattern("model"), "model");
  EXPECT_EQ(NamePattern(""), "");
}

TEST(NamePatternTest, UuidIsOneStar) {
  const std::string uuid = "b3fc5f64-abcd-4562-afcb-2c963f66afa6";
  EXPECT_EQ(NamePattern("part-" + uuid + ".pt"), "part-*.pt");
  EXPECT_EQ(NamePattern("b3fc5f64abcd4562afcb2c963f66afa6"), "*");
  // One digit more is not a UUID, but a word with digits.
  EXPECT_EQ(NamePattern("b3fc5f64abcd4562afcb2c963f66afa61"), "b*");
  EXPECT_EQ(TemporaryNamePattern(uuid + ".tmp"), "*.tmp");
}

TEST(TemporaryNamePatternTest, RandomPartIsStar) {
  struct Row {
    const char* name;
    const char* pattern;
  };
  for (const Row& row : {Row{".tmpdNQpis", ".tmp*"},        // Rust
                         Row{"tmpabcdefgh", "tmp*"},        // Python
                         Row{"tmp8f3a_1k2", "tmp*"},        // Python
                         Row{"tmpx_9q0z_a.pt", "tmp*.pt"},  // with a suffix
                         Row{"ckpt_a_b1c2d3.pt", "ckpt_*.pt"},
                         Row{"ckpt.aB3dE9", "ckpt.*"},  // mkstemp
                         Row{"model.pt.tmp4fZ0aQ", "model.pt.tmp*"}}) {
    EXPECT_EQ(TemporaryNamePattern(row.name), row.pattern) << row.name;
    EXPECT_EQ(fnmatch(row.pattern, row.name, 0), 0) << row.name;
  }
}

TEST(TemporaryNamePatternTest, OtherNamesHaveTheUsualPattern) {
  for (const char* const name :
       {"checkpoint.tmp", "model_v2.tmp", "metadata", "ckpt-20", "tmp",
        "step_00000100", "latest.weights.h5", "epoch10step200", ".", "",
        "a.b."}) {
    EXPECT_EQ(TemporaryNamePattern(name), NamePattern(name)) << name;
  }
}

TEST(NamePatternTest, MatchesTheNameItself) {
  for (const char* name : {"ckpt-20/model.pt", "a[1]*?.x", "back\\slash7"}) {
    EXPECT_EQ(fnmatch(NamePattern(name).c_str(), name, 0), 0) << name;
  }
}

TEST(ExceptionClassTest, IsReadFromPythonsLastLine) {
  EXPECT_EQ(ExceptionClass("json.decoder.JSONDecodeError: Expecting value"),
            "json.decoder.JSONDecodeError");
  EXPECT_EQ(ExceptionClass("KeyboardInterrupt"), "KeyboardInterrupt");
  EXPECT_EQ(ExceptionClass("train.py: no checkpoint: Error"), "");
  EXPECT_EQ(ExceptionClass("a file was not found: Error"), "");
}

TEST(MessagePatternTest, PathsAndNumbersAreReplaced) {
  EXPECT_EQ(MessagePattern("[Errno 2] No such file: '/a/b-3.pt'"),
            "[Errno #] No such file: '<path>'");
  EXPECT_EQ(MessagePattern("offset 0x1f of 300"), "offset # of #");
  EXPECT_EQ(MessagePattern("ckpt-20: step 3."), "ckpt-#: step #.");
}

TEST(MessagePatternTest, NumberHasOnePatternInEachNotation) {
  for (const char* const number : {"5", "-5", "0.25", "1e-05", "-1.5e+07"}) {
    EXPECT_EQ(MessagePattern(std::string("loss ") + number + " is bad"),
              "loss # is bad")
        << number;
  }
}

}  // namespace
}  // namespace gauntlet
