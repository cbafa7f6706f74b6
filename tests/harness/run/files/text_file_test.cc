#include "harness/run/files/text_file.h"

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

TEST(WrittenFileLineTest, RoundsTheSizeUp) {
  EXPECT_EQ(WrittenFileLine("t\x01", ""), "t\\x01  0 KiB\n");
  EXPECT_EQ(WrittenFileLine("t", std::string(1025, 'x')), "t  2 KiB\n");
}

// Limits the size of files, so that a write fails half way.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes)
      : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  using Handler = void (*)(int);
  const Handler handler_;
  rlimit before_{};
};

TEST(NewTextFileTest, IsRemoved_IfTheWriteFails) {
  ScratchDirectory scratch;
  const std::string path = scratch / "file";
  Status written;
  {
    const FileSizeLimit limit(4);
    written = WriteNewTextFile(path, "too long");
  }
  EXPECT_EQ(written.code(), Code::kIoError);
  EXPECT_EQ(written.message(),
            path +
                ": cannot be written: File too large (ulimit -f, or the "
                "file system's own limit)");
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

TEST(TextFileTest, FailedWrite_KeepsTheFormerContent) {
  ScratchDirectory scratch;
  const std::string path = scratch / "report.html";
  const auto write_too_much = [&path] {
    const FileSizeLimit limit(10'000);
    return WriteTextFile(path, std::string(100'000, 'x'));
  };
  EXPECT_EQ(write_too_much().message(),
            path +
                ": cannot be written: File too large (ulimit -f, or the "
                "file system's own limit)");
  EXPECT_TRUE(std::filesystem::is_empty(scratch / ""));
  ASSERT_TRUE(WriteTextFile(path, "old").ok());
  EXPECT_FALSE(write_too_much().ok());
  EXPECT_EQ(ReadTextFile(path), "old");
  const std::filesystem::directory_iterator entries(scratch / "");
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(TextFileTest, ReplacedFileKeepsItsMode) {
  namespace fs = std::filesystem;
  ScratchDirectory scratch;
  const std::string path = scratch / "report.html";
  ASSERT_TRUE(WriteTextFile(path, "old").ok());
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(WriteTextFile(path, "new").ok());
  EXPECT_EQ(ReadTextFile(path), "new");
  EXPECT_EQ(fs::status(path).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(TextFileTest, LongNameIsWrittenInPlace) {
  ScratchDirectory scratch;
  // A temporary file's name would be too long.
  const std::string path = scratch / std::string(250, 'n');
  for (const char* text : {"old", "new"}) {
    ASSERT_TRUE(WriteTextFile(path, text).ok());
    EXPECT_EQ(ReadTextFile(path), text);
  }
}

TEST(TextFileTest, LinksAndDevicesStay) {
  ScratchDirectory scratch;
  const std::string link = scratch / "latest";
  std::filesystem::create_symlink("target", link);
  ASSERT_TRUE(WriteTextFile(link, "text").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(ReadTextFile(scratch / "target"), "text");
  EXPECT_TRUE(WriteTextFile("/dev/null", "text").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace gauntlet
