// Stores that older builds wrote, used by the current one. A run resumes and
// ends with the bits that it would have had, or is refused with a message that
// names the version found. The stores are in tests/fixtures/stores.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/manifest.h"
#include "engine/ckpt/format/manifest_format.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/numerics.h"
#include "tests/engine/train/training_fixture.h"
#include "tests/engine/upgrade/store_bundle.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path kStores = GAUNTLET_STORE_FIXTURES;

struct KeptStore {
  std::string name;
  StoreBundle bundle;
};

std::vector<KeptStore> KeptStores() {
  std::vector<KeptStore> kept;
  for (const auto& file : fs::directory_iterator(kStores)) {
    if (file.path().extension() != ".txt") continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    Result<StoreBundle> bundle = BundleFromText(text);
    CHECK(bundle.ok(), file.path().string() + bundle.status().ToString());
    kept.push_back({file.path().stem(), std::move(bundle).value()});
  }
  std::ranges::sort(kept, {}, &KeptStore::name);
  return kept;
}

bool IsManifest(const std::string& path) {
  return path.ends_with(kManifestName);
}

// Versions in the newest manifest, read with as little knowledge of formats as
// possible: every build must be able to read this much.
struct Versions {
  std::string schema;
  uint64_t numerics = 0;
  bool present() const {
    return schema == kManifestSchema && numerics == numerics::kVersion;
  }
};

std::string FieldOf(const std::string& text, const std::string& key) {
  const size_t at = text.find("\"" + key + "\":");
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size() + 3;
  return text.substr(begin, text.find(",\n", begin) - begin);
}

Versions VersionsOf(const StoreBundle& bundle) {
  Versions versions;
  for (const auto& [path, bytes] : bundle.files) {
    if (!IsManifest(path)) continue;
    std::string schema = FieldOf(bytes, "schema");
    std::erase(schema, '"');
    versions = {.schema = schema,
                .numerics = std::stoull(FieldOf(bytes, "numerics"))};
  }
  return versions;
}

TrainOptions OptionsFor(const StoreBundle& bundle) {
  TrainOptions options = SmallRun();
  options.horizon.epochs = bundle.epochs;
  return options;
}

AttemptResult Resume(const StoreBundle& bundle, int workers) {
  TrainingFixture fixture;
  const Status unpacked =
      UnpackDirectory(fixture.disk(), "/ckpt", bundle.files);
  CHECK(unpacked.ok(), unpacked.ToString());
  return fixture.Run(workers, OptionsFor(bundle));
}

TEST(UpgradeTest, StoreOfThePresentVersionResumesToTheSameBits) {
  for (const KeptStore& kept : KeptStores()) {
    if (!VersionsOf(kept.bundle).present()) continue;
    SCOPED_TRACE(kept.name);
    for (const int workers : {1, 2, 3}) {
      const AttemptResult outcome = Resume(kept.bundle, workers);
      ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone))
          << outcome.reasons[0];
      EXPECT_TRUE(outcome.result->resumed_from);
      EXPECT_EQ(outcome.result->digest, kept.bundle.final_digest);
    }
  }
}

// Generation 1 wrote step 3. Generation 2 renamed it when it resumed from it.
TEST(UpgradeTest,
     CheckpointThatAnEarlierVersionRenamed_IsResumedUnderThatName) {
  const std::string renamed = "step-000000003-g2";
  for (KeptStore& kept : KeptStores()) {
    if (!VersionsOf(kept.bundle).present()) continue;
    SCOPED_TRACE(kept.name);
    for (auto& [path, bytes] : kept.bundle.files) {
      if (IsManifest(path) && !path.starts_with(renamed)) bytes.pop_back();
    }
    TrainingFixture fixture;
    ASSERT_TRUE(
        UnpackDirectory(fixture.disk(), "/ckpt", kept.bundle.files).ok());
    TrainOptions options = OptionsFor(kept.bundle);
    options.checkpoint.keep = 99;
    const AttemptResult outcome = fixture.Run(2, options);
    ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
    EXPECT_EQ(outcome.result->resumed_from, 3u);
    EXPECT_EQ(outcome.result->digest, kept.bundle.final_digest);
    EXPECT_TRUE(fixture.disk().List("/ckpt/" + renamed).ok());
  }
}

TEST(UpgradeTest, StoreOfAnotherVersionIsRefusedByName) {
  for (const KeptStore& kept : KeptStores()) {
    const Versions versions = VersionsOf(kept.bundle);
    if (versions.present()) continue;
    SCOPED_TRACE(kept.name);
    const AttemptResult outcome = Resume(kept.bundle, 2);
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kNoCheckpoint));
    const std::string expected =
        versions.schema != kManifestSchema
            ? fmt::format("schema: expected \"{}\", found \"{}\"",
                          kManifestSchema, versions.schema)
            : fmt::format("numerics version {} in the checkpoint, {} now",
                          versions.numerics, numerics::kVersion);
    EXPECT_THAT(outcome.reasons[0], HasSubstr(expected));
    EXPECT_THAT(outcome.Of(EventKind::kInitialized), IsEmpty());
    EXPECT_THAT(outcome.Of(EventKind::kRejected), IsEmpty());
  }
}

// A refusal removes nothing: the build that wrote the store can still resume.
TEST(UpgradeTest, RefusalLeavesTheCheckpointsAsTheyAre) {
  for (const KeptStore& kept : KeptStores()) {
    if (VersionsOf(kept.bundle).present()) continue;
    SCOPED_TRACE(kept.name);
    TrainingFixture fixture;
    ASSERT_TRUE(
        UnpackDirectory(fixture.disk(), "/ckpt", kept.bundle.files).ok());
    fixture.Run(2, OptionsFor(kept.bundle));
    const auto after = PackDirectory(fixture.disk(), "/ckpt").value();
    for (const auto& [path, bytes] : kept.bundle.files) {
      ASSERT_TRUE(after.contains(path)) << path;
      EXPECT_EQ(after.at(path), bytes) << path;
    }
  }
}

// Writes a store in two attempts, each with two workers. The second attempt
// stops at step `stop`.
StoreBundle WriteStore(uint64_t stop) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.checkpoint.keep = 2;
  options.checkpoint.trigger = {.unit = SaveUnit::kNone};
  options.horizon.stop_at_step = 3;
  fixture.Run(2, options);
  options.horizon.stop_at_step = stop;
  fixture.Run(2, options);
  return {.final_digest = UndisturbedDigest(options),
          .epochs = options.horizon.epochs,
          .files = PackDirectory(fixture.disk(), "/ckpt").value()};
}

// Changes every manifest and corrects its digest, so that it looks like one
// that another build wrote.
template <typename Change>
StoreBundle OfAnotherBuild(StoreBundle bundle, const Change& change) {
  for (auto& [path, bytes] : bundle.files) {
    if (!IsManifest(path)) continue;
    std::string body = bytes.substr(0, bytes.rfind("\"xxh3_128\":"));
    change(body);
    bytes = body + "\"xxh3_128\":\"" + DigestOf(body).ToString() + "\"}\n";
  }
  return bundle;
}

void Replace(std::string& text, const std::string& from,
             const std::string& to) {
  const size_t at = text.find(from);
  CHECK(at != std::string::npos, from);
  text.replace(at, from.size(), to);
}

// Returns the stores that a build must add when one of its versions is new.
std::vector<KeptStore> StoresOfThisBuild() {
  const std::string versions =
      fmt::format("checkpoint-v1-numerics-{}", numerics::kVersion);
  const StoreBundle mid_epoch = WriteStore(9);
  const std::string present =
      fmt::format("\"numerics\":{},", numerics::kVersion);
  return {
      {versions + "-mid-epoch", mid_epoch},
      {versions + "-evaluation-due", WriteStore(6)},
      {fmt::format("checkpoint-v1-numerics-{}-older", numerics::kVersion - 1),
       OfAnotherBuild(mid_epoch,
                      [&](std::string& body) {
                        Replace(body, present,
                                fmt::format("\"numerics\":{},",
                                            numerics::kVersion - 1));
                      })},
      {fmt::format("checkpoint-v9-numerics-{}-unknown", numerics::kVersion),
       OfAnotherBuild(mid_epoch, [&](std::string& body) {
         Replace(body, std::string(kManifestSchema), "gauntlet/checkpoint/v9");
       })}};
}

// If GAUNTLET_WRITE_FIXTURES is set, writes the missing stores first.
TEST(UpgradeTest, StoresOfThePresentVersionsAreKept) {
  std::set<std::string> kept;
  for (const KeptStore& store : KeptStores()) kept.insert(store.name);
  const bool writes = std::getenv("GAUNTLET_WRITE_FIXTURES") != nullptr;
  for (const KeptStore& store : StoresOfThisBuild()) {
    const fs::path path = kStores / (store.name + ".txt");
    if (writes && !kept.contains(store.name)) {
      std::ofstream(path, std::ios::binary) << BundleToText(store.bundle);
    }
    EXPECT_TRUE(fs::exists(path))
        << path << " is missing: GAUNTLET_WRITE_FIXTURES=1 upgrade_test";
  }
}

// The names promise a checkpoint in the middle of an epoch, and one whose
// evaluation is due.
TEST(UpgradeTest, KeptStores_AreAtThePositionsOfTheirNames) {
  std::set<std::string> phases;
  for (const KeptStore& kept : KeptStores()) {
    size_t claims = 0;
    for (const auto& [path, bytes] : kept.bundle.files) {
      if (IsManifest(path)) phases.insert(FieldOf(bytes, "phase"));
      if (ParseEntryName(path).kind == EntryKind::kClaim) ++claims;
    }
    EXPECT_EQ(claims, 2u) << kept.name;
  }
  EXPECT_THAT(phases,
              testing::IsSupersetOf({std::string("\"in_epoch\""),
                                     std::string("\"evaluation_due\"")}));
}

TEST(UpgradeTest, BundleRoundTrips) {
  const StoreBundle bundle = {
      .final_digest = "ab",
      .epochs = 3,
      .files = {{"d/", ""}, {"d/f", std::string(100, '\xfe')}, {"e", ""}}};
  const Result<StoreBundle> back = BundleFromText(BundleToText(bundle));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->files, bundle.files);
  EXPECT_EQ(back->final_digest, bundle.final_digest);
  EXPECT_FALSE(BundleFromText("file f\n  0g\n").ok());
}

}  // namespace
}  // namespace gauntlet
