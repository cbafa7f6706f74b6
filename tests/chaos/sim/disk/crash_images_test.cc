#include "chaos/sim/disk/crash_images.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr auto kExt4 = DurabilityProfile::kExt4;
constexpr auto kWeak = DurabilityProfile::kWeak;
constexpr CrashBound kNoBound = {.names_up_to = UINT64_MAX,
                                 .contents_up_to = UINT64_MAX,
                                 .combinations_up_to = UINT64_MAX};

using Work = std::function<void(SimDisk&)>;

void Write(SimDisk& disk, const std::string& path, std::string_view text,
           uint64_t offset = 0) {
  auto file = disk.Open(path, OpenMode::kReadWrite);
  if (!file.ok()) file = disk.Open(path, OpenMode::kCreateExclusive);
  ASSERT_TRUE(disk.Write(**file, offset, std::as_bytes(std::span(text))).ok());
}

void Sync(SimDisk& disk, const std::string& path) {
  disk.Sync(**disk.Open(path, OpenMode::kRead));
}

// Returns blocks in which neighbouring sectors differ.
std::string Blocks(size_t count) {
  std::string text(count * SimDisk::kBlockBytes, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>('A' + (i / SimDisk::kSectorBytes) % 50);
  }
  return text;
}

// Appends all paths and contents of a tree to `text`.
void Dump(SimDisk& disk, const std::string& path, std::string& text) {
  const auto listed = disk.List(path);
  for (const DirectoryEntry& entry : *listed) {
    const std::string here = path + "/" + entry.name;
    if (entry.kind == FileKind::kDirectory) {
      text += here + "/\n";
      Dump(disk, here, text);
    } else {
      text += here + "=" + (*disk.Open(here, OpenMode::kRead))->data + "\n";
    }
  }
}

void Dump(const ImageDirectory& directory, const std::string& path,
          std::string& text) {
  for (const ImageEntry& entry : directory.entries) {
    const std::string here = path + "/" + entry.name;
    if (entry.directory != nullptr) {
      text += here + "/\n";
      Dump(*entry.directory, here, text);
    } else {
      text += here + "=" + entry.file->data + "\n";
    }
  }
}

// Runs `work` and a power loss with every sequence of answers that a
// ChoiceSource can give. Returns the directory trees that are left.
std::set<std::string> ByTryingAllCuts(DurabilityProfile profile,
                                      const Work& work) {
  std::set<std::string> trees;
  std::vector<std::pair<uint64_t, uint64_t>> answers;  // answer, options
  do {
    SimDisk disk({.profile = profile, .late_syncs = 2});
    work(disk);
    size_t asked = 0;
    disk.PowerLoss([&](uint64_t n) {
      if (asked == answers.size()) answers.emplace_back(0, n);
      return answers[asked++].first;
    });
    std::string tree;
    Dump(disk, "", tree);
    trees.insert(tree);
    answers.resize(asked);
    while (!answers.empty() &&
           ++answers.back().first == answers.back().second) {
      answers.pop_back();
    }
  } while (!answers.empty());
  return trees;
}

struct Enumerated {
  std::set<std::string> trees;
  std::set<Digest> hashes;
  uint64_t visits = 0;
  uint64_t enumerated = 0;
  double left_out = 0;
};

Enumerated Enumerate(DurabilityProfile profile, const Work& work,
                     const CrashBound& bound = kNoBound) {
  SimDisk disk({.profile = profile, .late_syncs = 2});
  work(disk);
  FileOutcomesCache cache;
  const CrashImages images(disk, bound, cache);
  Enumerated all;
  ImageDirectory root;
  images.ForEach([&](const CrashImage& image) {
    ++all.visits;
    all.hashes.insert(image.hash);
    images.Build(image, root);
    std::string tree;
    Dump(root, "", tree);
    all.trees.insert(tree);
    return true;
  });
  all.enumerated = images.enumerated();
  all.left_out = images.left_out();
  return all;
}

struct SmallWork {
  std::string name;
  Work work;
};
void PrintTo(const SmallWork& work, std::ostream* out) { *out << work.name; }

std::vector<SmallWork> SmallWorks() {
  return {
      {"nothing", [](SimDisk&) {}},
      {"one_file", [](SimDisk& disk) { Write(disk, "/a", Blocks(1)); }},
      {"overwritten",
       [](SimDisk& disk) {
         Write(disk, "/a", Blocks(1));
         Sync(disk, "/a");
         EXPECT_TRUE(disk.SyncDirectory("/").ok());
         Write(disk, "/a", std::string(5000, 'n'));
       }},
      {"names",
       [](SimDisk& disk) {
         EXPECT_TRUE(disk.MakeDirectory("/d").ok());
         Write(disk, "/d/a", "text");
         EXPECT_TRUE(disk.Rename("/d/a", "/d/b").ok());
         EXPECT_TRUE(disk.Rename("/d", "/e").ok());
         Write(disk, "/d", "more");
       }},
      {"replaced",
       [](SimDisk& disk) {
         Write(disk, "/b", "old");
         Sync(disk, "/b");
         EXPECT_TRUE(disk.SyncDirectory("/").ok());
         Write(disk, "/a", Blocks(1));
         EXPECT_TRUE(disk.Rename("/a", "/b").ok());
         EXPECT_TRUE(disk.MakeDirectory("/c").ok());
       }},
      {"a_small_save",
       [](SimDisk& disk) {
         EXPECT_TRUE(disk.MakeDirectory("/s").ok());
         EXPECT_TRUE(disk.SyncDirectory("/").ok());
         EXPECT_TRUE(disk.MakeDirectory("/s/1.tmp").ok());
         Write(disk, "/s/1.tmp/x", "shard");
         Write(disk, "/s/1.tmp/m", "manifest");
         Sync(disk, "/s/1.tmp/x");
         EXPECT_TRUE(disk.SyncDirectory("/s/1.tmp").ok());
         EXPECT_TRUE(disk.Rename("/s/1.tmp", "/s/1").ok());
       }},
      {"removed_and_emptied",
       [](SimDisk& disk) {
         Write(disk, "/a", "aa");
         Write(disk, "/b", Blocks(2));
         Sync(disk, "/a");
         Sync(disk, "/b");
         EXPECT_TRUE(disk.SyncDirectory("/").ok());
         EXPECT_TRUE(disk.Remove("/a", FileKind::kFile).ok());
         EXPECT_TRUE(disk.Open("/b", OpenMode::kCreateTruncate).ok());
       }},
      {"emptied_and_written_again",
       [](SimDisk& disk) {
         Write(disk, "/a", Blocks(2));
         Sync(disk, "/a");
         EXPECT_TRUE(disk.SyncDirectory("/").ok());
         EXPECT_TRUE(disk.Open("/a", OpenMode::kCreateTruncate).ok());
         Write(disk, "/a", std::string(5000, 'n'));
       }},
      {"emptied_and_written_with_the_old_content",
       [](SimDisk& disk) {
         Write(disk, "/a", Blocks(2));
         Sync(disk, "/a");
         EXPECT_TRUE(disk.SyncDirectory("/").ok());
         EXPECT_TRUE(disk.Open("/a", OpenMode::kCreateTruncate).ok());
         Write(disk, "/a", Blocks(2));
       }},
  };
}

class EveryCut
    : public testing::TestWithParam<std::tuple<std::string_view, SmallWork>> {};

TEST_P(EveryCut, IsEnumeratedAndNothingElse) {
  const auto& [profile, work] = GetParam();
  const auto tried = ByTryingAllCuts(*FindProfile(profile), work.work);
  const Enumerated found = Enumerate(*FindProfile(profile), work.work);
  EXPECT_EQ(found.trees, tried);
  EXPECT_EQ(found.hashes.size(), tried.size());
  EXPECT_EQ(found.visits, found.enumerated);
  EXPECT_EQ(found.left_out, 0);
}

std::string NameOfCut(const testing::TestParamInfo<EveryCut::ParamType>& info) {
  std::string name = fmt::format("{}_{}", std::get<0>(info.param),
                                 std::get<1>(info.param).name);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(CrashImages, EveryCut,
                         testing::Combine(testing::ValuesIn(kProfileNames),
                                          testing::ValuesIn(SmallWorks())),
                         NameOfCut);

// Possible contents of an unsynced block: old, new, or torn at any of its 7
// inner sector boundaries, with the new part before or after the boundary.
constexpr uint64_t kWaysOfABlock = 2 + 2 * 7;

// Under kWeak a file of b unsynced blocks has no name, is empty, or has any of
// b sizes, with 16^size contents each. Each of m names survives or not.
TEST(CrashImagesTest, WeakCountsAreTheClosedFormula) {
  for (uint64_t b = 0; b <= 2; ++b) {
    for (uint64_t m = 0; m <= 4; ++m) {
      uint64_t contents = 0;
      uint64_t of_size = 1;
      for (uint64_t size = 0; size <= b; ++size, of_size *= kWaysOfABlock) {
        contents += of_size;
      }
      const Enumerated found = Enumerate(kWeak, [&](SimDisk& disk) {
        Write(disk, "/f", Blocks(b));
        if (b == 0) {
          EXPECT_TRUE(disk.Open("/f", OpenMode::kReadWrite).ok());
        }
        for (uint64_t i = 0; i < m; ++i) {
          EXPECT_TRUE(disk.MakeDirectory(fmt::format("/{}", i)).ok());
        }
      });
      EXPECT_EQ(found.hashes.size(), (uint64_t{1} << m) * (1 + contents))
          << b << " blocks, " << m << " names";
    }
  }
}

// Under kExt4 names survive as a prefix: no name, or the file in b + 1 sizes
// with 0 to m of the names made after it.
TEST(CrashImagesTest, Ext4CountsAreTheClosedFormula) {
  for (uint64_t b = 0; b <= 3; ++b) {
    for (uint64_t m = 0; m <= 4; ++m) {
      const Enumerated found = Enumerate(kExt4, [&](SimDisk& disk) {
        Write(disk, "/f", Blocks(b));
        for (uint64_t i = 0; i < m; ++i) {
          EXPECT_TRUE(disk.MakeDirectory(fmt::format("/{}", i)).ok());
        }
      });
      EXPECT_EQ(found.hashes.size(), 1 + (m + 1) * (b + 1))
          << b << " blocks, " << m << " names";
    }
  }
}

// Writes and syncs a file of `before` blocks, then truncates it and writes
// `after` new blocks.
Work WrittenAgain(uint64_t before, uint64_t after) {
  return [=](SimDisk& disk) {
    Write(disk, "/f", std::string(before * SimDisk::kBlockBytes, 'o'));
    Sync(disk, "/f");
    EXPECT_TRUE(disk.SyncDirectory("/").ok());
    EXPECT_TRUE(disk.Open("/f", OpenMode::kCreateTruncate).ok());
    Write(disk, "/f", Blocks(after));
  };
}

// Under kExt4 the file is the old one, or any prefix of the new one.
TEST(CrashImagesTest, Ext4FindsAFileWrittenAgainOldOrAPrefixOfTheNew) {
  for (uint64_t before = 1; before <= 3; ++before) {
    for (uint64_t after = 0; after <= 3; ++after) {
      const Enumerated found = Enumerate(kExt4, WrittenAgain(before, after));
      EXPECT_EQ(found.hashes.size(), 1 + after + 1) << before << " " << after;
      EXPECT_TRUE(found.trees.contains("/f=\n"));
    }
  }
}

// Under kWeak the file has any size up to the larger one, and each block within
// it is old, new or torn. A block that exists in only one version counts as
// zeros in the other version, so it has as many possible contents.
TEST(CrashImagesTest, WeakFindsAFileWrittenAgainAtAnySize) {
  for (uint64_t before = 1; before <= 2; ++before) {
    for (uint64_t after = 0; after <= 2; ++after) {
      uint64_t contents = 0;
      uint64_t of_size = 1;
      for (uint64_t size = 0; size <= std::max(before, after);
           ++size, of_size *= kWaysOfABlock) {
        contents += of_size;
      }
      const Enumerated found = Enumerate(kWeak, WrittenAgain(before, after));
      EXPECT_EQ(found.hashes.size(), contents) << before << " " << after;
    }
  }
}

TEST(CrashImagesTest, BoundReducesCombinationsOfFiles) {
  const auto three_files = [](SimDisk& disk) {
    for (const char* path : {"/a", "/b", "/c"}) Write(disk, path, Blocks(1));
    EXPECT_TRUE(disk.SyncDirectory("/").ok());
  };
  const Enumerated all = Enumerate(kWeak, three_files);
  EXPECT_EQ(all.visits, 17u * 17 * 17);
  CrashBound bound = kNoBound;
  bound.combinations_up_to = 100;
  const Enumerated few = Enumerate(kWeak, three_files, bound);
  // Each file is complete or absent: 8 trees. Or one file is in any of 15 other
  // states, while the other two are both complete or both absent.
  EXPECT_EQ(few.visits, 8u + 3 * 15 * 2);
  EXPECT_EQ(few.enumerated, few.visits);
  EXPECT_EQ(static_cast<double>(few.visits) + few.left_out, 17 * 17 * 17);
  EXPECT_TRUE(std::ranges::includes(all.trees, few.trees));
}

TEST(CrashImagesTest, BoundOnContentsKeepsSizesAndSingleBlocks) {
  const auto file = [](SimDisk& disk) {
    Write(disk, "/a", Blocks(3));
    EXPECT_TRUE(disk.SyncDirectory("/").ok());
  };
  CrashBound bound = kNoBound;
  bound.contents_up_to = 100;
  const Enumerated few = Enumerate(kWeak, file, bound);
  const Enumerated all = Enumerate(kWeak, file);
  EXPECT_EQ(all.visits, 1u + 16 + 256 + 4096);
  EXPECT_EQ(static_cast<double>(few.visits) + few.left_out, 4369);
  // An empty file: 1. One block: all 16 contents. More blocks: all new, all
  // old, and each block with 15 other contents, among new blocks and among old
  // ones.
  EXPECT_EQ(few.visits, 1u + 16 + (2 + 2 * 30 - 2) + (2 + 3 * 30));
  EXPECT_TRUE(std::ranges::includes(all.trees, few.trees));
}

TEST(CrashImagesTest, ManyNamesAreTakenNearThePrefixes) {
  const auto names = [](SimDisk& disk) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(disk.MakeDirectory(fmt::format("/{}", i)).ok());
    }
  };
  CrashBound bound = kNoBound;
  bound.names_up_to = 1000;
  const Enumerated few = Enumerate(kWeak, names, bound);
  EXPECT_LT(few.visits, 1024u);
  EXPECT_EQ(static_cast<double>(few.visits) + few.left_out, 1024);
  for (const std::string tree : {"", "/0/\n", "/9/\n", "/0/\n/2/\n"}) {
    EXPECT_TRUE(few.trees.contains(tree)) << tree;
  }
}

TEST(CrashImagesTest, StateWithEveryChange_EqualsLiveDirectory) {
  for (const SmallWork& work : SmallWorks()) {
    SimDisk disk({.profile = kWeak});
    work.work(disk);
    FileOutcomesCache cache;
    const CrashImages images(disk, {}, cache);
    ImageDirectory root;
    images.Build(images.Everything(), root);
    std::string built;
    Dump(root, "", built);
    std::string read;
    Dump(disk, "", read);
    EXPECT_EQ(built, read) << work.name;
  }
}

TEST(DiskLogTest, PlayedAgainOnAnotherProfileItIsTheSameDisk) {
  for (const SmallWork& work : SmallWorks()) {
    DiskLog log;
    SimDisk disk({.profile = kExt4, .log = &log});
    work.work(disk);
    SimDisk again({.profile = kWeak});
    DiskReplay replay(again);
    for (const MicroOp& operation : log.operations) {
      ASSERT_TRUE(replay.Play(operation).ok()) << DescribeMicroOp(operation);
    }
    SimDisk direct({.profile = kWeak});
    work.work(direct);
    FileOutcomesCache cache;
    FileOutcomesCache other_cache;
    std::set<Digest> hashes;
    std::set<Digest> direct_hashes;
    CrashImages(again, {}, cache).ForEach([&](const CrashImage& image) {
      return hashes.insert(image.hash), true;
    });
    CrashImages(direct, {}, other_cache).ForEach([&](const CrashImage& image) {
      return direct_hashes.insert(image.hash), true;
    });
    EXPECT_EQ(hashes, direct_hashes) << work.name;
  }
}

TEST(DiskLogTest, WriteIsAPieceForEachBlock) {
  DiskLog log;
  SimDisk disk({.profile = kWeak, .log = &log});
  Write(disk, "/a", std::string(5000, 'x'), 4000);
  Sync(disk, "/a");
  ASSERT_TRUE(disk.SyncDirectory("/").ok());
  std::vector<std::string> lines;
  for (const MicroOp& operation : log.operations) {
    lines.push_back(DescribeMicroOp(operation));
  }
  EXPECT_THAT(lines, testing::ElementsAre(
                         "create /a", "write [4000, 4096) of /a",
                         "write [4096, 8192) of /a", "write [8192, 9000) of /a",
                         "sync /a", "sync directory /"));
}

TEST(DiskLogTest, OperationThatDoesNotFitIsRefused) {
  SimDisk disk({});
  DiskReplay replay(disk);
  const Status status =
      replay.Play({.kind = MicroOpKind::kRename, .path = "/a", .to = "/b"});
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), testing::HasSubstr("rename /a to /b"));
  EXPECT_FALSE(replay.Play({.kind = MicroOpKind::kSync, .inode = 7}).ok());
}

}  // namespace
}  // namespace gauntlet
