#include <algorithm>
#include <vector>

#include "tests/contract/world_fixture.h"

namespace gauntlet {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Status Write(World& world, const std::string& path, std::string_view text) {
  ASSIGN_OR_RETURN(const auto file,
                   world.storage.Open(path, OpenMode::kCreateTruncate));
  return file->WriteAt(0, Bytes(text));
}

std::string Read(World& world, const std::string& path) {
  const auto text = ReadFile(world.storage, path, 1 << 20);
  return text.ok() ? *text : text.status().ToString();
}

std::vector<std::string> Names(World& world, const std::string& path) {
  std::vector<std::string> names;
  const auto entries = world.storage.List(path);
  EXPECT_TRUE(entries.ok()) << entries.status().ToString();
  for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
  return names;
}

TEST_P(StorageContract, ReadsWhatWasWritten) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "hello").ok());
    EXPECT_EQ(Read(world, path), "hello");
  });
}

TEST_P(StorageContract, OpenOfAMissingFileIsNotFound) {
  const std::string path = Path("missing");
  InWorld([&](World& world) {
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kReadWrite}) {
      const auto file = world.storage.Open(path, mode);
      EXPECT_EQ(file.status().code(), Code::kNotFound);
      EXPECT_THAT(file.status().message(), testing::HasSubstr(path));
    }
  });
}

TEST_P(StorageContract, CreateInAMissingDirectoryIsNotFound) {
  const std::string path = Path("missing/a");
  InWorld([&](World& world) {
    EXPECT_EQ(Write(world, path, "x").code(), Code::kNotFound);
    EXPECT_EQ(world.storage.MakeDirectory(path).code(), Code::kNotFound);
  });
}

TEST_P(StorageContract, CreateExclusive_RefusesExistingFile) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    EXPECT_TRUE(world.storage.Open(path, OpenMode::kCreateExclusive).ok());
    EXPECT_EQ(
        world.storage.Open(path, OpenMode::kCreateExclusive).status().code(),
        Code::kAlreadyExists);
  });
}

TEST_P(StorageContract, ConcurrentExclusiveCreate_SucceedsOnce) {
  const std::string path = Path("claim");
  InWorld([&](World& world) {
    std::vector<char> won(8, 0);
    std::vector<std::unique_ptr<Task>> tasks;
    for (char& flag : won) {
      tasks.push_back(world.tasks.Spawn("claimant", [&] {
        flag = world.storage.Open(path, OpenMode::kCreateExclusive).ok();
      }));
    }
    for (const auto& task : tasks) task->Join();
    EXPECT_EQ(std::count(won.begin(), won.end(), 1), 1);
  });
}

TEST_P(StorageContract, CreateTruncateEmptiesAFile) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "long text").ok());
    ASSERT_TRUE(Write(world, path, "new").ok());
    EXPECT_EQ(Read(world, path), "new");
  });
}

TEST_P(StorageContract, ReadWriteKeepsTheContent) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "hello").ok());
    const auto file = world.storage.Open(path, OpenMode::kReadWrite);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->WriteAt(1, Bytes("a")).ok());
    EXPECT_EQ(Read(world, path), "hallo");
  });
}

TEST_P(StorageContract, WriteToAFileOpenedForReadingIsAnError) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "hello").ok());
    const auto file = world.storage.Open(path, OpenMode::kRead);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ((*file)->WriteAt(0, Bytes("x")).code(), Code::kIoError);
    EXPECT_EQ(Read(world, path), "hello");
  });
}

TEST_P(StorageContract, ReadAtTheEndIsShort) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "0123456789").ok());
    const auto file = world.storage.Open(path, OpenMode::kRead);
    ASSERT_TRUE(file.ok());
    std::vector<std::byte> buffer(4);
    for (const auto& [offset, count] : std::vector<std::pair<uint64_t, size_t>>{
             {0, 4}, {6, 4}, {8, 2}, {10, 0}, {1000, 0}}) {
      EXPECT_EQ(*(*file)->ReadAt(offset, buffer), count) << offset;
    }
    EXPECT_EQ(*(*file)->ReadAt(0, {}), 0u);
  });
}

TEST_P(StorageContract, GapReadsAsZeros) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    const auto file = world.storage.Open(path, OpenMode::kCreateExclusive);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->WriteAt(10'000, Bytes("x")).ok());
    EXPECT_EQ(*(*file)->Size(), 10'001u);
    EXPECT_EQ(Read(world, path), std::string(10'000, '\0') + "x");
  });
}

TEST_P(StorageContract, EmptyWriteChangesNothing) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    const auto file = world.storage.Open(path, OpenMode::kCreateExclusive);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->WriteAt(100, {}).ok());
    EXPECT_EQ(*(*file)->Size(), 0u);
  });
}

TEST_P(StorageContract, SeveralMegabytesSurviveUnevenWrites) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    std::string text(3'000'001, '\0');
    for (size_t i = 0; i < text.size(); ++i) {
      text[i] = static_cast<char>((i * 2654435761u) >> 11);
    }
    const auto file = world.storage.Open(path, OpenMode::kCreateExclusive);
    ASSERT_TRUE(file.ok());
    for (size_t begin = 0; begin < text.size(); begin += 70'001) {
      const auto part = std::string_view(text).substr(begin, 70'001);
      ASSERT_TRUE((*file)->WriteAt(begin, Bytes(part)).ok());
    }
    ASSERT_TRUE((*file)->Sync().ok());
    EXPECT_TRUE(*ReadFile(world.storage, path, 1 << 22) == text);
  });
}

TEST_P(StorageContract, ReadFileRefusesAFileBeyondItsLimit) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "hello").ok());
    EXPECT_EQ(ReadFile(world.storage, path, 4).status().code(),
              Code::kDataLoss);
    EXPECT_EQ(*ReadFile(world.storage, path, 5), "hello");
  });
}

TEST_P(StorageContract, ListsNamesInByteOrderWithTheirKinds) {
  const std::string directory = Path("d");
  InWorld([&](World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory(directory).ok());
    EXPECT_EQ(Names(world, directory), std::vector<std::string>{});
    for (const char* name : {"b", "a10", "B", "a9", ".hidden", "\xC3\xA4"}) {
      ASSERT_TRUE(Write(world, directory + "/" + name, "").ok());
    }
    ASSERT_TRUE(world.storage.MakeDirectory(directory + "/a").ok());
    EXPECT_EQ(Names(world, directory),
              (std::vector<std::string>{".hidden", "B", "a", "a10", "a9", "b",
                                        "\xC3\xA4"}));
    const auto entries = world.storage.List(directory);
    EXPECT_EQ((*entries)[1].kind, FileKind::kFile);
    EXPECT_EQ((*entries)[2].kind, FileKind::kDirectory);
  });
}

TEST_P(StorageContract, ListOfAMissingDirectoryIsNotFound) {
  const std::string path = Path("missing");
  InWorld([&](World& world) {
    EXPECT_EQ(world.storage.List(path).status().code(), Code::kNotFound);
    EXPECT_EQ(world.storage.SyncDirectory(path).code(), Code::kNotFound);
  });
}

TEST_P(StorageContract, MakeDirectoryRefusesATakenName) {
  const std::string directory = Path("d");
  const std::string file = Path("f");
  InWorld([&](World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory(directory).ok());
    ASSERT_TRUE(Write(world, file, "").ok());
    EXPECT_EQ(world.storage.MakeDirectory(directory).code(),
              Code::kAlreadyExists);
    EXPECT_EQ(world.storage.MakeDirectory(file).code(), Code::kAlreadyExists);
    EXPECT_TRUE(world.storage.SyncDirectory(directory).ok());
  });
}

TEST_P(StorageContract, RenameMovesAFile) {
  const std::string from = Path("a");
  const std::string to = Path("b");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, from, "hello").ok());
    ASSERT_TRUE(world.storage.Rename(from, to).ok());
    EXPECT_EQ(Read(world, to), "hello");
    EXPECT_EQ(world.storage.Open(from, OpenMode::kRead).status().code(),
              Code::kNotFound);
  });
}

TEST_P(StorageContract, RenameReplacesAFile) {
  const std::string from = Path("a");
  const std::string to = Path("b");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, from, "new").ok());
    ASSERT_TRUE(Write(world, to, "old").ok());
    ASSERT_TRUE(world.storage.Rename(from, to).ok());
    EXPECT_EQ(Read(world, to), "new");
  });
}

TEST_P(StorageContract, RenameMovesADirectoryWithItsContent) {
  const std::string from = Path("step.tmp");
  const std::string to = Path("step");
  InWorld([&](World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory(from).ok());
    ASSERT_TRUE(Write(world, from + "/shard", "bytes").ok());
    ASSERT_TRUE(world.storage.Rename(from, to).ok());
    EXPECT_EQ(Read(world, to + "/shard"), "bytes");
    EXPECT_EQ(world.storage.List(from).status().code(), Code::kNotFound);
  });
}

TEST_P(StorageContract, RenameReplacesAnEmptyDirectoryOnly) {
  const std::string from = Path("a");
  const std::string empty = Path("b");
  const std::string full = Path("c");
  InWorld([&](World& world) {
    for (const auto& path : {from, empty, full}) {
      ASSERT_TRUE(world.storage.MakeDirectory(path).ok());
    }
    ASSERT_TRUE(Write(world, full + "/x", "").ok());
    EXPECT_EQ(world.storage.Rename(from, full).code(), Code::kAlreadyExists);
    EXPECT_EQ(Names(world, full), std::vector<std::string>{"x"});
    EXPECT_TRUE(world.storage.Rename(full, empty).ok());
    EXPECT_EQ(Names(world, empty), std::vector<std::string>{"x"});
  });
}

TEST_P(StorageContract, RenameOfAMissingFileIsNotFound) {
  const std::string from = Path("missing");
  const std::string to = Path("b");
  InWorld([&](World& world) {
    const Status status = world.storage.Rename(from, to);
    EXPECT_EQ(status.code(), Code::kNotFound);
    EXPECT_THAT(status.message(), testing::HasSubstr(from));
  });
}

TEST_P(StorageContract, ConcurrentRenameOfDirectory_SucceedsOnce) {
  const std::string from = Path("old");
  InWorld([&](World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory(from).ok());
    std::vector<char> won(6, 0);
    std::vector<std::unique_ptr<Task>> tasks;
    for (size_t i = 0; i < won.size(); ++i) {
      tasks.push_back(world.tasks.Spawn("deleter", [&, i] {
        won[i] =
            world.storage.Rename(from, Path(std::to_string(i))).ok() ? 1 : 0;
      }));
    }
    for (const auto& task : tasks) task->Join();
    EXPECT_EQ(std::count(won.begin(), won.end(), 1), 1);
  });
}

TEST_P(StorageContract, RemovesAFileAndAnEmptyDirectory) {
  const std::string file = Path("a");
  const std::string directory = Path("d");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, file, "x").ok());
    ASSERT_TRUE(world.storage.MakeDirectory(directory).ok());
    EXPECT_TRUE(world.storage.Remove(file, FileKind::kFile).ok());
    EXPECT_TRUE(world.storage.Remove(directory, FileKind::kDirectory).ok());
    EXPECT_EQ(world.storage.Remove(file, FileKind::kFile).code(),
              Code::kNotFound);
    EXPECT_EQ(world.storage.Remove(directory, FileKind::kDirectory).code(),
              Code::kNotFound);
  });
}

TEST_P(StorageContract, RemoveRefusesADirectoryThatIsNotEmpty) {
  const std::string directory = Path("d");
  InWorld([&](World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory(directory).ok());
    ASSERT_TRUE(Write(world, directory + "/a", "x").ok());
    EXPECT_EQ(world.storage.Remove(directory, FileKind::kDirectory).code(),
              Code::kAlreadyExists);
    EXPECT_EQ(Read(world, directory + "/a"), "x");
  });
}

TEST_P(StorageContract, RemoveOfTheWrongKindIsAnError) {
  const std::string directory = Path("d");
  const std::string file = Path("f");
  InWorld([&](World& world) {
    ASSERT_TRUE(world.storage.MakeDirectory(directory).ok());
    ASSERT_TRUE(Write(world, file, "x").ok());
    EXPECT_EQ(world.storage.Remove(directory, FileKind::kFile).code(),
              Code::kIoError);
    EXPECT_EQ(world.storage.Remove(file, FileKind::kDirectory).code(),
              Code::kIoError);
    EXPECT_EQ(Read(world, file), "x");
  });
}

TEST_P(StorageContract, OpenFileOutlivesItsName) {
  const std::string path = Path("a");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "hello").ok());
    const auto file = world.storage.Open(path, OpenMode::kRead);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(world.storage.Remove(path, FileKind::kFile).ok());
    std::vector<std::byte> buffer(5);
    EXPECT_EQ(*(*file)->ReadAt(0, buffer), 5u);
  });
}

TEST_P(StorageContract, LockExcludesUntilItIsDestroyed) {
  const std::string path = Path("lock");
  InWorld([&](World& world) {
    {
      const auto held = world.storage.Lock(path);
      ASSERT_TRUE(held.ok()) << held.status().ToString();
      EXPECT_EQ(world.storage.Lock(path).status().code(), Code::kAlreadyExists);
    }
    EXPECT_TRUE(world.storage.Lock(path).ok());
  });
}

TEST_P(StorageContract, LocksOnDifferentPathsAreIndependent) {
  const std::string one = Path("one");
  const std::string two = Path("two");
  InWorld([&](World& world) {
    const auto first = world.storage.Lock(one);
    const auto second = world.storage.Lock(two);
    EXPECT_TRUE(first.ok());
    EXPECT_TRUE(second.ok());
  });
}

// Does not check the content of the locked file: the real storage overwrites it
// with the holder's name.
TEST_P(StorageContract, LocksAnExistingFile) {
  const std::string path = Path("lock");
  InWorld([&](World& world) {
    ASSERT_TRUE(Write(world, path, "owner").ok());
    const auto held = world.storage.Lock(path);
    ASSERT_TRUE(held.ok()) << held.status().ToString();
    EXPECT_TRUE(world.storage.Open(path, OpenMode::kRead).ok());
    EXPECT_EQ(world.storage.Lock(path).status().code(), Code::kAlreadyExists);
  });
}

}  // namespace
}  // namespace gauntlet
