// Warnings of a claim about its findings and changes in a store, one line each.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/inspect.h"
#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kDirectory(kStore);

class StoreWarningsTest : public testing::Test {
 protected:
  StoreWarningsTest() {
    CheckpointStore store = OpenStore(test_.world, 6);
    CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
    for (uint64_t step = 1; step <= 5; ++step) {
      CHECK(Save(store, 1, step).ok(), "save");
    }
  }

  std::string& Bytes(const std::string& name) {
    return storage_.Bytes(kDirectory + "/" + name);
  }

  // Returns the warnings of a claim that may start from scratch.
  std::vector<std::string> WarningsOfAClaim() {
    auto store = CheckpointStore::Open(
        test_.world,
        {.directory = kDirectory, .keep = 6, .cold_start = ColdStart::kAllow});
    const auto claim = store->ClaimGeneration(std::string(kJob));
    EXPECT_TRUE(claim.ok()) << claim.status().ToString();
    return store->TakeWarnings();
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
};

TEST_F(StoreWarningsTest, IntactStoreGivesNoWarning) {
  EXPECT_THAT(WarningsOfAClaim(), IsEmpty());
  Bytes("checkpoint") = "latest: step-000000002-g1\n";
  EXPECT_THAT(WarningsOfAClaim(), IsEmpty()) << "it was obeyed";
}

TEST_F(StoreWarningsTest, NewerCheckpointsThatAreGoneAreNamed) {
  auto contents = storage_.Contents();
  std::erase_if(contents, [](const auto& file) {
    return file.first.starts_with(kDirectory + "/step-000000004") ||
           file.first.starts_with(kDirectory + "/step-000000005");
  });
  storage_.SetContents(contents);
  const auto gone = [](int step) {
    return fmt::format(
        "step-{:09}-g1: missing, listed in checkpoint; a run resumes from "
        "step-000000003-g1",
        step);
  };
  const auto looked =
      InspectStore(test_.world, kDirectory, InspectDepth::kManifests);
  ASSERT_TRUE(looked.ok());
  EXPECT_THAT(looked->missing, ElementsAre(gone(4), gone(5)));
  EXPECT_THAT(WarningsOfAClaim(), ElementsAre(gone(4), gone(5)));
  EXPECT_THAT(WarningsOfAClaim(), IsEmpty()) << "the state file is a new one";
}

TEST_F(StoreWarningsTest, RejectedOrAbortedCheckpointsAreNotMissing) {
  Bytes("step-000000005-g1/MANIFEST.json").clear();
  EXPECT_THAT(WarningsOfAClaim(), ElementsAre(HasSubstr("step-000000005")));
  EXPECT_THAT(WarningsOfAClaim(), IsEmpty());
  Bytes("checkpoint") = "latest: step-000000002-g1\n";
  static_cast<void>(WarningsOfAClaim());
  EXPECT_THAT(WarningsOfAClaim(), IsEmpty());
}

TEST_F(StoreWarningsTest, StateFileThatIsIgnoredIsReported) {
  const std::string whole = Bytes("checkpoint");
  std::string flipped = whole;  // one bit flipped, so not a user's edit
  flipped.replace(flipped.find("latest: step-000000005"), 22,
                  "latest: step-000000007");
  const std::pair<std::string, std::string> kCases[] = {
      {flipped, "checkpoint: bits of it are flipped; "},
      {"", "checkpoint: empty; "},
      {std::string("\x7f"
                   "ELF\0\0\1",
                   7),
       "checkpoint: not text; "},
  };
  for (const auto& [bytes, line] : kCases) {
    Bytes("checkpoint") = bytes;
    EXPECT_THAT(WarningsOfAClaim(),
                ElementsAre(AllOf(StartsWith(line),
                                  EndsWith(". To go back to another one, set "
                                           "latest to its name and delete the "
                                           "last line"))));
    EXPECT_THAT(WarningsOfAClaim(), IsEmpty()) << "it is written anew";
  }
  ASSERT_TRUE(
      storage_.Remove(kDirectory + "/checkpoint", FileKind::kFile).ok());
  EXPECT_THAT(WarningsOfAClaim(),
              ElementsAre("checkpoint: missing; ignored: a run resumes from "
                          "the newest good checkpoint"));
}

TEST_F(StoreWarningsTest, NamesKeptAndRemovedCheckpoints) {
  for (uint64_t step = 1; step <= 5; ++step) {
    Bytes(fmt::format("step-{:09}-g1/MANIFEST.json", step)).clear();
  }
  std::set<std::string> kept;
  int removed = 0;
  for (const std::string& line : WarningsOfAClaim()) {
    const size_t at = line.find("(kept as ");
    removed += line.find("(removed: the newest 4 are kept)") != line.npos;
    if (at == line.npos) continue;
    kept.insert(line.substr(at + 9, line.find(')', at) - at - 9));
  }
  EXPECT_EQ(removed, 1);
  std::set<std::string> there;
  const auto listed = storage_.List(kDirectory);
  for (const DirectoryEntry& entry : *listed) {
    if (entry.name.starts_with(kRejectedPrefix)) there.insert(entry.name);
  }
  EXPECT_EQ(kept, there);
  EXPECT_EQ(kept.size(), 4u);
}

TEST_F(StoreWarningsTest, GivesTheReason_WhenARejectedCheckpointIsNotSetAside) {
  Bytes("step-000000005-g1/MANIFEST.json").clear();
  storage_.gate = [](StorageCall operation, const std::string& path) {
    const bool fails =
        operation == StorageCall::kChange && path == "/store/step-000000005-g1";
    return fails ? IoError("no rename") : OkStatus();
  };
  EXPECT_THAT(WarningsOfAClaim(),
              ElementsAre("no rename", HasSubstr("left where it is")));
}

TEST_F(StoreWarningsTest, RemovalOfAnOldRejectedCheckpoint_IsReported) {
  for (uint64_t step = 2; step <= 5; ++step) {
    Bytes(fmt::format("step-{:09}-g1/MANIFEST.json", step)).clear();
  }
  EXPECT_EQ(WarningsOfAClaim().size(), 4u);
  CheckpointStore store = OpenStore(test_.world, 6);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  ASSERT_TRUE(Save(store, 3, 6).ok());
  Bytes("step-000000006-g3/MANIFEST.json").clear();
  EXPECT_THAT(WarningsOfAClaim(),
              ElementsAre(HasSubstr("(kept as rejected-step-000000006-g3)"),
                          "removed rejected-step-000000002-g1: the newest 4 "
                          "are kept"));
}

}  // namespace
}  // namespace gauntlet
