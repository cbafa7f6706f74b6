#include "engine/ckpt/inspect.h"

#include <algorithm>
#include <tuple>

#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/ckpt/protocol/parent_choice.h"
#include "engine/ckpt/protocol/store_scan.h"

namespace gauntlet {
namespace {

void FillFromManifest(World& world, const Manifest& manifest,
                      CheckpointReport& report) {
  report.epoch = manifest.head.epoch;
  report.phase = manifest.head.phase;
  report.written_by = manifest.generation;
  report.state_digest = manifest.head.state_digest;
  report.not_finite_since = manifest.head.not_finite_since;
  report.age_seconds = world.clock.UnixSeconds() - manifest.written_at;
  for (const ShardFile& file : manifest.files) report.bytes += file.bytes;
}

CheckpointReport ReportFromName(const std::string& name,
                                const CheckpointName& parsed) {
  return {.name = name,
          .verdict = {},
          .step = parsed.step,
          .written_by = parsed.generation,
          .phase = parsed.phase.value_or(Phase::kInEpoch),
          .state_digest = {}};
}

}  // namespace

std::string_view LineageStateName(LineageState state) {
  switch (state) {
    case LineageState::kCurrent:
      return "current";
    case LineageState::kFenced:
      return "fenced";
    case LineageState::kRejected:
      return "rejected";
  }
  return "unknown";
}

namespace {

// Marks the checkpoint that a claim would choose, by the same rules. The first
// elements of `report.checkpoints` are those of `scan.checkpoints`, in the same
// order; others may follow.
void MarkNext(World& world, const std::string& directory, const StoreScan& scan,
              StoreReport& report) {
  report.start = scan.obstacle;
  report.obstacle_name = scan.obstacle_name;
  if (report.start.ok()) report.start = CheckNextGeneration(scan, directory);
  if (!report.start.ok()) return;
  const auto choice =
      ChooseParent(world, {.directory = directory}, scan,
                   [&](size_t i) { return report.checkpoints[i].verdict; });
  report.start = choice.status();
  if (choice.ok() && choice->parent) {
    report.checkpoints[*choice->parent].next = true;
    report.missing = MissingNewer(scan, *choice);
  }
}

uint64_t ResumedBy(const StoreScan& scan, const ScannedCheckpoint& checkpoint) {
  uint64_t newest = 0;
  for (const auto& [generation, parent] : scan.parents) {
    if (parent && parent->name == checkpoint.name) newest = generation;
  }
  return newest;
}

// Prefixes the message with the checkpoint's path, unless the message already
// begins with the path.
Status WithPath(const Status& status, const std::string& path) {
  return status.message().starts_with(path) ? status : Annotate(status, path);
}

}  // namespace

Result<StoreReport> InspectStore(World& world, const std::string& directory,
                                 InspectDepth depth) {
  ASSIGN_OR_RETURN(const StoreScan scan,
                   ScanStoreWithObstacle(world, directory));
  StoreReport store;
  store.state_file = IgnoredStateFile(scan);
  std::vector<CheckpointReport>& reports = store.checkpoints;
  const auto fill = [&](const Manifest& manifest, CheckpointReport& report) {
    FillFromManifest(world, manifest, report);
    // Reading every byte checks the sizes too.
    if (depth == InspectDepth::kEveryByte || !report.verdict.ok()) return;
    report.verdict =
        CheckFileSizes(world, directory + "/" + report.name, manifest);
  };
  for (size_t i = 0; i < scan.checkpoints.size(); ++i) {
    const ScannedCheckpoint& checkpoint = scan.checkpoints[i];
    CheckpointReport report =
        ReportFromName(checkpoint.name, checkpoint.parsed);
    report.resumed_by = ResumedBy(scan, checkpoint);
    const auto& members = scan.lineage.members;
    if (std::ranges::find(members, i) == members.end()) {
      report.lineage = LineageState::kFenced;
    }
    report.verdict = checkpoint.status;
    if (checkpoint.manifest) fill(*checkpoint.manifest, report);
    reports.push_back(std::move(report));
  }
  for (const ScannedEntry& entry : scan.entries) {
    if (entry.parsed.kind != EntryKind::kRejected) continue;
    CheckpointReport report =
        ReportFromName(entry.name, entry.parsed.checkpoint);
    report.lineage = LineageState::kRejected;
    const auto manifest = ReadManifest(world, directory + "/" + entry.name);
    report.verdict = manifest.status();
    if (manifest.ok()) fill(*manifest, report);
    reports.push_back(std::move(report));
  }
  if (depth == InspectDepth::kEveryByte) {
    for (CheckpointReport& report : reports) {
      if (!report.verdict.ok()) continue;
      report.verified = true;
      report.verdict = VerifyCheckpoint(world, directory + "/" + report.name);
    }
  }
  MarkNext(world, directory, scan, store);
  std::ranges::sort(reports, {}, [](const CheckpointReport& report) {
    // A state in another phase than kInEpoch is at the end of an epoch. It
    // comes before the state of the same step in kInEpoch, which is within the
    // next epoch.
    return std::tuple(report.step, report.phase == Phase::kInEpoch,
                      report.phase, report.name);
  });
  return store;
}

Result<std::string> FindResumeCheckpoint(World& world,
                                         const std::string& directory) {
  ASSIGN_OR_RETURN(const StoreScan scan, ScanStore(world, directory));
  const auto verify = [&](size_t i) {
    const ScannedCheckpoint& checkpoint = scan.checkpoints[i];
    if (!checkpoint.manifest) return checkpoint.status;
    return VerifyCheckpoint(world, directory + "/" + checkpoint.name);
  };
  ASSIGN_OR_RETURN(const ParentChoice choice,
                   ChooseParent(world, {.directory = directory}, scan, verify));
  if (choice.parent) return scan.checkpoints[*choice.parent].name;
  return NotFound(directory + ": no checkpoint that a run would resume from");
}

Result<std::vector<TensorDifference>> CompareCheckpoints(
    World& world, const std::string& first, const std::string& second) {
  const auto a = ReadCheckpoint(world, first);
  if (!a.ok()) return WithPath(a.status(), first);
  const auto b = ReadCheckpoint(world, second);
  if (!b.ok()) return WithPath(b.status(), second);
  return CompareTensors(a->tensors, b->tensors);
}

}  // namespace gauntlet
