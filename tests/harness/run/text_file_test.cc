#include "harness/run/text_file.h"

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"
#include <sys/resource.h>

namespace gauntlet {
namespace {

TEST(NewTextFileTest, IsNeverWrittenOverAnother) {
  ScratchDirectory scratch;
  const std::string path = scratch / "file";
  ASSERT_TRUE(WriteNewTextFile(path, "first").ok());
  const Status again = WriteNewTextFile(path, "second");
  EXPECT_EQ(again.code(), Code::kAlreadyExists);
  EXPECT_EQ(again.message(), path + ": there is one already");
  EXPECT_EQ(ReadTextFile(path), "first");
}

TEST(NewTextFileTest, IsNotThereWhereItHasNoRoom) {
  ScratchDirectory scratch;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {.rlim_cur = 4, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string path = scratch / "file";
  const Status written = WriteNewTextFile(path, "too long");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(written.code(), Code::kIoError);
  EXPECT_EQ(written.message(), path + ": cannot be written: File too large");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(WriteNewTextFile(scratch / "none/file", "text").code(),
            Code::kIoError);
}

TEST(TextFileTest, FullDiskHasAnErrorOfItsOwn) {
  const Status written = WriteTextFile("/dev/full", "text");
  EXPECT_EQ(written.code(), Code::kResourceExhausted);
  EXPECT_EQ(written.message(),
            "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace gauntlet
