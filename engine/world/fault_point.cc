#include "engine/world/fault_point.h"

#include <array>

namespace gauntlet {
namespace {

constexpr std::array kPoints = {
    PointInfo{Point::kStepBegin, "step.begin", "before a training step"},
    PointInfo{Point::kStepEnd, "step.end", "after the optimizer's update"},
    PointInfo{Point::kEpochBegin, "epoch.begin",
              "before an epoch's first step"},
    PointInfo{Point::kEpochEnd, "epoch.end",
              "after an epoch's last step, before its evaluation"},
    PointInfo{Point::kEvalBegin, "eval.begin", "before an evaluation"},
    PointInfo{Point::kDataNext, "data.next", "before a step's rows are read"},
    PointInfo{Point::kRendezvous, "cluster.join",
              "before a worker looks for the others"},
    PointInfo{Point::kClaimCreate, "cluster.claim.create",
              "before the chief creates the generation's claim"},
    PointInfo{Point::kClaimRecord, "cluster.claim.record",
              "before the chief records the parent in its claim"},
    PointInfo{Point::kAllReduceBegin, "comm.allreduce.begin",
              "before a worker's part of an all-reduce"},
    PointInfo{Point::kAllReduceSend, "comm.send",
              "before a chunk of an all-reduce is sent"},
    PointInfo{Point::kAllReduceReceive, "comm.receive",
              "after a chunk of an all-reduce has come"},
    PointInfo{Point::kAllReduceEnd, "comm.allreduce.end",
              "after an all-reduce, before its result is used"},
    PointInfo{Point::kHeartbeat, "ctl.heartbeat", "before a heartbeat is sent"},
    PointInfo{Point::kSaveBegin, "ckpt.begin", "before anything of a save"},
    PointInfo{Point::kCopy, "ckpt.copy",
              "before a worker copies what it will write while training goes "
              "on"},
    PointInfo{Point::kShardOpen, "ckpt.shard.open",
              "before a shard file is created"},
    PointInfo{Point::kShardWrite, "ckpt.shard.write",
              "before each block of a shard file"},
    PointInfo{Point::kShardSync, "ckpt.shard.fsync",
              "before a shard file is synced"},
    PointInfo{Point::kShardDone, "ckpt.shard.done",
              "after a shard file is written and synced"},
    PointInfo{Point::kSaveAgree, "ckpt.compare_digests",
              "before the workers compare their state digests"},
    PointInfo{Point::kIndexWrite, "ckpt.index.write",
              "before each block of the shard index"},
    PointInfo{Point::kManifestWrite, "ckpt.manifest.write",
              "before each block of the manifest"},
    PointInfo{Point::kManifestSync, "ckpt.manifest.fsync",
              "before the manifest is synced"},
    PointInfo{Point::kTmpDirSync, "ckpt.dirsync",
              "before the directory of a save is synced"},
    PointInfo{Point::kRename, "ckpt.rename", "before the rename that commits"},
    PointInfo{Point::kRenamed, "ckpt.renamed", "after the rename that commits"},
    PointInfo{Point::kParentSync, "ckpt.commit.fsync",
              "before the store's directory is synced after the rename"},
    PointInfo{Point::kSaveAcknowledged, "ckpt.committed",
              "after a save is acknowledged"},
    PointInfo{Point::kStateWrite, "ckpt.state.write",
              "before each block of the state file"},
    PointInfo{Point::kStateSync, "ckpt.state.fsync",
              "before the state file is synced"},
    PointInfo{Point::kStateRename, "ckpt.state.rename",
              "before the state file takes its name"},
    PointInfo{Point::kRetireRename, "ckpt.retire.rename",
              "before an old checkpoint is renamed for deletion"},
    PointInfo{Point::kRetireRenamed, "ckpt.retire.renamed",
              "after that rename, before the remover looks for newer claims"},
    PointInfo{Point::kRetireRemove, "ckpt.retire.remove",
              "before each removal of an old checkpoint's files"},
    PointInfo{Point::kSaveEnd, "ckpt.end", "after everything of a save"},
    PointInfo{Point::kLoadBegin, "ckpt.load", "before a checkpoint is loaded"},
    PointInfo{Point::kLoadRead, "ckpt.load.read",
              "before each file of a load is read"},
    PointInfo{Point::kLoadEnd, "ckpt.load.done",
              "after a checkpoint is loaded"},
    PointInfo{Point::kReject, "ckpt.reject",
              "before a checkpoint that failed verification is set aside"},
    PointInfo{Point::kBackupDelete, "ckpt.backup.delete",
              "before the backup of a finished run is deleted"},
    PointInfo{Point::kFinish, "run.finish",
              "after training, before the worker reports that it is done"},
    PointInfo{Point::kAcknowledge, "run.acknowledge",
              "after the chief has sent its result, before the launcher "
              "acknowledges it and before checkpoints are deleted"},
    PointInfo{Point::kRejoin, "cluster.rejoin",
              "after a worker has left a broken generation, before it meets "
              "the others again"},
    PointInfo{Point::kStateSend, "cluster.state.send",
              "before a worker sends its state to those that rejoin"},
    PointInfo{Point::kStateReceive, "cluster.state.receive",
              "before a worker takes the state that was sent to it"},
    PointInfo{Point::kDeviceOpen, "device.open",
              "before a worker opens the device that it computes on"},
};

constexpr std::array kPlantedBugs = {
    PlantedBugInfo{PlantedBug::kLoseRngKey, "lose-rng-key",
                   "a restore does not bring back the RNG key"},
    PlantedBugInfo{PlantedBug::kLosePosition, "lose-position",
                   "a restore starts the epoch's data anew"},
    PlantedBugInfo{PlantedBug::kTrustManifestBlindly, "trust-manifest-blindly",
                   "a load does not verify files against their digests"},
    PlantedBugInfo{PlantedBug::kLoseMetrics, "lose-metrics",
                   "a restore starts the epoch's metrics anew"},
    PlantedBugInfo{PlantedBug::kSkipManifestSync, "skip-manifest-fsync",
                   "a save does not sync its manifest"},
    PlantedBugInfo{PlantedBug::kAcknowledgeBeforeRename,
                   "acknowledge-before-rename",
                   "a save is acknowledged before it is committed"},
    PlantedBugInfo{PlantedBug::kForgetAtRejoin, "forget-at-rejoin",
                   "survivors of a loss give their state up as they rejoin"},
    PlantedBugInfo{PlantedBug::kDieInAStep, "die-in-a-step",
                   "a worker ends without a word in a step of the first "
                   "generation"},
    PlantedBugInfo{PlantedBug::kWriteLiveState, "write-live-state",
                   "a save that training does not wait for writes the live "
                   "parameters instead of a copy"},
    PlantedBugInfo{
        PlantedBug::kTrustAFailedDevice, "trust-a-failed-device",
        "nobody looks whether a device has failed: what it brings is "
        "taken for results"},
    PlantedBugInfo{PlantedBug::kRemoveWhileFenced, "remove-while-fenced",
                   "a worker removes checkpoints without looking for newer "
                   "claims"},
};

}  // namespace

std::span<const PointInfo> AllPoints() { return kPoints; }

std::string_view PointName(Point point) {
  return kPoints[static_cast<size_t>(point)].name;
}

std::optional<Point> FindPoint(std::string_view name) {
  for (const PointInfo& info : kPoints) {
    if (info.name == name) return info.point;
  }
  return std::nullopt;
}

std::span<const PlantedBugInfo> AllPlantedBugs() { return kPlantedBugs; }

std::optional<PlantedBug> FindPlantedBug(std::string_view name) {
  for (const PlantedBugInfo& info : kPlantedBugs) {
    if (info.name == name) return info.bug;
  }
  return std::nullopt;
}

}  // namespace gauntlet
