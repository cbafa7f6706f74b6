#include "engine/cli/output_file.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"
#include <sys/stat.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() { std::ofstream(scratch_ / "there") << "text"; }

  ScratchDirectory scratch_;
};

TEST_F(OutputFileTest, AcceptsFilesThatCanBeWritten) {
  for (const std::string& file :
       {std::string(), scratch_ / "new", scratch_ / "there",
        std::string("/dev/null"), std::string("no-such-name-here")}) {
    const Status status = CheckOutputFile(file);
    EXPECT_TRUE(status.ok()) << file << ": " << status.ToString();
  }
  EXPECT_EQ(TextOf(scratch_ / "there"), "text") << "the check writes nothing";
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "new"));
}

TEST_F(OutputFileTest, RefusesTheNameOfStandardOutput) {
  EXPECT_EQ(CheckOutputFile("-").code(), Code::kInvalidArgument);
  EXPECT_THAT(CheckFileName("-").message(), HasSubstr("./-"));
  EXPECT_TRUE(CheckOutputFile("./-").ok());
}

TEST_F(OutputFileTest, NamesTheFolderThatIsMissing) {
  const std::string file = scratch_ / "none/new";
  for (const Status& status : {CheckFolderOf(file), CheckOutputFile(file)}) {
    EXPECT_EQ(status.code(), Code::kIoError);
    EXPECT_EQ(status.message(),
              file + ": there is no folder " + (scratch_ / "none"));
  }
}

TEST_F(OutputFileTest, RefusesAFolder) {
  const Status status = CheckOutputFile(scratch_.path());
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(status.message(),
            scratch_.path() + ": expected a file, found a folder");
}

TEST_F(OutputFileTest, RefusesAPipeWithoutWaiting) {
  ASSERT_EQ(mkfifo((scratch_ / "pipe").c_str(), 0600), 0);
  const Status status = CheckOutputFile(scratch_ / "pipe");
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_THAT(status.message(), HasSubstr("expected a regular file"));
}

}  // namespace
}  // namespace gauntlet
