#include "chaos/sim/disk/shared_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/sim/simulation.h"

namespace gauntlet {
namespace {

constexpr Time kNow{};
const SharedViewOptions kOptions;

// Two hosts that use one file server.
class SharedViewTest : public testing::Test {
 protected:
  static std::shared_ptr<Inode> Open(SharedView& host, const std::string& path,
                                     OpenMode mode) {
    auto file = host.Open(path, mode, kNow);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return *file;
  }
  static std::shared_ptr<Inode> Write(SharedView& host, const std::string& path,
                                      std::string_view text) {
    const auto file = Open(host, path, OpenMode::kCreateTruncate);
    host.Write(file, 0, std::as_bytes(std::span(text)));
    return file;
  }
  static std::string Read(SharedView& host,
                          const std::shared_ptr<Inode>& file) {
    std::string text(host.Size(file), '\0');
    host.Read(file, 0, std::as_writable_bytes(std::span(text)));
    return text;
  }
  static std::string ReadAt(SharedView& host, const std::string& path) {
    const auto file = host.Open(path, OpenMode::kRead, kNow);
    if (!file.ok()) return std::string(CodeName(file.status().code()));
    const std::string text = Read(host, *file);
    host.Close(*file);
    return text;
  }
  static std::vector<std::string> Names(SharedView& host, Time now) {
    std::vector<std::string> names;
    const auto listed = host.List("/", now);
    for (const DirectoryEntry& entry : *listed) names.push_back(entry.name);
    return names;
  }
  // Returns the contents of a file after a power loss of the server, over many
  // seeds.
  std::set<std::string> AfterServerLoss(
      const std::function<void(SharedView&)>& work) {
    std::set<std::string> found;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      SimDisk server({.profile = DurabilityProfile::kShared});
      SharedView host(server, kOptions);
      work(host);
      RandomStream stream(seed, "power");
      server.PowerLoss([&](uint64_t n) { return stream.Below(n); });
      const auto file = server.Open("/a", OpenMode::kRead);
      found.insert(file.ok() ? (*file)->data : "-");
    }
    return found;
  }

  SimDisk server_{{.profile = DurabilityProfile::kShared}};
  SharedView one_{server_, kOptions};
  SharedView two_{server_, kOptions};
};

TEST_F(SharedViewTest, OthersSeeAWriteAfterTheClose) {
  const auto file = Write(one_, "/a", "text");
  EXPECT_EQ(ReadAt(one_, "/a"), "text");
  EXPECT_EQ(ReadAt(two_, "/a"), "");
  one_.Close(file);
  EXPECT_EQ(ReadAt(two_, "/a"), "text");
}

TEST_F(SharedViewTest, OthersSeeAWriteAfterTheSync) {
  const auto file = Write(one_, "/a", "text");
  ASSERT_TRUE(one_.Sync(file).ok());
  EXPECT_EQ(ReadAt(two_, "/a"), "text");
  one_.Close(file);
}

TEST_F(SharedViewTest, OpenFileStaysAsItWasOpened) {
  one_.Close(Write(one_, "/a", "old"));
  const auto reader = Open(two_, "/a", OpenMode::kRead);
  one_.Close(Write(one_, "/a", "new"));
  EXPECT_EQ(Read(two_, reader), "old");
  EXPECT_EQ(ReadAt(two_, "/a"), "new");  // opened again
  two_.Close(reader);
}

TEST_F(SharedViewTest, ExclusiveCreateByTwoHosts_SucceedsOnce) {
  EXPECT_TRUE(one_.Open("/claim", OpenMode::kCreateExclusive, kNow).ok());
  EXPECT_EQ(
      two_.Open("/claim", OpenMode::kCreateExclusive, kNow).status().code(),
      Code::kAlreadyExists);
}

TEST_F(SharedViewTest, ListingIsStaleUntilItsTimeIsOver) {
  EXPECT_TRUE(Names(two_, kNow).empty());
  one_.Close(Write(one_, "/a", "text"));
  const Time late = kNow + kOptions.listings_stale_for;
  EXPECT_TRUE(Names(two_, late - Duration(1)).empty());
  EXPECT_EQ(ReadAt(two_, "/a"), "NOT_FOUND");
  EXPECT_THAT(Names(two_, late), testing::ElementsAre("a"));
}

TEST_F(SharedViewTest, HostSeesItsOwnChanges) {
  EXPECT_TRUE(Names(two_, kNow).empty());
  ASSERT_TRUE(one_.MakeDirectory("/gen-2").ok());
  ASSERT_TRUE(two_.MakeDirectory("/mine").ok());
  EXPECT_THAT(Names(two_, kNow), testing::ElementsAre("gen-2", "mine"));
}

TEST_F(SharedViewTest, NameRenamedByAnotherHost_IsMissingOnUse) {
  ASSERT_TRUE(one_.MakeDirectory("/d").ok());
  EXPECT_THAT(Names(two_, kNow), testing::ElementsAre("d"));
  ASSERT_TRUE(one_.Rename("/d", "/e").ok());
  EXPECT_THAT(Names(two_, kNow), testing::ElementsAre("d"));
  EXPECT_EQ(two_.Rename("/d", "/f").code(), Code::kNotFound);
  EXPECT_THAT(Names(two_, kNow), testing::ElementsAre("e"));
}

TEST_F(SharedViewTest, CrashOfTheHost_LosesDataNotSentToTheServer) {
  const auto kept = Write(one_, "/kept", "kept");
  ASSERT_TRUE(one_.Sync(kept).ok());
  const auto lost = Write(one_, "/lost", "lost");
  one_.Crash();
  one_.Close(lost);  // too late: its process has died
  EXPECT_EQ(ReadAt(two_, "/kept"), "kept");
  EXPECT_EQ(ReadAt(two_, "/lost"), "");
}

TEST_F(SharedViewTest, FullServerReportsItAtTheSync) {
  SimDisk small({.profile = DurabilityProfile::kShared, .capacity_bytes = 4});
  SharedView host(small, kOptions);
  const auto file = Write(host, "/a", "12345");
  EXPECT_EQ(host.Sync(file).code(), Code::kResourceExhausted);
  EXPECT_EQ(host.Size(file), 0u);
}

TEST_F(SharedViewTest, PowerLossOfServer_LosesUnsyncedData) {
  EXPECT_THAT(AfterServerLoss(
                  [](SharedView& host) { host.Close(Write(host, "/a", "x")); }),
              testing::UnorderedElementsAre("", "x", std::string(1, '\0')));
  EXPECT_THAT(AfterServerLoss([](SharedView& host) {
                const auto file = Write(host, "/a", "x");
                EXPECT_TRUE(host.Sync(file).ok());
              }),
              testing::UnorderedElementsAre("x"));
}

// A host may write back any part of a file before it has to, and when it
// crashes.
TEST_F(SharedViewTest, HostMayHandOverEarlyAndAsItCrashes) {
  std::set<std::string> before;
  std::set<std::string> after;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "host");
    SimDisk server({.profile = DurabilityProfile::kShared});
    SharedView host(
        server, {.write_back = [&](uint64_t n) { return stream.Below(n); }});
    const auto file = Write(host, "/a", "one");
    host.Write(file, 3, std::as_bytes(std::span(std::string_view("two"))));
    before.insert(file->data);
    EXPECT_EQ(Read(host, file), "onetwo");
    host.Crash();
    after.insert(file->data);
  }
  const std::string later("\0\0\0two", 6);
  EXPECT_THAT(before, testing::IsSupersetOf({std::string(), std::string("one"),
                                             later, std::string("onetwo")}));
  EXPECT_THAT(after, testing::IsSupersetOf({std::string(), std::string("one"),
                                            later, std::string("onetwo")}));
}

TEST_F(SharedViewTest, LaterWrite_ReplacesDataSentEarly) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "host");
    SimDisk server({.profile = DurabilityProfile::kShared});
    SharedView host(
        server, {.write_back = [&](uint64_t n) { return stream.Below(n); }});
    const auto file = Write(host, "/a", "old");
    host.Write(file, 0, std::as_bytes(std::span(std::string_view("new"))));
    EXPECT_TRUE(host.Sync(file).ok());
    ASSERT_EQ(file->data, "new") << seed;
  }
}

// The crash of a host, as processes on two hosts see it.
TEST(SharedSimulationTest, CrashOfAHostLeavesTheServerAndTheOtherHost) {
  FiberPool pool;
  Simulation simulation(pool,
                        {.disk = {.profile = DurabilityProfile::kShared}});
  simulation.PlaceHost("one", "server");
  simulation.PlaceHost("two", "server");
  const auto write = [](World& world, const std::string& path) {
    auto file = *world.storage.Open(path, OpenMode::kCreateTruncate);
    const std::string text = "text";
    EXPECT_TRUE(file->WriteAt(0, std::as_bytes(std::span(text))).ok());
    return file;
  };
  simulation.Start({.name = "a", .host = "one", .body = [&](World& world) {
                      const auto synced = write(world, "/synced");
                      EXPECT_TRUE(synced->Sync().ok());
                      const auto open = write(world, "/open");
                      simulation.Hang();
                      return 0;
                    }});
  simulation.Start(
      {.name = "b", .host = "two", .body = [&](World& world) {
         world.clock.SleepUntil(world.clock.Now() + std::chrono::seconds(1));
         simulation.CrashHost("one");
         EXPECT_EQ(*ReadFile(world.storage, "/synced", 100), "text");
         EXPECT_THAT(*ReadFile(world.storage, "/open", 100),
                     testing::AnyOf("", "text"));
         return 7;
       }});
  EXPECT_EQ(simulation.Run().end, RunEnd::kAllExited);
  EXPECT_EQ(simulation.exit_status(0)->signal, 9);
  EXPECT_EQ(simulation.exit_status(1)->code, 7);
}

}  // namespace
}  // namespace gauntlet
