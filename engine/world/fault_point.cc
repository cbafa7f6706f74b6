#include "engine/world/fault_point.h"

#include <array>

#include "engine/enum_order.h"

namespace gauntlet {
namespace {

constexpr std::array kPoints = {
    PointInfo{.point = Point::kStepBegin,
              .name = "step.begin",
              .description = "before a training step",
              .part = RunPart::kTraining,
              .rate = HitRate::kEachStep},
    PointInfo{.point = Point::kStepEnd,
              .name = "step.end",
              .description = "after the optimizer's update",
              .part = RunPart::kTraining,
              .rate = HitRate::kEachStep},
    PointInfo{.point = Point::kEpochBegin,
              .name = "epoch.begin",
              .description = "before an epoch's first step",
              .part = RunPart::kTraining},
    PointInfo{
        .point = Point::kEpochEnd,
        .name = "epoch.end",
        .description = "after an epoch's last step, before its evaluation",
        .part = RunPart::kTraining},
    PointInfo{.point = Point::kEvalBegin,
              .name = "eval.begin",
              .description = "before an evaluation",
              .part = RunPart::kTraining},
    PointInfo{.point = Point::kDataNext,
              .name = "data.next",
              .description = "before a step's samples are read",
              .part = RunPart::kTraining,
              .rate = HitRate::kEachStep},
    PointInfo{.point = Point::kRendezvous,
              .name = "cluster.join",
              .description = "before a worker looks for the others",
              .part = RunPart::kRendezvous},
    PointInfo{.point = Point::kClaimCreate,
              .name = "cluster.claim.create",
              .description = "before the chief creates the generation's claim",
              .part = RunPart::kRendezvous,
              .reached_by = ReachedBy::kChief,
              .next = StorageOperation::kOpenToWrite,
              .is_critical_when_stale = true},
    PointInfo{.point = Point::kClaimRecord,
              .name = "cluster.claim.record",
              .description = "before the chief records the parent in its claim",
              .part = RunPart::kRendezvous,
              .reached_by = ReachedBy::kChief,
              .next = StorageOperation::kWrite,
              .is_critical_when_stale = true},
    PointInfo{.point = Point::kAllReduceBegin,
              .name = "comm.allreduce.begin",
              .description =
                  "before a worker's part of an all-reduce, or before the "
                  "last backward pass beside it",
              .part = RunPart::kExchange,
              .rate = HitRate::kEachStep},
    PointInfo{.point = Point::kAllReduceSend,
              .name = "comm.send",
              .description = "before a chunk of an all-reduce is sent",
              .part = RunPart::kExchange,
              .rate = HitRate::kEachStep,
              .needs = PointNeeds::kCompany},
    PointInfo{.point = Point::kAllReduceReceive,
              .name = "comm.receive",
              .description = "after a chunk of an all-reduce has come",
              .part = RunPart::kExchange,
              .rate = HitRate::kEachStep,
              .needs = PointNeeds::kCompany},
    PointInfo{.point = Point::kAllReduceEnd,
              .name = "comm.allreduce.end",
              .description = "after an all-reduce, before its result is used",
              .part = RunPart::kExchange,
              .rate = HitRate::kEachStep},
    PointInfo{.point = Point::kHeartbeat,
              .name = "ctl.heartbeat",
              .description = "before a heartbeat is sent",
              .part = RunPart::kHeartbeat,
              .rate = HitRate::kEachStep,
              .needs = PointNeeds::kCompany},
    PointInfo{.point = Point::kSaveBegin,
              .name = "ckpt.begin",
              .description = "before anything of a save",
              .part = RunPart::kSave,
              .rate = HitRate::kOncePerSave},
    PointInfo{
        .point = Point::kCopy,
        .name = "ckpt.copy",
        .description =
            "before a worker copies what it will write while training goes "
            "on",
        .part = RunPart::kSave,
        .rate = HitRate::kOncePerSave,
        .needs = PointNeeds::kAsyncSaves},
    PointInfo{.point = Point::kShardOpen,
              .name = "ckpt.shard.open",
              .description = "before a shard file is created",
              .part = RunPart::kSave,
              .rate = HitRate::kOncePerSave,
              .next = StorageOperation::kOpenToWrite},
    PointInfo{.point = Point::kShardWrite,
              .name = "ckpt.shard.write",
              .description = "before each block of a shard file",
              .part = RunPart::kSave,
              .rate = HitRate::kEachBlock,
              .next = StorageOperation::kWrite},
    PointInfo{.point = Point::kShardSync,
              .name = "ckpt.shard.fsync",
              .description = "before a shard file is synced",
              .part = RunPart::kSave,
              .rate = HitRate::kOncePerSave,
              .next = StorageOperation::kSync},
    PointInfo{.point = Point::kShardDone,
              .name = "ckpt.shard.done",
              .description = "after a shard file is written and synced",
              .part = RunPart::kSave,
              .rate = HitRate::kOncePerSave},
    PointInfo{
        .point = Point::kSaveAgree,
        .name = "ckpt.compare_digests",
        .description = "before the workers report the parts that they wrote",
        .part = RunPart::kSave,
        .rate = HitRate::kOncePerSave},
    PointInfo{.point = Point::kIndexWrite,
              .name = "ckpt.index.write",
              .description = "before each block of the shard index",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kEachBlock,
              .next = StorageOperation::kWrite},
    PointInfo{.point = Point::kManifestWrite,
              .name = "ckpt.manifest.write",
              .description = "before each block of the manifest",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kEachBlock,
              .next = StorageOperation::kWrite},
    PointInfo{.point = Point::kManifestSync,
              .name = "ckpt.manifest.fsync",
              .description = "before the manifest is synced",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kOncePerSave,
              .next = StorageOperation::kSync},
    PointInfo{.point = Point::kTmpDirSync,
              .name = "ckpt.dirsync",
              .description = "before the directory of a save is synced",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kOncePerSave,
              .next = StorageOperation::kSyncDirectory,
              .is_critical_when_stale = true},
    PointInfo{.point = Point::kRename,
              .name = "ckpt.rename",
              .description = "before the rename that commits",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kOncePerSave,
              .next = StorageOperation::kRename,
              .is_critical_when_stale = true},
    PointInfo{.point = Point::kRenamed,
              .name = "ckpt.renamed",
              .description = "after the rename that commits",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kOncePerSave,
              .is_critical_when_stale = true},
    PointInfo{.point = Point::kParentSync,
              .name = "ckpt.commit.fsync",
              .description =
                  "before the store's directory is synced after the rename",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kOncePerSave,
              .next = StorageOperation::kSyncDirectory},
    PointInfo{.point = Point::kSaveAcknowledged,
              .name = "ckpt.committed",
              .description = "after a save is acknowledged",
              .part = RunPart::kSave,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kOncePerSave},
    PointInfo{.point = Point::kStateWrite,
              .name = "ckpt.state.write",
              .description = "before each block of the state file",
              .part = RunPart::kStateFile,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kEachBlock,
              .next = StorageOperation::kWrite},
    PointInfo{.point = Point::kStateSync,
              .name = "ckpt.state.fsync",
              .description = "before the state file is synced",
              .part = RunPart::kStateFile,
              .reached_by = ReachedBy::kChief,
              .next = StorageOperation::kSync},
    PointInfo{.point = Point::kStateRename,
              .name = "ckpt.state.rename",
              .description = "before the state file takes its name",
              .part = RunPart::kStateFile,
              .reached_by = ReachedBy::kChief,
              .next = StorageOperation::kRename,
              .is_critical_when_stale = true},
    PointInfo{.point = Point::kRetireRename,
              .name = "ckpt.retire.rename",
              .description = "before an old checkpoint is renamed for deletion",
              .part = RunPart::kRetirement,
              .reached_by = ReachedBy::kChief,
              .next = StorageOperation::kRename,
              .is_critical_when_stale = true},
    PointInfo{
        .point = Point::kRetireRenamed,
        .name = "ckpt.retire.renamed",
        .description =
            "after that rename, before the remover looks for newer claims",
        .part = RunPart::kRetirement,
        .reached_by = ReachedBy::kChief,
        .is_critical_when_stale = true},
    PointInfo{.point = Point::kRetireRemove,
              .name = "ckpt.retire.remove",
              .description = "before each removal of an old checkpoint's files",
              .part = RunPart::kRetirement,
              .reached_by = ReachedBy::kChief,
              .next = StorageOperation::kRemove},
    PointInfo{.point = Point::kSaveEnd,
              .name = "ckpt.end",
              .description = "after everything of a save",
              .part = RunPart::kSave,
              .rate = HitRate::kOncePerSave},
    PointInfo{.point = Point::kLoadBegin,
              .name = "ckpt.load",
              .description =
                  "before a checkpoint is loaded; the chief has read its files "
                  "by then",
              .part = RunPart::kLoad},
    PointInfo{.point = Point::kLoadRead,
              .name = "ckpt.load.read",
              .description = "before each file of a load is read",
              .part = RunPart::kLoad,
              .rate = HitRate::kEachFile,
              .next = StorageOperation::kRead},
    PointInfo{.point = Point::kLoadEnd,
              .name = "ckpt.load.done",
              .description = "after a checkpoint is loaded",
              .part = RunPart::kLoad},
    PointInfo{.point = Point::kReject,
              .name = "ckpt.reject",
              .description =
                  "before a checkpoint that failed verification is set aside",
              .part = RunPart::kLoad,
              .reached_by = ReachedBy::kChief,
              .next = StorageOperation::kRename},
    PointInfo{.point = Point::kBackupDelete,
              .name = "ckpt.backup.delete",
              .description = "before the backup of a finished run is deleted",
              .part = RunPart::kDeletion,
              .reached_by = ReachedBy::kChief,
              .needs = PointNeeds::kDeletion},
    PointInfo{.point = Point::kFinish,
              .name = "run.finish",
              .description =
                  "after training, before the worker reports that it is done",
              .part = RunPart::kFinish},
    PointInfo{.point = Point::kExportWrite,
              .name = "export.write",
              .description = "before each block of an exported model's files",
              .part = RunPart::kFinish,
              .reached_by = ReachedBy::kChief,
              .rate = HitRate::kEachBlock,
              .needs = PointNeeds::kExport,
              .next = StorageOperation::kWrite},
    PointInfo{.point = Point::kExportRename,
              .name = "export.rename",
              .description =
                  "before an exported model, written whole, takes its place",
              .part = RunPart::kFinish,
              .reached_by = ReachedBy::kChief,
              .needs = PointNeeds::kExport,
              .next = StorageOperation::kRename},
    PointInfo{.point = Point::kAcknowledge,
              .name = "run.acknowledge",
              .description =
                  "after the chief has sent its result, before the launcher "
                  "acknowledges it and before checkpoints are deleted",
              .part = RunPart::kDeletion,
              .reached_by = ReachedBy::kChief,
              .needs = PointNeeds::kDeletion},
    PointInfo{
        .point = Point::kRejoin,
        .name = "cluster.rejoin",
        .description =
            "after a worker has left a broken generation, before the next "
            "rendezvous",
        .part = RunPart::kRejoin,
        .needs = PointNeeds::kRejoin},
    PointInfo{
        .point = Point::kStateSend,
        .name = "cluster.state.send",
        .description =
            "before a worker that holds the state sends it to the next rank",
        .part = RunPart::kRejoin,
        .needs = PointNeeds::kRejoin},
    PointInfo{
        .point = Point::kStateReceive,
        .name = "cluster.state.receive",
        .description = "before a worker takes the state that was sent to it",
        .part = RunPart::kRejoin,
        .needs = PointNeeds::kRejoin},
    PointInfo{
        .point = Point::kDeviceOpen,
        .name = "device.open",
        .description = "before a worker opens the device that it computes on",
        .part = RunPart::kStart,
        .needs = PointNeeds::kDevice},
};

static_assert(IsInEnumOrder(kPoints, &PointInfo::point));

constexpr std::array kPlantedBugs = {
    PlantedBugInfo{PlantedBug::kLoseRngKey, "lose-rng-key",
                   "a restore does not bring back the RNG key", "do: crash",
                   "a worker resumes from a checkpoint", "trajectory"},
    PlantedBugInfo{
        PlantedBug::kLosePosition, "lose-position",
        "after a load, training starts the epoch's data from the beginning",
        "every: {steps: 5}, do: crash",
        "a worker resumes from a checkpoint of a step within an epoch",
        "samples"},
    PlantedBugInfo{PlantedBug::kTrustManifestBlindly, "trust-manifest-blindly",
                   "a load does not verify files against their digests; it "
                   "still notices missing files and headers that do not fit",
                   "do: bit_flip, do: crash",
                   "a worker loads a checkpoint that a fault has damaged",
                   "store"},
    PlantedBugInfo{
        PlantedBug::kLoseMetrics, "lose-metrics",
        "after a load, the epoch's metrics start from zero",
        "every: {steps: 5}, do: crash",
        "a worker resumes from a checkpoint of a step within an epoch",
        "epochs"},
    PlantedBugInfo{
        PlantedBug::kSkipManifestSync, "skip-manifest-fsync",
        "a save does not sync its manifest", "simulation only, do: power_loss",
        "the machine loses power after a save was acknowledged", "store"},
    PlantedBugInfo{PlantedBug::kAcknowledgeBeforeRename,
                   "acknowledge-before-rename",
                   "a save is acknowledged before it is committed",
                   "point: ckpt.rename, do: crash",
                   "the chief ends just before the rename that commits a save",
                   "resume-point"},
    PlantedBugInfo{PlantedBug::kForgetAtRejoin, "forget-at-rejoin",
                   "the surviving workers drop their state before they rejoin",
                   "policy: rejoin, do: crash",
                   "a worker is lost in training and the others rejoin it",
                   "bounded-loss"},
    PlantedBugInfo{
        PlantedBug::kDieInAStep, "die-in-a-step",
        "a worker exits in a step of the first generation without reporting "
        "a reason",
        "workers: 4, without a fault",
        "the first generation has two or more workers and trains step 7",
        "no-spontaneous-exit"},
    PlantedBugInfo{PlantedBug::kWriteLiveState, "write-live-state",
                   "an asynchronous save writes the parameters while training "
                   "changes them, instead of a copy",
                   "mode: async, point: ckpt.shard.open, do: slow, do: crash",
                   "training continues for some steps while an asynchronous "
                   "save is written",
                   "store"},
    PlantedBugInfo{
        PlantedBug::kTrustAFailedDevice, "trust-a-failed-device",
        "errors of a device are not checked, so the output of a failed device "
        "is used",
        "device: emulated, do: gpu_error",
        "the device of a worker fails in training", "trajectory"},
    PlantedBugInfo{PlantedBug::kRemoveWhileFenced, "remove-while-fenced",
                   "a worker removes checkpoints without checking for newer "
                   "claims",
                   "simulation only, topology: one_host_per_worker, do: "
                   "partition, do: hang, do: bit_flip, do: crash",
                   "a chief that was cut off removes checkpoints after another "
                   "worker has claimed a newer generation",
                   "store"},
};

}  // namespace

std::span<const PointInfo> AllPoints() { return kPoints; }

const PointInfo& InfoOf(Point point) {
  return kPoints[static_cast<size_t>(point)];
}

std::string_view PointName(Point point) { return InfoOf(point).name; }

std::optional<Point> FindPoint(std::string_view name) {
  for (const PointInfo& info : kPoints) {
    if (info.name == name) return info.point;
  }
  return std::nullopt;
}

bool IsOfSave(Point point) {
  const RunPart part = InfoOf(point).part;
  return part == RunPart::kSave || part == RunPart::kStateFile ||
         part == RunPart::kRetirement;
}

bool IsTailOfSave(Point point) {
  const RunPart part = InfoOf(point).part;
  return part == RunPart::kStateFile || part == RunPart::kRetirement ||
         point == Point::kSaveEnd;
}

std::span<const PlantedBugInfo> AllPlantedBugs() { return kPlantedBugs; }

const PlantedBugInfo& InfoOf(PlantedBug bug) {
  return kPlantedBugs[static_cast<size_t>(bug)];
}

std::optional<PlantedBug> FindPlantedBug(std::string_view name) {
  for (const PlantedBugInfo& info : kPlantedBugs) {
    if (info.name == name) return info.bug;
  }
  return std::nullopt;
}

}  // namespace gauntlet
