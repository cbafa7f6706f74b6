// Tests of the fake storages: other tests depend on the operations that these
// refuse.
#include "tests/engine/world/memory_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Status Write(Storage& storage, const std::string& path, OpenMode mode) {
  ASSIGN_OR_RETURN(const auto file, storage.Open(path, mode));
  return file->WriteAt(0, BytesOf("new"));
}

TEST(MemoryStorageTest, OperationFailsAsInAFileSystem) {
  MemoryStorage storage;
  storage.SetContents(
      {{"/d/", ""}, {"/d/sub/", ""}, {"/d/a", "old"}, {"/empty/", ""}});
  const auto contents = storage.Contents();
  const struct {
    const char* operation;
    Status status;
    Code code;
  } cases[] = {
      {"write a file opened to read", Write(storage, "/d/a", OpenMode::kRead),
       Code::kIoError},
      {"create what exists", Write(storage, "/d/a", OpenMode::kCreateExclusive),
       Code::kAlreadyExists},
      {"create without a directory",
       Write(storage, "/x/a", OpenMode::kCreateTruncate), Code::kNotFound},
      {"open what is missing", Write(storage, "/d/b", OpenMode::kReadWrite),
       Code::kNotFound},
      {"open a directory", Write(storage, "/d", OpenMode::kRead),
       Code::kIoError},
      {"make what exists", storage.MakeDirectory("/d"), Code::kAlreadyExists},
      {"make below a missing directory", storage.MakeDirectory("/x/y"),
       Code::kNotFound},
      {"move a directory into itself", storage.Rename("/d", "/d/sub/d"),
       Code::kIoError},
      {"replace a full directory", storage.Rename("/empty", "/d"),
       Code::kAlreadyExists},
      {"replace a directory by a file", storage.Rename("/d/a", "/empty"),
       Code::kIoError},
      {"move below a missing directory", storage.Rename("/d", "/x/y"),
       Code::kNotFound},
      {"replace a file that must not exist",
       storage.RenameToNew("/d/a", "/d/a"), Code::kAlreadyExists},
      {"remove a full directory", storage.Remove("/d", FileKind::kDirectory),
       Code::kAlreadyExists},
      {"remove a directory as a file", storage.Remove("/d", FileKind::kFile),
       Code::kIoError},
      {"sync a missing directory", storage.SyncDirectory("/x"),
       Code::kNotFound},
      {"list a file", storage.List("/d/a").status(), Code::kNotFound},
  };
  for (const auto& c : cases) EXPECT_EQ(c.status.code(), c.code) << c.operation;
  EXPECT_EQ(storage.Contents(), contents);
}

TEST(MemoryStorageTest, RenameMovesAllBelowADirectory) {
  MemoryStorage storage;
  storage.SetContents({{"/a/", ""}, {"/a/b/", ""}, {"/a/b/c", "1"}});
  ASSERT_TRUE(storage.Rename("/a", "/d").ok());
  EXPECT_THAT(
      storage.Contents(),
      ElementsAre(Pair("/d/", ""), Pair("/d/b/", ""), Pair("/d/b/c", "1")));
}

TEST(MemoryStorageTest, BytesAreDurableAfterASync) {
  MemoryStorage storage;
  const auto file = *storage.Open("a", OpenMode::kCreateExclusive);
  ASSERT_TRUE(file->WriteAt(1, BytesOf("x")).ok());
  EXPECT_EQ(storage.DurableBytes("a"), "");
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(storage.DurableBytes("a"), std::string("\0x", 2));
}

TEST(GatedStorageTest, RefusedOperationHasNoEffect) {
  MemoryStorage base;
  base.SetContents({{"/d/", ""}, {"/a", "old"}});
  const auto contents = base.Contents();
  GatedStorage storage(base);
  const auto open_before = *storage.Open("/a", OpenMode::kReadWrite);
  storage.gate = AllowReading;
  EXPECT_EQ(*ReadFile(storage, "/a", 100), "old");
  EXPECT_TRUE(storage.List("/d").ok());
  EXPECT_TRUE(storage.OpenPrivate("/a").ok());
  const Status refused[] = {
      Write(storage, "/a", OpenMode::kReadWrite),
      Write(storage, "/a", OpenMode::kCreateTruncate),
      open_before->WriteAt(0, BytesOf("new")),
      open_before->Sync(),
      storage.CreatePrivate("/b").status(),
      storage.MakeDirectory("/b"),
      storage.Rename("/a", "/b"),
      storage.RenameToNew("/a", "/b"),
      storage.Remove("/a", FileKind::kFile),
      storage.SyncDirectory("/d"),
      storage.Lock("/a").status(),
  };
  for (const Status& status : refused) {
    EXPECT_THAT(status.message(), testing::HasSubstr("read only"));
  }
  EXPECT_EQ(base.Contents(), contents);
}

}  // namespace
}  // namespace gauntlet
