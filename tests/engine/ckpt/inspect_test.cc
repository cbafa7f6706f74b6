#include "engine/ckpt/inspect.h"

#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class InspectTest : public testing::Test {
 protected:
  InspectTest() {
    CHECK(store_.ClaimGeneration(std::string(kJob)).ok(), "claim");
    CHECK(Save(store_, 1, 1).ok() && Save(store_, 1, 2).ok(), "save");
  }
  MemoryStorage storage_;
  TestWorld test_{storage_};
  CheckpointStore store_ = OpenStore(test_.world);
};

TEST_F(InspectTest, ListsValidFencedAndRejectedCheckpoints) {
  storage_.Bytes("/store/step-000000002-g1/MANIFEST.json").clear();
  TestWorld next(storage_);
  ASSERT_EQ(Recover(next.world).step, 1u);
  ASSERT_EQ(Save(store_, 1, 3).status().code(), Code::kFenced);
  const auto before = storage_.Contents();
  const auto store =
      InspectStore(next.world, "/store", InspectDepth::kManifests);
  const auto* reports = &store->checkpoints;
  ASSERT_EQ(reports->size(), 3u);
  EXPECT_EQ((*reports)[0].name, "step-000000001-g1");
  EXPECT_EQ((*reports)[0].resumed_by, 2u);
  EXPECT_EQ((*reports)[0].lineage, LineageState::kCurrent);
  EXPECT_EQ((*reports)[0].written_by, 1u);
  EXPECT_GT((*reports)[0].bytes, 100u);
  EXPECT_EQ((*reports)[1].lineage, LineageState::kRejected);
  EXPECT_FALSE((*reports)[1].verdict.ok());
  EXPECT_EQ((*reports)[2].lineage, LineageState::kFenced);
  EXPECT_EQ(store->obstacle_name, "");
  EXPECT_EQ(storage_.Contents(), before);
}

TEST_F(InspectTest, TakesNothingFromAManifestThatIsDamaged) {
  storage_.Bytes("/store/step-000000002-g1/MANIFEST.json").clear();
  TestWorld next(storage_);
  ASSERT_EQ(Recover(next.world).step, 1u);
  const auto store =
      InspectStore(next.world, "/store", InspectDepth::kEveryByte);
  const CheckpointReport& rejected = store->checkpoints.at(1);
  EXPECT_EQ(rejected.name, "rejected-step-000000002-g1");
  EXPECT_EQ(rejected.step, 2u);
  EXPECT_EQ(rejected.written_by, 1u);
  EXPECT_EQ(rejected.bytes, 0u);
  EXPECT_EQ(rejected.age_seconds, 0);
  EXPECT_FALSE(rejected.verified);
}

TEST_F(InspectTest, ListsTheStatesOfAStepInTheirOrder) {
  const TestState state(3);
  const auto views = state.Views();
  for (const Phase phase : {Phase::kEvaluationDue, Phase::kInEpoch}) {
    CheckpointHead head = HeadOf(3);
    head.phase = phase;
    const auto save = store_.BeginSave(head, 1);
    const std::vector shards = {*store_.WriteShard(**save, 0, 1, views)};
    ASSERT_TRUE(store_.Commit(**save, head, 1, shards).ok());
  }
  const auto store =
      InspectStore(test_.world, "/store", InspectDepth::kManifests);
  std::vector<std::string> names;
  for (const auto& report : store->checkpoints) names.push_back(report.name);
  EXPECT_THAT(names,
              ElementsAre("step-000000001-g1", "step-000000002-g1",
                          "step-000000003-g1", "step-000000003-finished-g1"));
}

// `ckpt verify` and training decide in the same way.
TEST_F(InspectTest, TooLargeGenerationNumber_IsRefusedByName) {
  for (const std::string name :
       {"gen-18446744073709551615", "gen-9223372036854775808",
        "gen-9007199254740992", "gen-18446744073709551615.tmp",
        "step-000000003-g18446744073709551615.tmp"}) {
    ASSERT_TRUE(
        storage_.Open("/store/" + name, OpenMode::kCreateExclusive).ok());
    const auto store =
        InspectStore(test_.world, "/store", InspectDepth::kEveryByte);
    EXPECT_EQ(store->start.code(), Code::kInvalidArgument);
    EXPECT_THAT(store->start.message(), HasSubstr("/store/" + name + ": "));
    TestWorld next(storage_);
    CheckpointStore reopened = OpenStore(next.world);
    EXPECT_EQ(reopened.ClaimGeneration(std::string(kJob)).status().ToString(),
              store->start.ToString());
    ASSERT_TRUE(storage_.Remove("/store/" + name, FileKind::kFile).ok());
  }
  EXPECT_TRUE(InspectStore(test_.world, "/store", InspectDepth::kEveryByte)
                  ->start.ok());
}

TEST_F(InspectTest, DirectoryInPlaceOfTheStateFile_StopsRunsAndHidesNothing) {
  const std::string place = "/store/checkpoint";
  ASSERT_TRUE(storage_.Remove(place, FileKind::kFile).ok());
  ASSERT_TRUE(storage_.MakeDirectory(place).ok());
  const auto store =
      InspectStore(test_.world, "/store", InspectDepth::kEveryByte);
  EXPECT_EQ(store->start.ToString(),
            "INVALID_ARGUMENT: /store/checkpoint: expected a file, found a "
            "directory; remove it");
  EXPECT_EQ(store->obstacle_name, "checkpoint");
  EXPECT_EQ(store->state_file, "");
  EXPECT_EQ(store->checkpoints.size(), 2u);
  EXPECT_EQ(FindResumeCheckpoint(test_.world, "/store").status().ToString(),
            store->start.ToString());
  EXPECT_EQ(Recover(test_.world).status.ToString(), store->start.ToString());
  ASSERT_TRUE(storage_.Remove(place, FileKind::kDirectory).ok());
  EXPECT_EQ(Recover(test_.world).step, 2u);
}

// The directory is foreign, although it uses the number of a claim.
TEST_F(InspectTest, DirectoryWithTheNameOfAClaim_IsLeftAlone) {
  ASSERT_TRUE(storage_.MakeDirectory("/store/gen-000005").ok());
  const std::string notes = "/store/gen-000005/notes";
  ASSERT_TRUE(storage_.Open(notes, OpenMode::kCreateExclusive).ok());
  TestWorld next(storage_);
  EXPECT_EQ(Recover(next.world).step, 2u);
  EXPECT_TRUE(storage_.Exists(notes));
  EXPECT_TRUE(storage_.Exists("/store/gen-000006"));
}

TEST_F(InspectTest, VerifiesEveryByte_IfRequested) {
  storage_.Bytes("/store/step-000000001-g1/model-00001-of-00002.safetensors")
      .back() ^= 1;
  EXPECT_TRUE(InspectStore(test_.world, "/store", InspectDepth::kManifests)
                  ->checkpoints.front()
                  .verdict.ok());
  const auto store =
      InspectStore(test_.world, "/store", InspectDepth::kEveryByte);
  EXPECT_THAT(store->checkpoints.front().verdict.message(),
              HasSubstr("model-00001"));
  EXPECT_TRUE(store->checkpoints.back().verdict.ok());
}

TEST_F(InspectTest, ManifestsShowFilesOfAnotherSize) {
  storage_.Bytes("/store/step-000000002-g1/model-00001-of-00002.safetensors")
      .resize(10);
  const auto store =
      InspectStore(test_.world, "/store", InspectDepth::kManifests);
  EXPECT_THAT(store->checkpoints.back().verdict.message(),
              AllOf(HasSubstr("model-00001-of-00002.safetensors: expected "),
                    HasSubstr(" bytes, found 10")));
  EXPECT_FALSE(store->checkpoints.back().verified);
  EXPECT_FALSE(store->checkpoints.back().next);
  EXPECT_TRUE(store->checkpoints.front().verdict.ok());
  EXPECT_TRUE(store->checkpoints.front().next);
  ASSERT_TRUE(
      storage_
          .Remove("/store/step-000000001-g1/model-00001-of-00002.safetensors",
                  FileKind::kFile)
          .ok());
  EXPECT_THAT(InspectStore(test_.world, "/store", InspectDepth::kManifests)
                  ->checkpoints.front()
                  .verdict.message(),
              HasSubstr("model-00001-of-00002.safetensors: missing"));
}

// Compares the inspection's prediction with the next start.
TEST_F(InspectTest, PredictsTheClaim_OfAnEditedStateFile) {
  const std::string damaged = "/store/step-000000001-g1/MANIFEST.json";
  const struct {
    std::string state_file;
    bool damage_step_1;
    Code start;
    std::string next;
  } kCases[] = {
      {"latest: step-000000001-g1\n", false, Code::kOk, "step-000000001-g1"},
      {"latest: step-000000001-g1\n", true, Code::kFailedPrecondition, ""},
      {"latest: step-000000009-g1\n", false, Code::kInvalidArgument, ""},
      {"", false, Code::kOk, "step-000000002-g1"},
  };
  const auto before = storage_.Contents();
  for (const auto& one : kCases) {
    storage_.SetContents(before);
    storage_.Bytes("/store/checkpoint") = one.state_file;
    if (one.damage_step_1) storage_.Bytes(damaged).clear();
    const auto store =
        InspectStore(test_.world, "/store", InspectDepth::kEveryByte);
    EXPECT_EQ(store->start.code(), one.start) << one.state_file;
    EXPECT_EQ(store->state_file.empty(), !one.state_file.empty());
    const Result<std::string> next =
        FindResumeCheckpoint(test_.world, "/store");
    EXPECT_EQ(next.ok() ? *next : "", one.next);
    for (const CheckpointReport& report : store->checkpoints) {
      EXPECT_EQ(report.next, report.name == one.next) << report.name;
    }
    const Recovered then = Recover(test_.world);
    EXPECT_EQ(then.status.code(), one.start);
    EXPECT_EQ(then.status.message(), store->start.message());
    EXPECT_EQ(then.step ? fmt::format("step-{:09}-g1", *then.step) : "",
              one.next);
  }
}

TEST_F(InspectTest, NamesTheFirstDifferenceOfEachTensor) {
  const auto differences = CompareCheckpoints(
      test_.world, "/store/step-000000001-g1", "/store/step-000000002-g1");
  ASSERT_TRUE(differences.ok()) << differences.status().ToString();
  ASSERT_EQ(differences->size(), 3u);
  const TensorDifference& kernel = (*differences)[1];
  EXPECT_EQ(kernel.name, "dense0/kernel");
  EXPECT_EQ(kernel.first_element, 0u);
  EXPECT_EQ(kernel.first_hex, "3f800000");
  EXPECT_EQ(kernel.second_hex, "40000000");
  EXPECT_EQ(kernel.ulps, 0x800000u);
  EXPECT_EQ(kernel.differing, 2u);
  EXPECT_EQ(kernel.elements, 4u);
}

TEST(UlpDistanceTest, CountsFloatsBetween) {
  EXPECT_EQ(UlpDistance(0x3f800000, 0x3f800001), 1u);
  EXPECT_EQ(UlpDistance(0x00000000, 0x80000000), 1u);
  EXPECT_EQ(UlpDistance(0x80000001, 0x00000001), 3u);
  EXPECT_EQ(UlpDistance(0x7fc00000, 0x3f800000), std::nullopt);
}

TEST(CompareElementsTest, ListsTheFirstDifferences) {
  const float first[] = {1, 2, 3, 4};
  const float second[] = {1, 2.5, 3, 5};
  const auto view = [](const float(&values)[4]) {
    return TensorView{.shape = {4}, .bytes = std::as_bytes(std::span(values))};
  };
  const auto all = CompareElements(view(first), view(second), 9);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].element, 1u);
  EXPECT_EQ(all[0].first_bits, 0x40000000u);
  EXPECT_EQ(all[0].ulps, uint64_t{1} << 21);
  EXPECT_EQ(all[1].element, 3u);
  EXPECT_EQ(CompareElements(view(first), view(second), 1).size(), 1u);
}

TEST(CompareTensorsTest, NamesMissingTensorsAndDifferentShapes) {
  const TestState first(1);
  TestState second = first;
  second.tensors.erase("dense0/bias");
  second.tensors["rng/key"].shape = {3, 1};
  second.tensors["new"] = second.tensors["rng/key"];
  const auto differences = CompareTensors(first.Views(), second.Views());
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].kind, "only in the first");
  EXPECT_EQ(differences[1].kind, "only in the second");
  EXPECT_EQ(differences[2].kind, "U32 [3] against U32 [3, 1]");
}

}  // namespace
}  // namespace gauntlet
