#include "harness/run/files/temporary_directory.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

TEST(TemporaryDirectoryTest, ErrorNamesTheValueOfTheVariable) {
  const char* const before = getenv("TMPDIR");
  const std::string old = before == nullptr ? "/tmp" : before;
  setenv("TMPDIR", "/nonexistent", 1);
  const auto made = TemporaryDirectory::Make("test");
  setenv("TMPDIR", old.c_str(), 1);
  EXPECT_THAT(made.status().ToString(),
              HasSubstr("$TMPDIR (/nonexistent): No such file or directory"));
}

}  // namespace
}  // namespace gauntlet
