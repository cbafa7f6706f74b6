#include "engine/ckpt/inspect.h"

#include <algorithm>
#include <tuple>

#include "engine/ckpt/checkpoint_reader.h"
#include "engine/ckpt/store_scan.h"

namespace gauntlet {
namespace {

void FillFromManifest(World& world, const Manifest& manifest,
                      CheckpointReport& report) {
  report.epoch = manifest.head.epoch;
  report.phase = manifest.head.phase;
  report.written_by = manifest.generation;
  report.state_digest = manifest.head.state_digest;
  report.age_seconds = world.clock.UnixSeconds() - manifest.written_at;
  for (const ShardFile& file : manifest.files) report.bytes += file.bytes;
}

CheckpointReport Report(const std::string& name, const CheckpointName& parsed) {
  return {.name = name,
          .verdict = {},
          .step = parsed.step,
          .generation = parsed.generation,
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

// The checkpoint that a claim would choose: the one that a person asked for, or
// the newest of the lineage that is good. `reports` are those of scan's, first.
void MarkNext(const StoreScan& scan, std::vector<CheckpointReport>& reports) {
  for (size_t i = 0; i < scan.checkpoints.size(); ++i) {
    if (scan.state_file.edit != reports[i].name) continue;
    reports[i].next = reports[i].verdict.ok();
    return;
  }
  for (const size_t member : scan.lineage.members) {
    if (!reports[member].verdict.ok()) continue;
    reports[member].next = true;
    return;
  }
}

// With the checkpoint's path in front, once.
Status Named(const Status& status, const std::string& path) {
  return status.message().starts_with(path) ? status : Annotate(status, path);
}

}  // namespace

Result<std::vector<CheckpointReport>> InspectStore(World& world,
                                                   const std::string& directory,
                                                   InspectDepth depth) {
  ASSIGN_OR_RETURN(const StoreScan scan, ScanStore(world, directory));
  std::vector<CheckpointReport> reports;
  for (size_t i = 0; i < scan.checkpoints.size(); ++i) {
    const ScannedCheckpoint& checkpoint = scan.checkpoints[i];
    CheckpointReport report = Report(checkpoint.name, checkpoint.parsed);
    const auto& members = scan.lineage.members;
    if (std::ranges::find(members, i) == members.end()) {
      report.lineage = LineageState::kFenced;
    }
    report.verdict = checkpoint.status;
    if (checkpoint.manifest) {
      FillFromManifest(world, *checkpoint.manifest, report);
    }
    reports.push_back(std::move(report));
  }
  for (const ScannedEntry& entry : scan.entries) {
    if (entry.parsed.kind != EntryKind::kRejected) continue;
    CheckpointReport report = Report(entry.name, entry.parsed.checkpoint);
    report.lineage = LineageState::kRejected;
    const auto manifest = ReadManifest(world, directory + "/" + entry.name);
    report.verdict = manifest.status();
    if (manifest.ok()) FillFromManifest(world, *manifest, report);
    reports.push_back(std::move(report));
  }
  if (depth == InspectDepth::kEveryByte) {
    for (CheckpointReport& report : reports) {
      if (!report.verdict.ok()) continue;
      report.verdict = VerifyCheckpoint(world, directory + "/" + report.name);
    }
  }
  MarkNext(scan, reports);
  std::ranges::sort(reports, {}, [](const CheckpointReport& report) {
    return std::tie(report.step, report.name);
  });
  return reports;
}

Result<std::vector<TensorDifference>> CompareCheckpoints(
    World& world, const std::string& first, const std::string& second) {
  const auto a = ReadCheckpoint(world, first);
  if (!a.ok()) return Named(a.status(), first);
  const auto b = ReadCheckpoint(world, second);
  if (!b.ok()) return Named(b.status(), second);
  return CompareTensors(a->tensors, b->tensors);
}

}  // namespace gauntlet
