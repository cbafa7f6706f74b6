#include "engine/app/ckpt/ckpt_command.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

class CkptCommandTest : public testing::Test {
 protected:
  CkptCommandTest() {
    CheckpointStore store = OpenStore(test_.world);
    CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
    CHECK(Save(store, 1, 1).ok() && Save(store, 1, 2).ok(), "save");
  }
  int Verify(const std::string& path) {
    return RunCheckpointVerify({.path = path}, test_.world, console_);
  }

  int List(const std::string& path) {
    return RunCheckpointList({.directory = path}, test_.world, console_);
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(CkptCommandTest, ListsTheCheckpointThatARunResumesFrom) {
  EXPECT_EQ(Verify("/store"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("a run resumes from step-000000002-g1\n"));
}

TEST_F(CkptCommandTest, ListAndVerify_ReportNonFiniteCheckpoints) {
  CheckpointStore store = OpenStore(test_.world);
  const Claim claim = store.ClaimGeneration(std::string(kJob)).value();
  ASSERT_TRUE(Save(store, claim.generation, 4, 3).ok());
  EXPECT_EQ(Verify("/store"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr(", non-finite since step 3\n"));
  out_.str("");
  RunCheckpointList({.directory = "/store", .output = OutputFormat::kJson},
                    test_.world, console_);
  EXPECT_THAT(out_.str(), HasSubstr("\"finite\": true"));
  EXPECT_THAT(out_.str(),
              HasSubstr("\"finite\": false,\n    \"first_nonfinite_step\": 3"));
}

TEST_F(CkptCommandTest, UnreadFilesAreNotCalledGood) {
  EXPECT_EQ(List("/store"), 0);
  EXPECT_THAT(out_.str(), Not(HasSubstr("good")));
  EXPECT_THAT(out_.str(), HasSubstr("step-000000002-g1            not "
                                    "verified"));
  EXPECT_THAT(out_.str(), HasSubstr("a run resumes from step-000000002-g1 if "
                                    "its bytes verify\n"));
}

TEST_F(CkptCommandTest, JsonOfListHasNoVerdictOnUnreadBytes) {
  storage_.Bytes("/store/step-000000001-g1/MANIFEST.json").clear();
  RunCheckpointList({.directory = "/store", .output = OutputFormat::kJson},
                    test_.world, console_);
  EXPECT_THAT(out_.str(), HasSubstr("\"good\": false,\n    \"verified\": "));
  EXPECT_THAT(out_.str(),
              HasSubstr("\"good\": null,\n    \"verified\": false"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\"good\": true")));
  out_.str("");
  RunCheckpointVerify({.path = "/store", .output = OutputFormat::kJson},
                      test_.world, console_);
  EXPECT_THAT(out_.str(), HasSubstr("\"good\": true,\n    \"verified\": true"));
}

TEST_F(CkptCommandTest, StateFileThatStopsARunIsReported) {
  storage_.Bytes("/store/checkpoint") = "latest: step-000000009-g1\n";
  EXPECT_EQ(List("/store"), 2);
  EXPECT_THAT(out_.str(), HasSubstr("step-000000002-g1 "));
  EXPECT_THAT(out_.str(), HasSubstr("; to resume from the newest good one, "
                                    "remove the file /store/checkpoint\n"));
  EXPECT_EQ(Verify("/store"), 2);
  EXPECT_THAT(out_.str(),
              HasSubstr("a run stops: /store/checkpoint: edited: line 1: "));
  storage_.Bytes("/store/checkpoint") = "latest: step-000000001-g1\n";
  storage_.Bytes("/store/step-000000001-g1/MANIFEST.json").clear();
  EXPECT_EQ(Verify("/store"), 7);
  EXPECT_THAT(out_.str(),
              HasSubstr("a run stops: /store/checkpoint: edited: line 1: "));
}

TEST_F(CkptCommandTest, HalfAnEditIsNotReportedAsIgnored) {
  std::string& file = storage_.Bytes("/store/checkpoint");
  const std::string latest = "latest: step-000000002-g1\n";
  ASSERT_NE(file.find(latest), file.npos) << file;
  file.replace(file.find(latest), latest.size(), "latest: step-000000001-g1\n");
  EXPECT_EQ(Verify("/store"), 2);
  EXPECT_THAT(out_.str(),
              HasSubstr("a run stops: /store/checkpoint: edited: line 5: "));
  EXPECT_THAT(err_.str(), Not(HasSubstr("ignored")));
}

TEST_F(CkptCommandTest, StateFileThatIsIgnoredIsReported) {
  storage_.Bytes("/store/checkpoint").clear();
  EXPECT_EQ(Verify("/store"), 0);
  EXPECT_THAT(err_.str(), HasSubstr("checkpoint: empty; ignored"));
  EXPECT_THAT(out_.str(), HasSubstr("a run resumes from step-000000002-g1\n"));
}

TEST_F(CkptCommandTest, ListsASingleCheckpoint) {
  EXPECT_EQ(Verify("/store/step-000000001-g1"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("good"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("no checkpoint can be loaded")));
}

TEST_F(CkptCommandTest, FolderWithoutStore_IsBadInput) {
  ASSERT_TRUE(storage_.MakeDirectory("/empty").ok());
  EXPECT_EQ(Verify("/empty"), 2);
  EXPECT_THAT(err_.str(), HasSubstr("/empty: no checkpoint store here"));
  EXPECT_EQ(List("/empty"), 2);
}

TEST_F(CkptCommandTest, DamagedCheckpointIsNoMistakeOnTheCommandLine) {
  const std::string damaged = "/store/step-000000001-g1";
  storage_.Bytes(damaged + "/MANIFEST.json").clear();
  EXPECT_EQ(
      RunCheckpointDiff({.left = damaged, .right = "/store/step-000000002-g1"},
                        test_.world, console_),
      7);
  EXPECT_EQ(Verify(damaged), 7);
}

TEST_F(CkptCommandTest, MissingCheckpoint_IsNamedOnce) {
  EXPECT_EQ(RunCheckpointDiff({.left = "/store/step-9", .right = "/store"},
                              test_.world, console_),
            2);
  EXPECT_THAT(err_.str(), Not(HasSubstr("step-9: /store/step-9")));
}

}  // namespace
}  // namespace gauntlet
