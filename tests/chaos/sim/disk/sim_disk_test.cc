#include "chaos/sim/disk/sim_disk.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/sim/scheduler/random_stream.h"

namespace gauntlet {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A disk with the few operations that tests need, which must all succeed.
class Bench {
 public:
  explicit Bench(DurabilityProfile profile) : disk_({.profile = profile}) {}

  std::shared_ptr<Inode> Write(const std::string& path, std::string_view text,
                               uint64_t offset = 0) {
    auto file = disk_.Open(path, OpenMode::kReadWrite);
    if (!file.ok()) file = disk_.Open(path, OpenMode::kCreateExclusive);
    EXPECT_TRUE(disk_.Write(**file, offset, Bytes(text)).ok());
    return *file;
  }
  void WriteSynced(const std::string& path, std::string_view text) {
    disk_.Sync(*Write(path, text));
  }
  void Sync(const std::string& path) {
    disk_.Sync(**disk_.Open(path, OpenMode::kRead));
  }
  // Returns the file's content; "-" if there is no file.
  std::string Read(const std::string& path) {
    const auto file = disk_.Open(path, OpenMode::kRead);
    return file.ok() ? (*file)->data : "-";
  }
  void LosePower(uint64_t seed) {
    RandomStream stream(seed, "power");
    disk_.PowerLoss([&](uint64_t n) { return stream.Below(n); });
  }
  SimDisk& disk() { return disk_; }

 private:
  SimDisk disk_;
};

// Returns the contents found at `path` over many power losses after `work`.
std::set<std::string> Outcomes(DurabilityProfile profile,
                               const std::string& path,
                               const std::function<void(Bench&)>& work) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Bench bench(profile);
    work(bench);
    bench.LosePower(seed);
    outcomes.insert(bench.Read(path));
  }
  return outcomes;
}

using Set = std::set<std::string>;
constexpr auto kExt4 = DurabilityProfile::kExt4;
constexpr auto kWeak = DurabilityProfile::kWeak;

class AnyProfile : public testing::TestWithParam<DurabilityProfile> {};
INSTANTIATE_TEST_SUITE_P(SimDisk, AnyProfile, testing::Values(kExt4, kWeak),
                         [](const auto& kind) {
                           return kind.param == kExt4 ? "ext4" : "weak";
                         });

TEST_P(AnyProfile, SyncedFileInASyncedDirectorySurvives) {
  EXPECT_EQ(Outcomes(GetParam(), "/a",
                     [](Bench& bench) {
                       bench.WriteSynced("/a", "text");
                       EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
                     }),
            Set{"text"});
}

TEST_P(AnyProfile, NothingSyncedMayVanishOrSurvive) {
  EXPECT_THAT(Outcomes(GetParam(), "/a",
                       [](Bench& bench) { bench.Write("/a", "text"); }),
              testing::IsSupersetOf({"-", "", "text"}));
}

TEST_P(AnyProfile, RenameWithoutSyncDirectoryMayRevertOrNot) {
  const auto work = [](Bench& bench) {
    bench.WriteSynced("/b", "old");
    bench.WriteSynced("/a", "new");
    EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
    EXPECT_TRUE(bench.disk().Rename("/a", "/b").ok());
  };
  EXPECT_EQ(Outcomes(GetParam(), "/b", work), (Set{"old", "new"}));
  EXPECT_EQ(Outcomes(GetParam(), "/a", work), (Set{"-", "new"}));
}

TEST_P(AnyProfile, RenameWithSyncDirectoryStays) {
  const auto work = [](Bench& bench) {
    bench.WriteSynced("/b", "old");
    bench.WriteSynced("/a", "new");
    EXPECT_TRUE(bench.disk().Rename("/a", "/b").ok());
    EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
  };
  EXPECT_EQ(Outcomes(GetParam(), "/b", work), Set{"new"});
  EXPECT_EQ(Outcomes(GetParam(), "/a", work), Set{"-"});
}

TEST_P(AnyProfile, RemoveWithoutSyncDirectoryMayRevertOrNot) {
  EXPECT_EQ(
      Outcomes(GetParam(), "/a",
               [](Bench& bench) {
                 bench.WriteSynced("/a", "text");
                 EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
                 EXPECT_TRUE(bench.disk().Remove("/a", FileKind::kFile).ok());
               }),
      (Set{"-", "text"}));
}

TEST_P(AnyProfile, OverwrittenBlocksMayBeOldNewOrTorn) {
  const std::string old_text(SimDisk::kBlockBytes, 'o');
  const std::string new_text(SimDisk::kBlockBytes, 'n');
  const Set outcomes = Outcomes(GetParam(), "/a", [&](Bench& bench) {
    bench.WriteSynced("/a", old_text);
    EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
    bench.Write("/a", new_text);
  });
  EXPECT_TRUE(outcomes.contains(old_text));
  EXPECT_TRUE(outcomes.contains(new_text));
  EXPECT_GT(outcomes.size(), 4u);
  for (const std::string& text : outcomes) {
    EXPECT_EQ(text.size(), SimDisk::kBlockBytes);
    for (size_t i = 0; i < text.size(); ++i) {
      const size_t sector = i - i % SimDisk::kSectorBytes;
      ASSERT_EQ(text[i], text[sector]) << "torn within a sector";
    }
  }
}

TEST_P(AnyProfile, TruncatedAndRewrittenFile_MayBeEmpty) {
  const Set outcomes = Outcomes(GetParam(), "/a", [](Bench& bench) {
    bench.WriteSynced("/a", "old text");
    EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
    EXPECT_TRUE(bench.disk().Open("/a", OpenMode::kCreateTruncate).ok());
    bench.Write("/a", "new");
  });
  EXPECT_THAT(outcomes, testing::IsSupersetOf(Set{"", "old text", "new"}));
}

TEST_P(AnyProfile, PowerLossIsDurableItself) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Bench bench(GetParam());
    bench.Write("/a", std::string(20'000, 'x'));
    bench.Write("/b", "y");
    bench.LosePower(seed);
    const std::string a = bench.Read("/a");
    const std::string b = bench.Read("/b");
    bench.LosePower(seed + 1000);
    EXPECT_EQ(bench.Read("/a"), a);
    EXPECT_EQ(bench.Read("/b"), b);
  }
}

TEST_P(AnyProfile, DirectoryRenameTakesItsContentAlong) {
  const auto work = [](Bench& bench) {
    EXPECT_TRUE(bench.disk().MakeDirectory("/tmp").ok());
    EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
    bench.WriteSynced("/tmp/shard", "bytes");
    EXPECT_TRUE(bench.disk().SyncDirectory("/tmp").ok());
    EXPECT_TRUE(bench.disk().Rename("/tmp", "/final").ok());
  };
  EXPECT_EQ(Outcomes(GetParam(), "/final/shard", work), (Set{"-", "bytes"}));
  EXPECT_EQ(Outcomes(GetParam(), "/tmp/shard", work), (Set{"-", "bytes"}));
}

TEST(SimDiskExt4Test, NamesSurviveInOrderOfCreation) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Bench bench(kExt4);
    for (const char* path : {"/1", "/2", "/3", "/4"}) {
      ASSERT_TRUE(bench.disk().MakeDirectory(path).ok());
    }
    bench.LosePower(seed);
    const auto entries = *bench.disk().List("/");
    for (size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].name, std::to_string(i + 1));
    }
  }
}

TEST(SimDiskExt4Test, SyncOfAFileCommitsAllNames) {
  EXPECT_EQ(Outcomes(kExt4, "/a",
                     [](Bench& bench) { bench.WriteSynced("/a", "text"); }),
            Set{"text"});
}

TEST(SimDiskExt4Test, RenameOntoAFileWritesTheDataFirst) {
  EXPECT_EQ(Outcomes(kExt4, "/b",
                     [](Bench& bench) {
                       bench.WriteSynced("/b", "old");
                       bench.Write("/a", "new");
                       EXPECT_TRUE(bench.disk().Rename("/a", "/b").ok());
                     }),
            (Set{"old", "new"}));
}

TEST(SimDiskExt4Test, AppendedDataSurvivesAsAPrefix) {
  std::string text;
  for (const char c : {'a', 'b', 'c'}) {
    text += std::string(SimDisk::kBlockBytes, c);
  }
  text += "tail";
  const Set outcomes =
      Outcomes(kExt4, "/f", [&](Bench& bench) { bench.Write("/f", text); });
  EXPECT_EQ(outcomes.size(), 6u);  // no file, 0 to 3 blocks, all
  for (const std::string& kept : outcomes) {
    EXPECT_TRUE(kept == "-" || text.starts_with(kept)) << kept.size();
  }
}

TEST(SimDiskWeakTest, SyncOfAFileDoesNotSyncItsName) {
  EXPECT_EQ(Outcomes(kWeak, "/a",
                     [](Bench& bench) { bench.WriteSynced("/a", "text"); }),
            (Set{"-", "text"}));
}

TEST(SimDiskWeakTest, SyncDirectoryDoesNotSyncTheData) {
  EXPECT_THAT(Outcomes(kWeak, "/b",
                       [](Bench& bench) {
                         bench.WriteSynced("/b", "old");
                         bench.Write("/a", "new");
                         EXPECT_TRUE(bench.disk().Rename("/a", "/b").ok());
                         EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
                       }),
              testing::IsSupersetOf(Set{"", "new", std::string(3, '\0')}));
}

TEST(SimDiskWeakTest, NamesSurviveInAnyCombination) {
  Set outcomes;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Bench bench(kWeak);
    for (const char* path : {"/1", "/2", "/3"}) {
      ASSERT_TRUE(bench.disk().MakeDirectory(path).ok());
    }
    bench.LosePower(seed);
    std::string names;
    const auto entries = bench.disk().List("/");
    for (const DirectoryEntry& entry : *entries) names += entry.name;
    outcomes.insert(names);
  }
  EXPECT_EQ(outcomes, (Set{"", "1", "2", "3", "12", "13", "23", "123"}));
}

TEST(SimDiskWeakTest, RenamedFileHasOneName) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Bench bench(kWeak);
    bench.WriteSynced("/1", "text");
    ASSERT_TRUE(bench.disk().SyncDirectory("/").ok());
    ASSERT_TRUE(bench.disk().Rename("/1", "/2").ok());
    ASSERT_TRUE(bench.disk().Rename("/2", "/3").ok());
    bench.LosePower(seed);
    EXPECT_EQ(bench.disk().List("/")->size(), 1u) << "seed " << seed;
  }
}

TEST(SimDiskWeakTest, SyncOfOneDirectoryTakesARenameWhole) {
  const auto work = [](Bench& bench) {
    EXPECT_TRUE(bench.disk().MakeDirectory("/d").ok());
    EXPECT_TRUE(bench.disk().SyncDirectory("/").ok());
    bench.WriteSynced("/a", "text");
    EXPECT_TRUE(bench.disk().Rename("/a", "/d/b").ok());
    EXPECT_TRUE(bench.disk().SyncDirectory("/d").ok());
  };
  EXPECT_EQ(Outcomes(kWeak, "/d/b", work), Set{"text"});
  EXPECT_EQ(Outcomes(kWeak, "/a", work), Set{"-"});
}

TEST(SimDiskTest, FullDiskRefusesMore) {
  SimDisk disk({.capacity_bytes = 10});
  const auto file = *disk.Open("/a", OpenMode::kCreateExclusive);
  EXPECT_TRUE(disk.Write(*file, 0, Bytes("12345678")).ok());
  EXPECT_EQ(disk.Write(*file, 8, Bytes("123")).code(),
            Code::kResourceExhausted);
  EXPECT_TRUE(disk.Write(*file, 0, Bytes("abcdefgh")).ok());
  EXPECT_TRUE(disk.Remove("/a", FileKind::kFile).ok());
  EXPECT_EQ(disk.used_bytes(), 0u);
}

TEST(SimDiskTest, PathsAreTakenPartByPart) {
  SimDisk disk({});
  ASSERT_TRUE(disk.MakeDirectory("/a").ok());
  ASSERT_TRUE(disk.MakeDirectory("//a/./b/").ok());
  EXPECT_EQ(disk.List("/a/b/..")->size(), 1u);
  EXPECT_EQ(disk.List("/a/../..")->size(), 1u);
  EXPECT_EQ(disk.MakeDirectory("/").code(), Code::kAlreadyExists);
  EXPECT_EQ(disk.Rename("/a", "/a/b/c").code(), Code::kIoError);
}

TEST(SimDiskTest, ResolvesThePathAgainAfterADirectoryIsReplaced) {
  Bench bench(kExt4);
  SimDisk& disk = bench.disk();
  ASSERT_TRUE(disk.MakeDirectory("/a").ok());
  bench.Write("/a/file", "old");
  ASSERT_TRUE(disk.Rename("/a", "/b").ok());
  EXPECT_EQ(bench.Read("/a/file"), "-");
  ASSERT_TRUE(disk.MakeDirectory("/a").ok());
  bench.Write("/a/file", "new");
  EXPECT_EQ(bench.Read("/b/file"), "old");
  EXPECT_EQ(bench.Read("/a/file"), "new");
  ASSERT_TRUE(disk.Remove("/a/file", FileKind::kFile).ok());
  EXPECT_EQ(bench.Read("/a/file"), "-");
  ASSERT_TRUE(disk.Remove("/a", FileKind::kDirectory).ok());
  EXPECT_EQ(disk.Open("/a/file", OpenMode::kCreateExclusive).status().code(),
            Code::kNotFound);
  bench.Write("/b/file", "late");
  disk.PowerLoss([](uint64_t) { return 0; });
  EXPECT_EQ(bench.Read("/b/file"), "-");
  EXPECT_EQ(disk.MakeDirectory("/b/.").code(), Code::kOk);
  EXPECT_EQ(disk.List("/b/..")->size(), 1u);
}

TEST(SimDiskTest, RenameToRoot_IsRefused) {
  SimDisk disk({});
  ASSERT_TRUE(disk.MakeDirectory("/a").ok());
  ASSERT_TRUE(disk.MakeDirectory("/b").ok());
  ASSERT_TRUE(disk.Open("/file", OpenMode::kCreateExclusive).ok());
  for (const char* from : {"/a", "/file"}) {
    for (const char* to : {"/", "/b/..", "/b/../.."}) {
      EXPECT_EQ(disk.Rename(from, to).code(), Code::kAlreadyExists) << to;
    }
  }
  EXPECT_EQ(disk.List("/")->size(), 3u);
}

TEST(SimDiskTest, ParentPath_UsesCurrentPlaceOfMovedDirectory) {
  Bench bench(kExt4);
  SimDisk& disk = bench.disk();
  for (const char* path : {"/a", "/a/moved", "/b"}) {
    ASSERT_TRUE(disk.MakeDirectory(path).ok());
  }
  ASSERT_TRUE(disk.SyncDirectory("/").ok());
  bench.Write("/a/one", "");
  ASSERT_TRUE(disk.Rename("/a/moved", "/b/moved").ok());
  EXPECT_EQ(disk.Open("/b/moved/../one", OpenMode::kRead).status().code(),
            Code::kNotFound);
  EXPECT_EQ(disk.Rename("/b", "/b/moved/c").code(), Code::kIoError);
  disk.PowerLoss([](uint64_t) { return 0; });
  EXPECT_EQ(disk.List("/a/moved/..")->size(), 1u);
  EXPECT_EQ(disk.List("/b")->size(), 0u);
}

}  // namespace
}  // namespace gauntlet
