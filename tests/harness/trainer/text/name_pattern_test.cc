#include "harness/trainer/text/name_pattern.h"

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

TEST(NamePatternTest, MatchesTheNameItself) {
  for (const char* name : {"ckpt-20/model.pt", "a[1]*?.x", "back\\slash7"}) {
    EXPECT_EQ(fnmatch(NamePattern(name).c_str(), name, 0), 0) << name;
  }
}

TEST(ExceptionClassTest, IsThatOfPythonsLastLine) {
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
}

}  // namespace
}  // namespace gauntlet
