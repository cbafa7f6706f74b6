#include "chaos/trace/log/pending_bytes.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/chaos/trace/folder.h"
#include <fcntl.h>
#include <unistd.h>

namespace gauntlet {
namespace {

class PendingBytesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto log = OperationLog::Create(folder_.path(), {"/watched"}, {});
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    log_.emplace(*std::move(log));
    path_ = folder_.path() + "/file";
    file_ = Descriptor(open(path_.c_str(), O_RDWR | O_CREAT, 0600));
  }

  // Writes to the file, and logs the write as the next operation of file 1.
  void Write(uint64_t offset, const std::string& text) {
    Overwrite(offset, text);
    const FileOperation write = {.kind = OperationKind::kWrite,
                                 .file = 1,
                                 .offset = offset,
                                 .length = text.size()};
    ASSERT_TRUE(pending_.Add(log_->operations().size(), write, file_.get()));
    ASSERT_TRUE(log_->Append(write).ok());
  }
  void Overwrite(uint64_t offset, const std::string& text) const {
    ASSERT_EQ(pwrite(file_.get(), text.data(), text.size(),
                     static_cast<off_t>(offset)),
              static_cast<ssize_t>(text.size()));
  }
  std::string BytesOf(size_t index) const {
    std::string bytes;
    const Status read =
        log_->ReadBytes(log_->operations()[index].bytes, [&](auto piece) {
          for (const std::byte byte : piece) bytes += static_cast<char>(byte);
          return OkStatus();
        });
    return read.ok() ? bytes : read.ToString();
  }

  Folder folder_;
  std::optional<OperationLog> log_;
  std::string path_;
  Descriptor file_;
  PendingBytes pending_;
};

TEST_F(PendingBytesTest, CopiesOnlyWritesThatAChangeTouches) {
  Write(0, "head");
  Write(4, "data");
  ASSERT_TRUE(pending_.CopyTouched(1, {.begin = 3, .end = 4}, *log_).ok());
  EXPECT_EQ(BytesOf(0), "head");
  EXPECT_EQ(BytesOf(1), "") << "it waits";
  EXPECT_EQ(pending_.size(), 4u);
  Overwrite(0, "HEAD");
  ASSERT_TRUE(pending_.CopyAll(*log_).ok());
  EXPECT_EQ(BytesOf(0), "head");
  EXPECT_EQ(BytesOf(1), "data");
  EXPECT_EQ(pending_.size(), 0u);
}

TEST_F(PendingBytesTest, ReadsFileThatLostItsName) {
  Write(0, "data");
  std::filesystem::remove(path_);
  file_ = Descriptor();
  ASSERT_TRUE(pending_.CopyAll(*log_).ok());
  EXPECT_EQ(BytesOf(0), "data");
}

TEST_F(PendingBytesTest, RefusesWrites_OfFileMarkedNeverWaits) {
  Write(0, "data");
  pending_.NeverWaits(1);
  const FileOperation write = {
      .kind = OperationKind::kWrite, .file = 1, .offset = 4, .length = 1};
  EXPECT_FALSE(pending_.Add(1, write, file_.get()));
}

TEST_F(PendingBytesTest, LeavesOtherFilesAlone) {
  Write(0, "data");
  ASSERT_TRUE(pending_.CopyTouched(2, kWholeFile, *log_).ok());
  EXPECT_TRUE(pending_.Has(1));
  EXPECT_EQ(BytesOf(0), "");
}

}  // namespace
}  // namespace gauntlet
