// Changes of a scenario whose checkpoints were damaged.
#include "harness/run/failure/remedy/store_remedy.h"

#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using K = RecordKind;

// Returns a run that keeps one checkpoint. Retention deleted that of step 5,
// and a fault damaged that of step 10.
Record DamagedRun() {
  Record record;
  record.setup.keep = 1;
  record.faults = {{.id = "cut", .kind = "truncate", .in_save = true}};
  record.incarnations = {
      {.number = 1,
       .events = {{.kind = K::kSaveAcknowledged,
                   .t_ns = 10,
                   .step = 5,
                   .path = "/ckpt/step-000000005-g1"},
                  {.kind = K::kFaultFired, .t_ns = 20, .detail = "cut"},
                  {.kind = K::kDamaged,
                   .t_ns = 20,
                   .path = "/ckpt/step-000000010-g1.tmp/MANIFEST.json",
                   .detail = "cut"},
                  {.kind = K::kSaveAcknowledged,
                   .t_ns = 30,
                   .step = 10,
                   .path = "/ckpt/step-000000010-g1"},
                  {.kind = K::kRetired,
                   .t_ns = 31,
                   .path = "/ckpt/step-000000005-g1"}}}};
  return record;
}

TEST(StoreRemedyTest, DeletedCheckpointThatIsIntact_IsToBeKept) {
  const Record record = DamagedRun();
  EXPECT_EQ(LoadableCheckpointRemedy(Outline(record)),
            "remove fault cut, or raise checkpoint.keep (1) to 2, so that the "
            "checkpoint of step 5, which is not damaged, is not deleted");
}

TEST(StoreRemedyTest, OnlyCheckpoint_IsNotToBeDamaged) {
  Record record = DamagedRun();
  record.incarnations[0].events.pop_back();
  record.incarnations[0].events.erase(record.incarnations[0].events.begin());
  EXPECT_EQ(LoadableCheckpointRemedy(Outline(record)), "remove fault cut");
}

TEST(StoreRemedyTest, FaultOfAllCheckpoints_IsToDamageFewer) {
  Record record = DamagedRun();
  record.incarnations[0].events.push_back(
      {.kind = K::kDamaged,
       .t_ns = 5,
       .path = "/ckpt/step-000000005-g1.tmp/MANIFEST.json",
       .detail = "cut"});
  EXPECT_EQ(LoadableCheckpointRemedy(Outline(record)),
            "remove fault cut, or let it damage fewer checkpoints, so that one "
            "can be loaded");
}

TEST(StoreRemedyTest, UndamagedStore_HasNoRemedy) {
  const Record record;
  EXPECT_EQ(LoadableCheckpointRemedy(Outline(record)), "");
}

}  // namespace
}  // namespace gauntlet
