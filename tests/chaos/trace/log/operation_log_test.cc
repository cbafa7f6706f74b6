#include "chaos/trace/log/operation_log.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "chaos/trace/log/operation_list_format.h"
#include "engine/digest.h"
#include "tests/chaos/trace/directory_text.h"
#include "tests/chaos/trace/folder.h"
#include <fcntl.h>

namespace gauntlet {
namespace {

ByteReader SourceOf(const std::string& text) {
  return [text](uint64_t at, std::span<std::byte> into) -> Result<size_t> {
    const size_t count = std::min<size_t>(into.size(), text.size() - at);
    std::memcpy(into.data(), text.data() + at, count);
    return count;
  };
}

Result<std::string> BytesOf(const OperationLog& log, const ByteExtent& extent) {
  std::string bytes;
  RETURN_IF_ERROR(log.ReadBytes(extent, [&](auto piece) {
    for (const std::byte byte : piece) bytes += static_cast<char>(byte);
    return OkStatus();
  }));
  return bytes;
}

class OperationLogTest : public testing::Test {
 protected:
  // Saves a log that contains a write of `bytes`.
  void Save(const std::string& bytes) {
    auto log = OperationLog::Create(folder_.path(), {"/watched"}, {});
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    FileOperation write{.kind = OperationKind::kWrite,
                        .rank = 2,
                        .name = {0, "a/b"},
                        .length = bytes.size()};
    write.file = log->AddFile({.device = 1, .inode = 2});
    const auto extent = log->AppendBytes(SourceOf(bytes), 0, bytes.size());
    ASSERT_TRUE(extent.ok()) << extent.status().ToString();
    write.bytes = *extent;
    ASSERT_TRUE(log->Append(write).ok());
    ASSERT_TRUE(log->Save().ok());
  }
  std::string ListText() const {
    return ContentsOf(folder_.path() + "/operations");
  }
  void Rewrite(const std::string& file, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + file, std::ios::binary) << text;
  }

  Folder folder_;
};

TEST_F(OperationLogTest, ReadsAndCopiesParts) {
  Save("0123456789");
  const auto log = OperationLog::Load(folder_.path());
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  std::string part(4, ' ');
  ASSERT_TRUE(log->ReadPart(3, std::as_writable_bytes(std::span(part))).ok());
  EXPECT_EQ(part, "3456");
  const std::string path = folder_.path() + "/copy";
  const Descriptor copy(open(path.c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_TRUE(log->CopyPart(3, 4, copy.get(), 1).ok());
  EXPECT_EQ(ContentsOf(path), std::string("\0"
                                          "3456",
                                          5));
  EXPECT_EQ(log->CopyPart(8, 4, copy.get(), 0).code(), Code::kDataLoss);
  EXPECT_EQ(log->ReadPart(8, std::as_writable_bytes(std::span(part))).code(),
            Code::kDataLoss);
}

TEST_F(OperationLogTest, LoadsWhatWasSaved) {
  // Large enough to be read in several pieces.
  const std::string bytes(3'000'000, 'x');
  Save(bytes);
  const auto log = OperationLog::Load(folder_.path());
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  ASSERT_EQ(log->operations().size(), 1U);
  const FileOperation& write = log->operations()[0];
  EXPECT_EQ(DescribeFileOperation(write), "rank 2: write [0, 3000000) of a/b");
  const auto found = BytesOf(*log, write.bytes);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_TRUE(*found == bytes);
  EXPECT_EQ(log->list().directories, std::vector<std::string>{"/watched"});
  EXPECT_EQ(log->list().files[0], (FileIdentity{.device = 1, .inode = 2}));
}

TEST_F(OperationLogTest, RefusesListThatIsCutOrChanged) {
  Save("bytes");
  const std::string text = ListText();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const Status status = DecodeOperationList(changed, "FILE").status();
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_TRUE(status.message().starts_with("FILE: ")) << status.message();
    EXPECT_FALSE(DecodeOperationList(text.substr(0, i), "FILE").ok());
  }
}

TEST_F(OperationLogTest, RefusesOtherVersion) {
  Save("bytes");
  std::string text = ListText();
  text[std::string("gauntlet operations\n").size()] = 9;
  EXPECT_EQ(DecodeOperationList(text, "FILE").status().message(),
            "FILE: expected version 1, found 9: record again");
}

TEST_F(OperationLogTest, RefusesHostileOperations) {
  const auto fault_of = [](FileOperation operation) {
    OperationList list;
    list.directories = {"/watched"};
    list.byte_count = 10;
    list.operations = {std::move(operation)};
    return DecodeOperationList(EncodeOperationList(list), "FILE")
        .status()
        .message();
  };
  EXPECT_EQ(fault_of({.name = {0, "a/b"}, .bytes = {.length = 10}}), "");
  for (const std::string path :
       {"/etc/passwd", "..", "a/../../b", "a//b", "a/", "a/./b"}) {
    EXPECT_EQ(fault_of({.name = {0, path}}),
              "FILE: operation 1 leaves its directory: record again")
        << path;
    EXPECT_NE(fault_of({.to = {0, path}}), "") << path;
  }
  EXPECT_NE(fault_of({.name = {0, std::string("a\0b", 3)}}), "");
  EXPECT_NE(fault_of({.name = {1, "a"}}), "");
  EXPECT_NE(fault_of({.file = 1}), "");
  EXPECT_NE(fault_of({.kind = static_cast<OperationKind>(99)}), "");
  EXPECT_NE(fault_of({.bytes = {.offset = 1, .length = 10}}), "");
  EXPECT_NE(fault_of({.bytes = {.offset = UINT64_MAX, .length = 2}}), "");
}

TEST_F(OperationLogTest, RefusesBytesThatAreCutOrChanged) {
  Save("some bytes");
  Rewrite("bytes", "some bytfs");
  const auto log = OperationLog::Load(folder_.path());
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  const Status changed = BytesOf(*log, log->operations()[0].bytes).status();
  EXPECT_EQ(changed.code(), Code::kDataLoss);
  EXPECT_NE(changed.message().find("not those that were recorded"),
            std::string::npos);
  Rewrite("bytes", "some byte");
  EXPECT_EQ(OperationLog::Load(folder_.path()).status().code(),
            Code::kDataLoss);
}

TEST_F(OperationLogTest, RefusesFolderThatHasALog) {
  Save("bytes");
  EXPECT_EQ(
      OperationLog::Create(folder_.path(), {"/watched"}, {}).status().code(),
      Code::kAlreadyExists);
}

TEST_F(OperationLogTest, RefusesSizesOverTheLimits) {
  auto log = OperationLog::Create(folder_.path(), {"/watched"},
                                  {.bytes = 10, .operations = 1});
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->AppendBytes(SourceOf("0123456789"), 0, 10).ok());
  EXPECT_EQ(log->AppendBytes(SourceOf("x"), 0, 1).status().code(),
            Code::kResourceExhausted);
  EXPECT_TRUE(log->Append({}).ok());
  EXPECT_EQ(log->Append({}).code(), Code::kResourceExhausted);
}

TEST(OperationKindTest, HasNameForEachKind) {
  for (int i = 0; i <= static_cast<int>(kLastOperationKind); ++i) {
    const auto kind = static_cast<OperationKind>(i);
    EXPECT_EQ(ParseOperationKind(OperationKindName(kind)), kind);
  }
  EXPECT_EQ(ParseOperationKind("none"), std::nullopt);
}

}  // namespace
}  // namespace gauntlet
