// The token file of a cluster, on simulated disks: hosts one after another and
// at once, on a file server, and with power losses.
#include "engine/train/rendezvous/job_token_file.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/sim/simulation.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/protocol/store_deletion.h"
#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kDirectory = "/store";

class TokenFileTest : public testing::Test {
 protected:
  void Use(DurabilityProfile profile, uint64_t seed) {
    simulation_.emplace(
        pool_, SimulationOptions{.seed = seed, .disk = {.profile = profile}});
    Run("maker", [](World& world) {
      CHECK(world.storage.MakeDirectory(kDirectory).ok(), "an empty disk");
      CHECK(world.storage.SyncDirectory("/").ok(), "an empty disk");
    });
  }
  void Start(const std::string& host, std::function<void(World&)> body) {
    simulation_->ShareMachine(host, "maker");
    simulation_->Start({.name = host,
                        .host = host,
                        .body = [body = std::move(body)](World& world) {
                          body(world);
                          return 0;
                        }});
  }
  void Run(const std::string& host, std::function<void(World&)> body) {
    Start(host, std::move(body));
    simulation_->Run();
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto listed = simulation_->storage("maker").List(kDirectory);
    for (const DirectoryEntry& entry : *listed) {
      names.push_back(entry.name);
    }
    return names;
  }
  void Write(std::string_view text) {
    Run("writer", [text](World& world) {
      const auto file =
          world.storage.Open(TokenFile(kDirectory), OpenMode::kCreateTruncate);
      CHECK(
          file.ok() && (*file)->WriteAt(0, std::as_bytes(std::span(text))).ok(),
          "written");
    });
  }

  FiberPool pool_;
  std::optional<Simulation> simulation_;
};

TEST_F(TokenFileTest, ChiefsTokenIsEveryRanksToken) {
  for (const auto profile :
       {DurabilityProfile::kExt4, DurabilityProfile::kShared}) {
    Use(profile, 1);
    std::vector<Result<JobToken>> tokens(
        3, Result<JobToken>(Unavailable("not yet")));
    int lines = 0;
    for (int rank : {1, 2}) {
      Start(fmt::format("w{}", rank), [&, rank](World& world) {
        tokens[rank] = AwaitTokenFile(
            world, kDirectory, world.clock.Now() + std::chrono::seconds(20),
            [&lines](std::string_view line) {
              EXPECT_THAT(line, HasSubstr("/store/job-token"));
              ++lines;
            });
      });
    }
    Start("w0", [&](World& world) {
      world.clock.SleepUntil(world.clock.Now() + std::chrono::seconds(10));
      tokens[0] = CreateTokenFile(world, kDirectory);
    });
    simulation_->Run();
    for (const auto& token : tokens) {
      ASSERT_TRUE(token.ok()) << token.status().ToString();
      EXPECT_EQ(*token, *tokens[0]);
    }
    EXPECT_EQ(lines, 2);  // once each
    EXPECT_THAT(Names(), ElementsAre("job-token"));
  }
}

TEST_F(TokenFileTest, WorkerNamesTheFile_WhenTheChiefNeverComes) {
  Use(DurabilityProfile::kExt4, 1);
  Status status;
  Run("w1", [&](World& world) {
    status = AwaitTokenFile(world, kDirectory,
                            world.clock.Now() + std::chrono::seconds(3),
                            [](std::string_view) {})
                 .status();
  });
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("/store/job-token"));
  EXPECT_THAT(status.message(), HasSubstr("GAUNTLET_JOB_TOKEN"));
}

// Many ranks wait for one file server at the same time.
TEST(AwaitTokenFileTest, ChangesTheDirectorySeldom_HoweverLongItWaits) {
  MemoryStorage storage;
  TestWorld rank(storage);
  ASSERT_TRUE(storage.MakeDirectory(kDirectory).ok());
  std::vector<Time> changes;
  int listed = 0;
  storage.gate = [&](StorageCall operation, const std::string&) {
    if (operation == StorageCall::kCreate) changes.push_back(rank.clock.now);
    if (operation == StorageCall::kList && changes.empty()) ++listed;
    return OkStatus();
  };
  const Time begin = rank.clock.now;
  const auto token =
      AwaitTokenFile(rank.world, kDirectory, begin + std::chrono::seconds(300),
                     [](std::string_view) {});
  EXPECT_EQ(token.status().code(), Code::kDeadlineExceeded);
  EXPECT_GE(listed, 1);  // at the start
  ASSERT_GE(changes.size(), 60u);
  EXPECT_LE(changes.size(), 70u);
  EXPECT_LE(changes[0], begin + std::chrono::milliseconds(200));
}

TEST_F(TokenFileTest, ChiefsAtOnceTakeTheSameToken) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Use(seed % 2 == 0 ? DurabilityProfile::kExt4 : DurabilityProfile::kShared,
        seed);
    std::vector<Result<JobToken>> tokens;
    for (int i = 0; i < 3; ++i) {
      Start(fmt::format("c{}", i), [&](World& world) {
        tokens.push_back(CreateTokenFile(world, kDirectory));
      });
    }
    simulation_->Run();
    for (const auto& token : tokens) {
      ASSERT_TRUE(token.ok()) << seed << ": " << token.status().ToString();
      EXPECT_EQ(*token, *tokens[0]) << seed;
    }
    EXPECT_THAT(Names(), ElementsAre("job-token")) << seed;
  }
}

// No worker may use a token that a power loss can undo. After a power loss
// there is a complete token, or none.
TEST_F(TokenFileTest, PowerLossLeavesTheSameTokenOrNone) {
  int kept = 0;
  for (uint64_t at = 1; at < 60; ++at) {
    Use(DurabilityProfile::kWeak, at);
    std::optional<JobToken> first;
    Start("w0", [&](World& world) {
      const Result<JobToken> made = CreateTokenFile(world, kDirectory);
      if (made.ok()) first = *made;
      world.clock.SleepUntil(world.clock.Now() + std::chrono::seconds(1));
    });
    simulation_->At(simulation_->now() + at * std::chrono::microseconds(300),
                    [this] { simulation_->PowerLoss("maker"); });
    simulation_->Run();
    Result<JobToken> second = Unavailable("not yet");
    Run("again",
        [&](World& world) { second = CreateTokenFile(world, kDirectory); });
    ASSERT_TRUE(second.ok()) << at << ": " << second.status().ToString();
    if (first) {
      ++kept;
      EXPECT_EQ(*first, *second) << at;
    }
  }
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 59);
}

TEST_F(TokenFileTest, RefusesADamagedFile_WithAdvice) {
  const std::string whole(64, 'a');
  for (const std::string& text :
       {std::string(), whole.substr(1), whole + "a", "x" + whole.substr(1),
        std::string(5000, 'a')}) {
    Use(DurabilityProfile::kExt4, 1);
    Write(text);
    Status made;
    Status read;
    Run("w0", [&](World& world) {
      made = CreateTokenFile(world, kDirectory).status();
      read = AwaitTokenFile(world, kDirectory, world.clock.Now(),
                            [](std::string_view) {})
                 .status();
    });
    for (const Status& status : {made, read}) {
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
      EXPECT_THAT(status.message(), HasSubstr("/store/job-token: damaged"));
      EXPECT_THAT(status.message(), HasSubstr("remove it"));
    }
  }
}

TEST_F(TokenFileTest, GoesWithTheStore) {
  Use(DurabilityProfile::kExt4, 1);
  Run("w0", [](World& world) {
    ASSERT_TRUE(CreateTokenFile(world, kDirectory).ok());
    ASSERT_TRUE(world.storage
                    .Open("/store/" + TokenTmpName("0123456789abcdef"),
                          OpenMode::kCreateExclusive)
                    .ok());
    EXPECT_TRUE(DeleteStore(world, kDirectory, std::nullopt).ok());
    EXPECT_EQ(world.storage.List(kDirectory).status().code(), Code::kNotFound);
  });
}

}  // namespace
}  // namespace gauntlet
