#include "engine/ckpt/checkpoint_store.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/state_file.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/tensor_difference.h"
#include "engine/ckpt/protocol/removal.h"
#include "engine/real/storage/posix_storage.h"
#include "tests/engine/ckpt/test_world.h"
#include <stdlib.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kDirectory(kStore);

class CheckpointStoreTest : public testing::Test {
 protected:
  // Returns a claimed store that contains saves of these steps.
  CheckpointStore Saved(const std::vector<uint64_t>& steps, int keep = 5) {
    CheckpointStore store = OpenStore(test_.world, keep);
    const auto claim = store.ClaimGeneration(std::string(kJob));
    CHECK(claim.ok(), claim.status().ToString());
    for (const uint64_t step : steps) {
      const auto ref = Save(store, claim->generation, step);
      CHECK(ref.ok(), ref.status().ToString());
    }
    return store;
  }
  std::string& Bytes(const std::string& name) {
    return storage_.Bytes(kDirectory + "/" + name);
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
};

TEST_F(CheckpointStoreTest, StartsColdInAnEmptyDirectory) {
  const Recovered recovered = Recover(test_.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_EQ(recovered.claim->generation, 1u);
  EXPECT_FALSE(recovered.claim->parent);
}

TEST_F(CheckpointStoreTest, LoadsTheNewestSaveUnderItsName) {
  Saved({10, 20});
  const Recovered recovered = Recover(test_.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_EQ(recovered.step, 20u);
  EXPECT_EQ(recovered.claim->parent->name, "step-000000020-g1");
  EXPECT_THAT(Checkpoints(storage_, kDirectory),
              ElementsAre("step-000000010-g1", "step-000000020-g1"));
}

TEST_F(CheckpointStoreTest, ReadsTheParentOnce_ForTheClaimAndTheFirstLoad) {
  Saved({10, 20});
  CheckpointStore store = OpenStore(test_.world);
  size_t reads = 0;
  storage_.gate = [&](StorageCall operation, const std::string& path) {
    if (operation == StorageCall::kRead && path.ends_with(".safetensors")) {
      ++reads;
    }
    return OkStatus();
  };
  const auto claim = store.ClaimGeneration(std::string(kJob));
  ASSERT_TRUE(claim.ok()) << claim.status().ToString();
  const size_t of_the_claim = reads;
  EXPECT_GT(of_the_claim, 0u);
  const auto loaded = store.Load(*claim->parent);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  const TestState saved(20);
  EXPECT_TRUE(CompareTensors(loaded->tensors, saved.Views()).empty());
  EXPECT_EQ(reads, of_the_claim);
  ASSERT_TRUE(store.Load(*claim->parent).ok());
  EXPECT_EQ(reads, 2 * of_the_claim);
}

TEST_F(CheckpointStoreTest, ClaimReadsParentIntoPlacesOfTheFirstLoad) {
  Saved({10, 20});
  Bytes("step-000000020-g1/" + ShardName(0, 2)).back() ^= 1;
  CheckpointStore store = OpenStore(test_.world);
  std::map<std::string, std::vector<std::byte>> places;
  const auto claim = store.ClaimGeneration(
      std::string(kJob), StateInMemory::kNone,
      [&](const TensorView& tensor) -> std::span<std::byte> {
        auto& place = places[tensor.name];
        place.resize(TestState(1).tensors.at(tensor.name).bytes.size());
        return place;
      });
  ASSERT_TRUE(claim.ok()) << claim.status().ToString();
  ASSERT_EQ(claim->parent->step, 10u);
  const auto loaded = store.Load(*claim->parent);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  const TestState saved(10);
  EXPECT_TRUE(CompareTensors(loaded->tensors, saved.Views()).empty());
  for (const TensorView& tensor : loaded->tensors) {
    EXPECT_EQ(tensor.bytes.data(), places.at(tensor.name).data());
  }
}

// The first load returns the bytes that the claim verified; the second one
// finds the damage on the disk.
TEST_F(CheckpointStoreTest,
       FirstLoadReturnsTheVerifiedBytes_DespiteLaterDamage) {
  Saved({20});
  CheckpointStore store = OpenStore(test_.world);
  const auto claim = store.ClaimGeneration(std::string(kJob));
  ASSERT_TRUE(claim.ok()) << claim.status().ToString();
  Bytes("step-000000020-g1/" + ShardName(0, 2)).back() ^= 1;
  EXPECT_TRUE(store.Load(*claim->parent).ok());
  EXPECT_EQ(store.Load(*claim->parent).status().code(), Code::kDataLoss);
}

TEST_F(CheckpointStoreTest, RestoresHeadAndTensorsBitForBit) {
  CheckpointStore store = Saved({10});
  const auto loaded = store.Load({.name = "step-000000010-g1", .step = 10});
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(loaded->head.position, HeadOf(10).position);
  EXPECT_EQ(loaded->head.job_json, kJob);
  const TestState saved(10);
  EXPECT_TRUE(CompareTensors(loaded->tensors, saved.Views()).empty());
}

TEST_F(CheckpointStoreTest, WorksOnARealDirectory) {
  char path[] = "/tmp/ckpt_store_XXXXXX";
  ASSERT_NE(mkdtemp(path), nullptr);
  const std::string directory = std::string(path) + "/new/store";
  PosixStorage storage;
  TestWorld test(storage);
  CheckpointStore first = OpenStore(test.world, 2, directory);
  ASSERT_TRUE(first.ClaimGeneration(std::string(kJob)).ok());
  for (uint64_t step = 1; step <= 25; ++step) {
    ASSERT_TRUE(Save(first, 1, step).ok());
  }
  EXPECT_THAT(Checkpoints(storage, directory),
              ElementsAre("step-000000024-g1", "step-000000025-g1"));
  CheckpointStore second = OpenStore(test.world, 2, directory);
  const auto claim = second.ClaimGeneration(std::string(kJob));
  ASSERT_TRUE(claim.ok()) << claim.status().ToString();
  EXPECT_EQ(second.Load(*claim->parent)->head.step, 25u);
  EXPECT_TRUE(second.DeleteAll().ok());
  EXPECT_EQ(storage.List(directory).status().code(), Code::kNotFound);
  EXPECT_TRUE(
      storage.Remove(std::string(path) + "/new", FileKind::kDirectory).ok());
  EXPECT_TRUE(storage.Remove(path, FileKind::kDirectory).ok());
}

TEST_F(CheckpointStoreTest, DirectoryNotInUtf8_IsRefused) {
  const Status opened =
      CheckpointStore::Open(test_.world, {.directory = "/run-\xe9"}).status();
  EXPECT_EQ(opened.ToString(),
            "INVALID_ARGUMENT: checkpoint directory: expected a path in UTF-8, "
            "found '/run-\\xe9'");
  EXPECT_TRUE(storage_.Contents().empty());
}

// The target of the link belongs to another store, which may remove it.
TEST_F(CheckpointStoreTest, LinkedCheckpointIsRefused) {
  char path[] = "/tmp/ckpt_store_XXXXXX";
  ASSERT_NE(mkdtemp(path), nullptr);
  PosixStorage storage;
  TestWorld test(storage);
  const std::string directory = std::string(path) + "/store";
  CheckpointStore linked = OpenStore(test.world, 1, directory);
  const std::string link = directory + "/step-000000001-g1";
  ASSERT_EQ(symlink(path, link.c_str()), 0);
  const Status claimed = linked.ClaimGeneration(std::string(kJob)).status();
  EXPECT_EQ(claimed.code(), Code::kInvalidArgument);
  EXPECT_THAT(
      claimed.message(),
      HasSubstr(link + ": expected a directory, found a symbolic link"));
  EXPECT_EQ(unlink(link.c_str()), 0);
  EXPECT_TRUE(storage.Remove(directory, FileKind::kDirectory).ok());
  EXPECT_TRUE(storage.Remove(path, FileKind::kDirectory).ok());
}

TEST_F(CheckpointStoreTest, KeepsOneCheckpointOnlyAfterTheNextIsCommitted) {
  CheckpointStore store = Saved({1, 2}, 1);
  EXPECT_THAT(Checkpoints(storage_, kDirectory),
              ElementsAre("step-000000002-g1"));
  storage_.gate = [](StorageCall operation, const std::string&) {
    return operation == StorageCall::kWrite ? ResourceExhausted("disk full")
                                            : OkStatus();
  };
  EXPECT_EQ(Save(store, 1, 3).status().code(), Code::kResourceExhausted);
  storage_.gate = nullptr;
  EXPECT_THAT(Checkpoints(storage_, kDirectory),
              ElementsAre("step-000000002-g1"));
  EXPECT_FALSE(storage_.Exists(kDirectory + "/step-000000003-g1.tmp"));
  EXPECT_EQ(Recover(test_.world).step, 2u);
}

// The newest valid checkpoint is never removed, however full the disk is.
TEST_F(CheckpointStoreTest, FreesRoomOfAllCheckpoints_BeforeTheNewestValidOne) {
  CheckpointStore store = Saved({1, 2, 3, 4});
  Bytes("step-000000004-g1/model-00001-of-00002.safetensors").back() ^= 1;
  EXPECT_TRUE(store.FreeSpace().value());
  EXPECT_TRUE(store.FreeSpace().value());
  EXPECT_FALSE(store.FreeSpace().value());
  EXPECT_THAT(Checkpoints(storage_, kDirectory),
              ElementsAre("step-000000003-g1", "step-000000004-g1"));
  EXPECT_EQ(test_.events.Of(EventKind::kRetired).size(), 2u);
  EXPECT_THAT(store.TakeWarnings(),
              testing::Contains(HasSubstr("out of disk space: deleted ")));
}

// A generation must not remove the checkpoints of a later one.
TEST_F(CheckpointStoreTest, FreesNoRoom_IfAnotherGenerationOwnsTheStore) {
  CheckpointStore store = Saved({1, 2});
  Recover(test_.world);
  EXPECT_EQ(store.FreeSpace().status().code(), Code::kFenced);
  EXPECT_EQ(Checkpoints(storage_, kDirectory).size(), 2u);
}

TEST_F(CheckpointStoreTest, ReportsTheSpaceASaveNeeds) {
  CheckpointStore store = Saved({1}, 1);
  storage_.gate = [](StorageCall operation, const std::string&) {
    return operation == StorageCall::kWrite ? ResourceExhausted("disk full")
                                            : OkStatus();
  };
  EXPECT_THAT(
      Save(store, 1, 3).status().message(),
      testing::MatchesRegex(".*disk full .needs [0-9]*[.][0-9] KiB, the file "
                            "system of /.* has an unknown size free."));
}

TEST_F(CheckpointStoreTest, ReportsAStepThatIsSavedAlready) {
  CheckpointStore store = Saved({1});
  EXPECT_EQ(store.BeginSave(HeadOf(1), 1).value(), std::nullopt);
  CheckpointHead other = HeadOf(1);
  other.state_digest = DigestOf("other");
  const Status status = store.BeginSave(other, 1).status();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("nondeterminism"));
}

TEST_F(CheckpointStoreTest, DamagedCheckpointIsNotTakenForAFinishedSave) {
  CheckpointStore store = Saved({1});
  Bytes("step-000000001-g1/MANIFEST.json")[5] ^= 1;
  EXPECT_TRUE(Save(store, 1, 1).ok());
  EXPECT_TRUE(storage_.Exists(kDirectory + "/rejected-step-000000001-g1"));
  EXPECT_EQ(Recover(test_.world).step, 1u);
}

TEST_F(CheckpointStoreTest, KeepsTwoPhasesOfOneStepApart) {
  CheckpointStore store = Saved({});
  const TestState state(1);
  const auto views = state.Views();
  for (const Phase phase : {Phase::kEvaluationDue, Phase::kInEpoch}) {
    CheckpointHead head = HeadOf(1);
    head.phase = phase;
    const auto begun = store.BeginSave(head, 1);
    ASSERT_TRUE(begun.ok()) << begun.status().ToString();
    const std::optional<std::string>& save = *begun;
    const std::vector shards = {*store.WriteShard(*save, 0, 1, views)};
    ASSERT_TRUE(store.Commit(*save, head, 1, shards).ok());
  }
  // The save at the beginning of the next epoch is newer than the save of the
  // same step with the evaluation due.
  const Recovered recovered = Recover(test_.world);
  EXPECT_EQ(recovered.claim->parent->name, "step-000000001-finished-g1");
}

TEST_F(CheckpointStoreTest, EmitsTheEventsOfASaveInOrder) {
  Saved({1, 2}, 1);
  std::vector<std::string> kinds;
  for (const LogEvent& event : test_.events.all) {
    kinds.emplace_back(EventKindName(event.kind));
  }
  EXPECT_THAT(
      kinds, ElementsAre("claim_begin", "claimed", "save_begin",
                         "save_acknowledged", "save_begin", "save_acknowledged",
                         "retire_begin", "retired"));
  EXPECT_EQ(test_.events.all.back().path, kDirectory + "/step-000000001-g1");
}

// The process dies between the commit and the retirement.
TEST_F(CheckpointStoreTest, NextClaimRetires_WhenASaveWasOnlyCommitted) {
  CheckpointStore store = Saved({1}, 1);
  const CheckpointHead head = HeadOf(2);
  const std::optional<std::string> save = *store.BeginSave(head, 1);
  const TestState state(2);
  const auto views = state.Views();
  const std::vector shards = {*store.WriteShard(*save, 0, 1, views)};
  ASSERT_TRUE(store.Commit(*save, head, 1, shards).ok());
  EXPECT_THAT(Bytes("checkpoint"), Not(HasSubstr("step-000000002-g1")));
  EXPECT_THAT(Checkpoints(storage_, kDirectory),
              ElementsAre("step-000000001-g1", "step-000000002-g1"));
  CheckpointStore next = OpenStore(test_.world, 1);
  const auto claim = next.ClaimGeneration(std::string(kJob));
  ASSERT_TRUE(claim.ok()) << claim.status().ToString();
  EXPECT_EQ(claim->parent->step, 2u);
  EXPECT_THAT(Bytes("checkpoint"), HasSubstr("step-000000002-g1"));
  EXPECT_THAT(Checkpoints(storage_, kDirectory),
              ElementsAre("step-000000002-g1"));
}

TEST_F(CheckpointStoreTest, ReachesEveryPointOfASaveAndALoad) {
  Saved({1, 2}, 1);
  Recover(test_.world);
  CheckpointStore store = Saved({3});
  Bytes("step-000000003-g3/MANIFEST.json")[5] = '!';
  Recover(test_.world);
  ASSERT_TRUE(store.DeleteAll().code() == Code::kFenced);
  const std::set<Point> hit(test_.faults.hits.begin(), test_.faults.hits.end());
  for (const PointInfo& info : AllPoints()) {
    const bool ours = info.name.starts_with("ckpt.") ||
                      info.name.starts_with("cluster.claim.");
    // Only ranks that save together reach these points.
    if (info.point == Point::kSaveAgree || info.point == Point::kCopy) continue;
    if (!ours) continue;
    EXPECT_TRUE(hit.contains(info.point)) << info.name;
  }
}

TEST_F(CheckpointStoreTest, ReportsAFailedRetirementAndKeepsTheSave) {
  CheckpointStore store = Saved({1}, 1);
  test_.faults.script = [](Point point, size_t) {
    return point == Point::kRetireRename ? IoError("no") : OkStatus();
  };
  EXPECT_TRUE(Save(store, 1, 2).ok());
  EXPECT_THAT(store.TakeWarnings(), ElementsAre("no"));
  test_.faults.script = nullptr;
  EXPECT_TRUE(Save(store, 1, 3).ok());
  EXPECT_THAT(Checkpoints(storage_, kDirectory),
              ElementsAre("step-000000003-g1"));
}

bool AnyHalfDeleted(Storage& storage) {
  const auto entries = storage.List(kDirectory).value();
  return std::ranges::any_of(entries, [](const DirectoryEntry& entry) {
    return entry.name.starts_with(kDeletingPrefix);
  });
}

TEST_F(CheckpointStoreTest, Retention_CompletesAnInterruptedRemoval) {
  CheckpointStore store = Saved({1}, 1);
  test_.faults.script = [](Point point, size_t) {
    return point == Point::kRetireRemove ? IoError("no") : OkStatus();
  };
  EXPECT_TRUE(Save(store, 1, 2).ok());
  EXPECT_TRUE(AnyHalfDeleted(storage_));
  test_.faults.script = nullptr;
  EXPECT_TRUE(Save(store, 1, 3).ok());
  EXPECT_FALSE(AnyHalfDeleted(storage_));
}

// The rename of the first try may not be durable: a power loss could bring the
// name back, so no file may be removed before the directory is synced.
TEST_F(CheckpointStoreTest, RemovalTriedAgainSyncsTheNameBeforeTheFiles) {
  Saved({1});
  const auto removed = [&] {
    return DeleteCheckpoint(test_.world, kDirectory, "step-000000001-g1", 1);
  };
  storage_.gate = [](StorageCall operation, const std::string&) {
    return operation == StorageCall::kSync ? IoError("no") : OkStatus();
  };
  EXPECT_EQ(removed().code(), Code::kIoError);
  const auto half = storage_.Contents();
  EXPECT_EQ(removed().code(), Code::kIoError);
  EXPECT_EQ(storage_.Contents(), half);
  storage_.gate = nullptr;
  EXPECT_EQ(removed().code(), Code::kNotFound);
  EXPECT_FALSE(AnyHalfDeleted(storage_));
}

TEST_F(CheckpointStoreTest, RemovalBehindAnInterruptedOneRemovesBoth) {
  Saved({1});
  const std::string name = "step-000000001-g1";
  const std::string left = kDirectory + "/" + DeletingName(1, name);
  auto contents = storage_.Contents();
  contents[left + "/"] = "";
  contents[left + "/MANIFEST.json"] = "of an earlier save of this name";
  storage_.SetContents(contents);
  EXPECT_TRUE(DeleteCheckpoint(test_.world, kDirectory, name, 1).ok());
  EXPECT_THAT(Checkpoints(storage_, kDirectory), IsEmpty());
  EXPECT_FALSE(AnyHalfDeleted(storage_));
}

TEST_F(CheckpointStoreTest, Retention_RemovesRemainsOfAFailedSave) {
  CheckpointStore store = Saved({1}, 1);
  test_.faults.script = [](Point point, size_t) {
    const bool fails =
        point == Point::kParentSync || point == Point::kRetireRemove;
    return fails ? IoError("no") : OkStatus();
  };
  EXPECT_EQ(Save(store, 1, 2).status().code(), Code::kIoError);
  EXPECT_TRUE(AnyHalfDeleted(storage_));
  test_.faults.script = nullptr;
  EXPECT_TRUE(Save(store, 1, 3).ok());
  EXPECT_FALSE(AnyHalfDeleted(storage_));
}

// The second save has the name of the first, failed one, whose removal is still
// pending. The failed save left its tmp directory, or the checkpoint itself.
TEST_F(CheckpointStoreTest, FailedSaveDoesNotRemoveALaterOneOfItsName) {
  for (const Point failing : {Point::kShardSync, Point::kParentSync}) {
    storage_.SetContents({});
    CheckpointStore store = Saved({1}, 2);
    test_.faults.script = [failing](Point point, size_t) {
      const bool fails = point == failing || point == Point::kRetireRename;
      return fails ? IoError("no") : OkStatus();
    };
    EXPECT_EQ(Save(store, 1, 2).status().code(), Code::kIoError);
    test_.faults.script = nullptr;
    const Status again = Save(store, 1, 2).status();
    EXPECT_TRUE(again.ok()) << PointName(failing) << again.ToString();
    EXPECT_THAT(Checkpoints(storage_, kDirectory),
                ElementsAre("step-000000001-g1", "step-000000002-g1"))
        << PointName(failing);
    EXPECT_EQ(Recover(test_.world).step, 2u) << PointName(failing);
  }
}

TEST_F(CheckpointStoreTest, BeginsNoSaveWhileAFailedOneHoldsItsName) {
  CheckpointStore store = Saved({1}, 2);
  test_.faults.script = [](Point point, size_t) {
    const bool fails =
        point == Point::kParentSync || point == Point::kRetireRename;
    return fails ? IoError("no") : OkStatus();
  };
  EXPECT_EQ(Save(store, 1, 2).status().code(), Code::kIoError);
  EXPECT_EQ(store.BeginSave(HeadOf(2), 1).status().code(), Code::kIoError);
  EXPECT_EQ(test_.events.Of(EventKind::kSaveFailed).size(), 2u);
  test_.faults.script = nullptr;
  EXPECT_TRUE(Save(store, 1, 2).ok());
}

TEST_F(CheckpointStoreTest, FailedFsync_FailsOnlyThatSave) {
  for (const Point point : {Point::kShardSync, Point::kManifestSync,
                            Point::kTmpDirSync, Point::kParentSync}) {
    storage_.SetContents({});
    CheckpointStore store = Saved({1}, 2);
    test_.faults.script = [point](Point at, size_t) {
      return at == point ? IoError("fsync failed") : OkStatus();
    };
    EXPECT_EQ(Save(store, 1, 2).status().code(), Code::kIoError);
    test_.faults.script = nullptr;
    EXPECT_THAT(Checkpoints(storage_, kDirectory),
                ElementsAre("step-000000001-g1"))
        << PointName(point);
    EXPECT_TRUE(Save(store, 1, 3).ok());
    EXPECT_EQ(Recover(test_.world).step, 3u);
  }
}

TEST_F(CheckpointStoreTest, StateFile_ListsTheRetainedCheckpoints) {
  Saved({1, 2, 3}, 2);
  EXPECT_THAT(ParseStateFile(Bytes("checkpoint")).all,
              ElementsAre("step-000000002-g1", "step-000000003-g1"));
}

TEST_F(CheckpointStoreTest, ResumesFromTheCheckpointOfAnEditedStateFile) {
  Saved({1, 2, 3});
  Bytes("checkpoint") = "latest: step-000000002-g1\n";
  EXPECT_EQ(Recover(test_.world).step, 2u);
  // The edit takes effect once: after it, newer checkpoints are fenced.
  EXPECT_EQ(test_.events.Of(EventKind::kFencedFound).front().path,
            kDirectory + "/step-000000003-g1");
  EXPECT_EQ(Recover(test_.world).step, 2u);
  CheckpointStore store = Saved({});
  EXPECT_TRUE(Save(store, 4, 3).ok());
  EXPECT_EQ(Recover(test_.world).step, 3u);
}

TEST_F(CheckpointStoreTest, HalfDoneEditStopsBeforeRetentionTakesItsTarget) {
  Saved({1, 2, 4});
  std::string& state = Bytes("checkpoint");
  const std::string latest = "latest: step-000000004";
  state.replace(state.find(latest), latest.size(), "latest: step-000000001");
  const Status status = Recover(test_.world).status;
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("line 6: the checksum is not that of the lines above "
                        "it; delete this line to go back to "
                        "step-000000001-g1"));
}

TEST_F(CheckpointStoreTest, RefusesAnEditToSomethingElse) {
  Saved({1, 2});
  for (const std::string latest :
       {"step-000000009-g1", "../store/step-000000001-g1", "/etc", "",
        "step-000000001-g1/"}) {
    Bytes("checkpoint") = "latest: " + latest + "\n";
    const Status status = Recover(test_.world).status;
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << latest;
    EXPECT_THAT(status.message(), HasSubstr("step-000000002-g1"));
  }
  storage_.Remove(kDirectory + "/checkpoint", FileKind::kFile).ok();
  EXPECT_EQ(Recover(test_.world).step, 2u);
}

TEST_F(CheckpointStoreTest, RefusesAnEditToADamagedCheckpoint) {
  Saved({1, 2});
  Bytes("step-000000001-g1/MANIFEST.json").pop_back();
  Bytes("checkpoint") = "latest: step-000000001-g1\n";
  const Status status = Recover(test_.world).status;
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("MANIFEST.json"));
}

TEST_F(CheckpointStoreTest, EmitsTheRejectionBeforeItSetsTheCheckpointAside) {
  Saved({1, 2});
  Bytes("step-000000002-g1/MANIFEST.json").clear();
  test_.faults.script = [](Point point, size_t) {
    return point == Point::kReject ? Cancelled("gone") : OkStatus();
  };
  EXPECT_EQ(Recover(test_.world).status.code(), Code::kCancelled);
  EXPECT_EQ(test_.events.Of(EventKind::kRejected).front().path,
            kDirectory + "/step-000000002-g1");
}

TEST_F(CheckpointStoreTest, RefusesAColdStart_IfNoCheckpointIsValid) {
  Saved({1, 2});
  Bytes("step-000000001-g1/MANIFEST.json").clear();
  Bytes("step-000000002-g1/model-00001-of-00002.safetensors").pop_back();
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Status status = Recover(test_.world).status;
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr("step-000000001-g1: MANIFEST"));
    EXPECT_THAT(status.message(),
                HasSubstr("step-000000002-g1: model-00001-of-00002"));
  }
  auto store = CheckpointStore::Open(
      test_.world, {.directory = kDirectory, .cold_start = ColdStart::kAllow});
  EXPECT_FALSE(store->ClaimGeneration(std::string(kJob))->parent);
  EXPECT_TRUE(storage_.Exists(kDirectory + "/rejected-step-000000002-g1"));
}

TEST_F(CheckpointStoreTest, RefusesAColdStart_IfAllCheckpointsAreGone) {
  Saved({1});
  std::map<std::string, std::string> contents = storage_.Contents();
  std::erase_if(contents, [](const auto& file) {
    return file.first.find("step-") != std::string::npos;
  });
  storage_.SetContents(contents);
  EXPECT_EQ(Recover(test_.world).status.code(), Code::kFailedPrecondition);
}

TEST_F(CheckpointStoreTest, StartsColdAfterACrashBeforeTheFirstSave) {
  Saved({});
  Saved({});
  const Recovered recovered = Recover(test_.world);
  ASSERT_TRUE(recovered.status.ok()) << recovered.status.ToString();
  EXPECT_EQ(recovered.claim->generation, 3u);
}

TEST_F(CheckpointStoreTest, RefusesAnotherJobAndNamesTheDifference) {
  Saved({1});
  CheckpointStore store = OpenStore(test_.world);
  const auto before = storage_.Contents();
  const Status status = store.ClaimGeneration(R"({"seed":2})").status();
  EXPECT_EQ(status.code(), Code::kOtherJob);
  EXPECT_THAT(status.message(), HasSubstr("seed"));
  EXPECT_THAT(status.message(), HasSubstr("use another checkpoint directory"));
  EXPECT_EQ(Recover(test_.world).step, 1u);
}

TEST_F(CheckpointStoreTest, TakesReadErrorsForNoReasonToReject) {
  Saved({1, 2});
  storage_.gate = [](StorageCall operation, const std::string& path) {
    return operation == StorageCall::kRead && path.ends_with("safetensors")
               ? IoError(path)
               : OkStatus();
  };
  EXPECT_EQ(Recover(test_.world).status.code(), Code::kIoError);
  int failures = 2;
  storage_.gate = [&](StorageCall operation, const std::string& path) {
    return operation == StorageCall::kRead && path.ends_with("safetensors") &&
                   failures-- > 0
               ? IoError(path)
               : OkStatus();
  };
  EXPECT_EQ(Recover(test_.world).step, 2u);
  EXPECT_THAT(test_.events.Of(EventKind::kRejected), IsEmpty());
}

TEST_F(CheckpointStoreTest, DeletesEverythingOfItsOwnAndNothingElse) {
  CheckpointStore store = Saved({1, 2});
  EXPECT_TRUE(store.DeleteAll().ok());
  EXPECT_FALSE(storage_.Exists(kDirectory));
  EXPECT_TRUE(store.DeleteAll().ok());
  CheckpointStore again = Saved({1});
  {
    const auto file =
        storage_.Open(kDirectory + "/notes.txt", OpenMode::kCreateExclusive);
  }
  EXPECT_TRUE(again.DeleteAll().ok());
  EXPECT_THAT(
      storage_.Contents(),
      ElementsAre(testing::Key("/store/"), testing::Key("/store/notes.txt")));
}

TEST_F(CheckpointStoreTest, BoundsRejectedAndFencedCheckpoints) {
  for (uint64_t incarnation = 1; incarnation <= 10; ++incarnation) {
    Saved({2 * incarnation, 2 * incarnation + 1});
    Bytes(Checkpoints(storage_, kDirectory).back() + "/MANIFEST.json").clear();
  }
  EXPECT_EQ(Recover(test_.world).step, 20u);
  const auto contents = storage_.Contents();
  const auto rejected = std::ranges::count_if(contents, [](const auto& file) {
    return file.first.find("rejected-") != std::string::npos &&
           file.first.ends_with("/");
  });
  EXPECT_EQ(rejected, 4);
}

TEST_F(CheckpointStoreTest, PrunesClaimsThatNoLineageNeeds) {
  for (int incarnation = 0; incarnation < 10; ++incarnation) Saved({});
  Saved({1, 2});
  for (int incarnation = 0; incarnation < 10; ++incarnation) Saved({});
  int claims = 0;
  for (const auto& [path, bytes] : storage_.Contents()) {
    claims += path.find("gen-") != std::string::npos ? 1 : 0;
  }
  EXPECT_LE(claims, 3);
  EXPECT_EQ(Recover(test_.world).step, 2u);
}

TEST_F(CheckpointStoreTest, AcknowledgesBeforeTheRename_IfBugIsPlanted) {
  test_.faults.planted = {PlantedBug::kAcknowledgeBeforeRename};
  CheckpointStore store = Saved({});
  test_.faults.script = [](Point point, size_t) {
    return point == Point::kRename ? Cancelled("crash") : OkStatus();
  };
  EXPECT_FALSE(Save(store, 1, 1).ok());
  EXPECT_EQ(test_.events.Of(EventKind::kSaveAcknowledged).size(), 1u);
}

TEST_F(CheckpointStoreTest, SkipsSyncOfManifest_IfBugIsPlanted) {
  int syncs = 0;
  storage_.gate = [&](StorageCall operation, const std::string& path) {
    syncs += operation == StorageCall::kSync && path.ends_with("MANIFEST.json");
    return OkStatus();
  };
  CheckpointStore store = Saved({1});
  EXPECT_EQ(syncs, 1);
  test_.faults.planted = {PlantedBug::kSkipManifestSync};
  EXPECT_TRUE(Save(store, 1, 2).ok());
  EXPECT_EQ(syncs, 1);
}

}  // namespace
}  // namespace gauntlet
