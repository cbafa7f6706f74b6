#include "engine/app/cluster/cluster_trust.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/real_world.h"
#include "tests/engine/real/scratch_directory.h"
#include <sys/stat.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kText(64, 'a');

class ClusterTrustTest : public testing::Test {
 protected:
  // Runs FindToken as rank 0 of two workers.
  Status Find() {
    place_ = {.addresses = {"10.0.0.1:1", ""}, .listen_on = listen_on_};
    World world = real_.world();
    return FindToken(world,
                     {.environment = environment_,
                      .command = command_,
                      .deadline = real_.clock.Now(),
                      .say = [](std::string_view) {}},
                     place_);
  }
  void KeepCheckpoints() {
    command_.options.checkpoint.directory = scratch_.path();
  }

  RealWorld real_;
  ScratchDirectory scratch_;
  Environment environment_;
  TrainCommand command_;
  std::string listen_on_ = "10.0.0.1:1";
  WorkerSpec place_;
};

TEST_F(ClusterTrustTest, EnvironmentComesFirst) {
  KeepCheckpoints();
  environment_["GAUNTLET_JOB_TOKEN"] = kText;
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(place_.token->Reveal(), kText);
  EXPECT_EQ(TextOf(scratch_ / "job-token"), "");
}

TEST_F(ClusterTrustTest, ChiefKeepsItInTheCheckpointDirectory) {
  KeepCheckpoints();
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(TextOf(scratch_ / "job-token"), place_.token->Reveal() + "\n");
  struct stat info = {};
  ASSERT_EQ(stat((scratch_ / "job-token").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  const JobToken first = *place_.token;
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(*place_.token, first);
}

TEST_F(ClusterTrustTest, RefusesAFileThatOthersMayRead) {
  KeepCheckpoints();
  ASSERT_TRUE(Find().ok());
  chmod((scratch_ / "job-token").c_str(), 0640);
  const Status found = Find();
  EXPECT_EQ(found.code(), Code::kInvalidArgument);
  EXPECT_THAT(found.message(), HasSubstr("mode 0640"));
  EXPECT_THAT(found.message(), HasSubstr("chmod 600"));
}

TEST_F(ClusterTrustTest, RefusesAMalformedTokenWithoutRepeatingIt) {
  environment_["GAUNTLET_JOB_TOKEN"] = "hunter2";
  const Status found = Find();
  EXPECT_EQ(found.code(), Code::kInvalidArgument);
  EXPECT_THAT(found.message(), HasSubstr("GAUNTLET_JOB_TOKEN: expected 64"));
  EXPECT_THAT(found.message(), Not(HasSubstr("hunter2")));
}

TEST_F(ClusterTrustTest, WithoutATokenOnlyLoopbackIsListenedOn) {
  const Status beyond = Find();
  EXPECT_EQ(beyond.code(), Code::kInvalidArgument);
  for (const char* remedy : {"GAUNTLET_JOB_TOKEN", "--ckpt", "--insecure"}) {
    EXPECT_THAT(beyond.message(), HasSubstr(remedy));
  }
  listen_on_ = "127.0.0.1:1";
  ASSERT_TRUE(Find().ok());
  EXPECT_FALSE(place_.token);
  EXPECT_FALSE(place_.insecure);
}

TEST_F(ClusterTrustTest, InsecureIsAskedForByName) {
  command_.insecure = true;
  ASSERT_TRUE(Find().ok());
  EXPECT_TRUE(place_.insecure);
  environment_["GAUNTLET_JOB_TOKEN"] = kText;
  EXPECT_EQ(Find().code(), Code::kInvalidArgument);
}

TEST_F(ClusterTrustTest, TextsNameTheSourceOfASecretAndNeverTheSecret) {
  KeepCheckpoints();
  environment_["GAUNTLET_JOB_TOKEN"] = kText;
  for (const bool is_set : {true, false}) {
    if (!is_set) environment_.clear();
    const std::string text =
        TokenText(*TokenSourceOf(environment_, command_), command_);
    EXPECT_THAT(text, HasSubstr(is_set ? "GAUNTLET_JOB_TOKEN"
                                       : scratch_ / "job-token"));
    EXPECT_THAT(text, Not(HasSubstr(kText)));
  }
  command_.workers = 2;
  EXPECT_THAT(TokenText(*TokenSourceOf(environment_, command_), command_),
              HasSubstr("made here"));
}

}  // namespace
}  // namespace gauntlet
