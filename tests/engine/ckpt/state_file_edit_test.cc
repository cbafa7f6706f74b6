// Manual edits of the state file: the effect of each on the next start, and an
// inspection (InspectStore) that predicts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/state_file.h"
#include "engine/ckpt/inspect.h"
#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kDirectory(kStore);

class StateFileEditTest : public testing::Test {
 protected:
  StateFileEditTest() {
    CheckpointStore store = OpenStore(test_.world);
    CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
    for (const uint64_t step : {1, 2, 4}) {
      CHECK(Save(store, 1, step).ok(), "save");
    }
  }

  std::string& Bytes(const std::string& name) {
    return storage_.Bytes(kDirectory + "/" + name);
  }
  void Write(std::string text) { Bytes("checkpoint") = std::move(text); }

  // Returns the status of a start, and checks that an inspection before it
  // predicts the same.
  Status Start() {
    const auto store =
        InspectStore(test_.world, kDirectory, InspectDepth::kEveryByte);
    const Status status = Recover(test_.world).status;
    EXPECT_EQ(store->start.code(), status.code());
    EXPECT_EQ(store->start.message(), status.message());
    return status;
  }

  // Gives the checkpoint of generation 1 the suffix of generation 2.
  void RenameAsEarlierVersionsDid(const std::string& step) {
    const std::string path = kDirectory + "/" + step;
    CHECK(storage_.Rename(path + "-g1", path + "-g2").ok(), path);
  }

  // Returns the step that a start resumes from; nullopt if the start is
  // refused.
  std::optional<uint64_t> Step() { return Recover(test_.world).step; }

  MemoryStorage storage_;
  TestWorld test_{storage_};
};

TEST_F(StateFileEditTest, WithoutALastLineFeed_GoesBack) {
  std::string text = Bytes("checkpoint");
  text.resize(text.rfind("latest: "));
  Write(text + "latest: step-000000002-g1");
  EXPECT_EQ(Step(), 2u);
}

TEST_F(StateFileEditTest, WithTheLaterNamesRemoved_GoesBack) {
  const std::string sealed =
      EncodeStateFile(std::vector<std::string>{"step-000000001-g1"});
  Write(sealed.substr(0, sealed.rfind("xxh3_128")));
  EXPECT_EQ(Step(), 1u);
}

// An older file that was truncated looks the same, and requests nothing.
TEST_F(StateFileEditTest, PossibleTruncation_NeverStopsAStart) {
  const std::string sealed =
      EncodeStateFile(std::vector<std::string>{"step-000000001-g1"});
  const std::string cut = sealed.substr(0, sealed.rfind("xxh3_128"));
  Write(cut);
  Bytes("step-000000001-g1/MANIFEST.json").pop_back();
  EXPECT_EQ(Step(), 4u);
  const std::string gone =
      EncodeStateFile(std::vector<std::string>{"step-000000003-g1"});
  Write(gone.substr(0, gone.rfind("xxh3_128")));
  EXPECT_EQ(Step(), 4u);
}

TEST_F(StateFileEditTest, ToSomethingElse_IsRefusedByLine) {
  const std::string kWrong[] = {
      "step-000000009-g1",     "/store/step-000000001-g1",
      "./step-000000001-g1",   "STEP-000000001-G1",
      "step-000000001",        "step-1-g1",
      "\"step-000000001-g1\"", "rejected-step-000000001-g1"};
  for (const std::string& latest : kWrong) {
    Write("# mine\nlatest: " + latest + "\n");
    const Status status = Start();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << latest;
    EXPECT_THAT(
        status.message(),
        AllOf(HasSubstr("checkpoint: edited: line 2: latest: expected"),
              HasSubstr("step-000000001-g1, step-000000002-g1, "),
              HasSubstr("found \"" + latest + "\""),
              HasSubstr("To go back to another checkpoint, set latest")));
  }
}

TEST_F(StateFileEditTest, MoreThanAMebibyte_IsRefused) {
  Write("latest: step-000000001-g1\n" + std::string(2 << 20, '#'));
  const Status status = Start();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("at most 1048576 bytes"));
}

TEST_F(StateFileEditTest, ToACheckpointSetAside_ReportsIt) {
  Bytes("step-000000004-g1/MANIFEST.json").pop_back();
  EXPECT_EQ(Step(), 2u);
  Write("latest: step-000000004-g1\n");
  EXPECT_THAT(Start().message(), HasSubstr("which was set aside as damaged"));
}

// A store of an earlier version, which renamed the parent of generation 2. A
// user may still have the first name from a log.
TEST_F(StateFileEditTest, ToAnOldName_GivesTheNewName) {
  EXPECT_EQ(Step(), 4u);
  RenameAsEarlierVersionsDid("step-000000004");
  Write("all: step-000000004-g2\nlatest: step-000000004-g1\n");
  const Status status = Start();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("renamed to step-000000004-g2"));
}

// An earlier version crashed after the claim that obeys the edit, and before it
// wrote the new state file.
TEST_F(StateFileEditTest, ObeyedByAnEarlierVersion_IsReportedAndNotRefused) {
  const std::string edit =
      "all: step-000000001-g1\nlatest: step-000000002-g1\n";
  Write(edit);
  EXPECT_EQ(Step(), 2u);
  RenameAsEarlierVersionsDid("step-000000002");
  Write(edit);
  CheckpointStore store = OpenStore(test_.world);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  EXPECT_THAT(store.TakeWarnings(),
              ElementsAre(HasSubstr("already applied by generation 2")));
}

// A start crashes after the claim that obeys the edit, and before it writes the
// new state file.
TEST_F(StateFileEditTest, ObeyedAndNotReplaced_IsObeyedAgain) {
  Write("latest: step-000000001-g1\n");
  for (const bool crashes : {true, false}) {
    test_.faults.script = [&](Point point, size_t) {
      return crashes && point == Point::kStateWrite ? Cancelled("gone")
                                                    : OkStatus();
    };
    EXPECT_EQ(Step(), crashes ? std::nullopt : std::optional<uint64_t>(1));
  }
  EXPECT_TRUE(storage_.Exists(kDirectory + "/step-000000001-g1"));
}

// If this start succeeded, the next one would obey the edit again, and lose
// what this run saves.
TEST_F(StateFileEditTest, FailsTheStart_IfTheStateFileCannotBeReplaced) {
  test_.faults.script = [](Point point, size_t) {
    return point == Point::kStateWrite ? ResourceExhausted("no room")
                                       : OkStatus();
  };
  EXPECT_TRUE(Start().ok()) << "without an edit it is a warning";
  Write("latest: step-000000001-g1\n");
  const Status status = Recover(test_.world).status;
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("the edit is not replaced"));
}

TEST_F(StateFileEditTest, WhileTheRunIsActive_IsReportedBeforeItIsWrittenOver) {
  CheckpointStore store = OpenStore(test_.world);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  Write("latest: step-000000001-g1\n");
  ASSERT_TRUE(Save(store, 2, 5).ok());
  EXPECT_THAT(store.TakeWarnings(),
              ElementsAre(HasSubstr("edited while the run was active")));
  ASSERT_TRUE(Save(store, 2, 6).ok());
  EXPECT_THAT(store.TakeWarnings(), IsEmpty());
  EXPECT_EQ(Step(), 6u);
}

TEST_F(StateFileEditTest, FilesOfAnEditor_AreLeftAlone) {
  for (const std::string name :
       {"checkpoint~", ".checkpoint.swp", "checkpoint.bak", "#checkpoint#"}) {
    ASSERT_TRUE(
        storage_.Open(kDirectory + "/" + name, OpenMode::kCreateTruncate).ok());
    Bytes(name) = "latest: step-000000001-g1\n";
  }
  EXPECT_EQ(Step(), 4u);
  EXPECT_TRUE(storage_.Exists(kDirectory + "/checkpoint~"));
}

}  // namespace
}  // namespace gauntlet
