#include "engine/world/fault_point.h"

#include <set>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAreArray;
using testing::UnorderedElementsAreArray;

template <typename Predicate>
std::vector<std::string_view> NamesWhere(Predicate predicate) {
  std::vector<std::string_view> names;
  for (const PointInfo& info : AllPoints()) {
    if (predicate(info)) names.push_back(info.name);
  }
  return names;
}

using Names = std::vector<std::string_view>;

template <typename Attribute>
struct Category {
  Attribute value;
  Names names;
};

// Expects each attribute value to have exactly the points listed; points in no
// list have the value `rest`.
template <typename Attribute>
void ExpectCategories(Attribute PointInfo::*attribute, Attribute rest,
                      const std::vector<Category<Attribute>>& categories) {
  std::set<std::string_view> listed;
  for (const Category<Attribute>& category : categories) {
    EXPECT_THAT(NamesWhere([&](const PointInfo& info) {
                  return info.*attribute == category.value;
                }),
                UnorderedElementsAreArray(category.names))
        << "value " << static_cast<int>(category.value);
    listed.insert(category.names.begin(), category.names.end());
  }
  for (const PointInfo& info : AllPoints()) {
    if (listed.contains(info.name)) continue;
    EXPECT_EQ(info.*attribute, rest) << info.name;
  }
}

TEST(FaultPointTest, FindsEachPointByItsName) {
  std::set<std::string_view> names;
  for (const PointInfo& info : AllPoints()) {
    EXPECT_EQ(FindPoint(info.name), info.point) << info.name;
    EXPECT_EQ(&InfoOf(info.point), &info);
    EXPECT_FALSE(info.description.empty()) << info.name;
    names.insert(info.name);
  }
  EXPECT_EQ(names.size(), AllPoints().size());
  EXPECT_FALSE(FindPoint("ckpt.renam"));
}

TEST(FaultPointTest, PartOfTheRun) {
  ExpectCategories<RunPart>(
      &PointInfo::part, RunPart::kSave,
      {{RunPart::kStart, {"device.open"}},
       {RunPart::kRendezvous,
        {"cluster.join", "cluster.claim.create", "cluster.claim.record"}},
       {RunPart::kTraining,
        {"step.begin", "step.end", "epoch.begin", "epoch.end", "eval.begin",
         "data.next"}},
       {RunPart::kExchange,
        {"comm.allreduce.begin", "comm.send", "comm.receive",
         "comm.allreduce.end"}},
       {RunPart::kHeartbeat, {"ctl.heartbeat"}},
       {RunPart::kStateFile,
        {"ckpt.state.write", "ckpt.state.fsync", "ckpt.state.rename"}},
       {RunPart::kRetirement,
        {"ckpt.retire.rename", "ckpt.retire.renamed", "ckpt.retire.remove"}},
       {RunPart::kLoad,
        {"ckpt.load", "ckpt.load.read", "ckpt.load.done", "ckpt.reject"}},
       {RunPart::kRejoin,
        {"cluster.rejoin", "cluster.state.send", "cluster.state.receive"}},
       {RunPart::kFinish, {"run.finish", "export.write", "export.rename"}},
       {RunPart::kDeletion, {"ckpt.backup.delete", "run.acknowledge"}}});
}

TEST(FaultPointTest, ReachedByTheChiefAlone) {
  ExpectCategories<ReachedBy>(
      &PointInfo::reached_by, ReachedBy::kEveryWorker,
      {{ReachedBy::kChief,
        {"cluster.claim.create", "cluster.claim.record", "ckpt.index.write",
         "ckpt.manifest.write",  "ckpt.manifest.fsync",  "ckpt.dirsync",
         "ckpt.rename",          "ckpt.renamed",         "ckpt.commit.fsync",
         "ckpt.committed",       "ckpt.state.write",     "ckpt.state.fsync",
         "ckpt.state.rename",    "ckpt.retire.rename",   "ckpt.retire.renamed",
         "ckpt.retire.remove",   "ckpt.reject",          "ckpt.backup.delete",
         "export.write",         "export.rename",        "run.acknowledge"}}});
}

TEST(FaultPointTest, HitRate) {
  ExpectCategories<HitRate>(
      &PointInfo::rate, HitRate::kSeldom,
      {{HitRate::kEachStep,
        {"step.begin", "step.end", "data.next", "comm.allreduce.begin",
         "comm.send", "comm.receive", "comm.allreduce.end", "ctl.heartbeat"}},
       {HitRate::kOncePerSave,
        {"ckpt.begin", "ckpt.copy", "ckpt.shard.open", "ckpt.shard.fsync",
         "ckpt.shard.done", "ckpt.compare_digests", "ckpt.manifest.fsync",
         "ckpt.dirsync", "ckpt.rename", "ckpt.renamed", "ckpt.commit.fsync",
         "ckpt.committed", "ckpt.end"}},
       {HitRate::kEachBlock,
        {"ckpt.shard.write", "ckpt.index.write", "ckpt.manifest.write",
         "ckpt.state.write", "export.write"}},
       {HitRate::kEachFile, {"ckpt.load.read"}}});
}

TEST(FaultPointTest, Needs) {
  ExpectCategories<PointNeeds>(
      &PointInfo::needs, PointNeeds::kNothing,
      {{PointNeeds::kCompany, {"comm.send", "comm.receive", "ctl.heartbeat"}},
       {PointNeeds::kRejoin,
        {"cluster.rejoin", "cluster.state.send", "cluster.state.receive"}},
       {PointNeeds::kAsyncSaves, {"ckpt.copy"}},
       {PointNeeds::kDevice, {"device.open"}},
       {PointNeeds::kDeletion, {"ckpt.backup.delete", "run.acknowledge"}},
       {PointNeeds::kExport, {"export.write", "export.rename"}}});
}

TEST(FaultPointTest, NextStorageOperation) {
  using Operation = StorageOperation;
  ExpectCategories<Operation>(
      &PointInfo::next, Operation::kNone,
      {{Operation::kRead, {"ckpt.load.read"}},
       {Operation::kOpenToWrite, {"cluster.claim.create", "ckpt.shard.open"}},
       {Operation::kWrite,
        {"cluster.claim.record", "ckpt.shard.write", "ckpt.index.write",
         "ckpt.manifest.write", "ckpt.state.write", "export.write"}},
       {Operation::kSync,
        {"ckpt.shard.fsync", "ckpt.manifest.fsync", "ckpt.state.fsync"}},
       {Operation::kSyncDirectory, {"ckpt.dirsync", "ckpt.commit.fsync"}},
       {Operation::kRename,
        {"ckpt.rename", "ckpt.state.rename", "ckpt.retire.rename",
         "ckpt.reject", "export.rename"}},
       {Operation::kRemove, {"ckpt.retire.remove"}}});
}

TEST(FaultPointTest, CriticalForAStaleChief) {
  EXPECT_THAT(NamesWhere([](const PointInfo& info) {
                return info.is_critical_when_stale;
              }),
              ElementsAreArray({"cluster.claim.create", "cluster.claim.record",
                                "ckpt.dirsync", "ckpt.rename", "ckpt.renamed",
                                "ckpt.state.rename", "ckpt.retire.rename",
                                "ckpt.retire.renamed"}));
}

TEST(FaultPointTest, PointsOfASaveIncludeStateFileAndRetirement) {
  for (const PointInfo& info : AllPoints()) {
    const bool of_save =
        info.name.starts_with("ckpt.") && !info.name.starts_with("ckpt.load") &&
        info.name != "ckpt.reject" && info.name != "ckpt.backup.delete";
    EXPECT_EQ(IsOfSave(info.point), of_save) << info.name;
  }
}

TEST(FaultPointTest, TailOfASaveIsStateFileRetirementAndEnd) {
  EXPECT_THAT(NamesWhere([](const PointInfo& info) {
                return IsTailOfSave(info.point);
              }),
              ElementsAreArray({"ckpt.state.write", "ckpt.state.fsync",
                                "ckpt.state.rename", "ckpt.retire.rename",
                                "ckpt.retire.renamed", "ckpt.retire.remove",
                                "ckpt.end"}));
}

}  // namespace
}  // namespace gauntlet
