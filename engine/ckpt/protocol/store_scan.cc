#include "engine/ckpt/protocol/store_scan.h"

#include <algorithm>

#include "engine/ckpt/format/claim_format.h"
#include "engine/ckpt/format/state_file_format.h"
#include "engine/ckpt/io/checkpoint_reader.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// The attempts, with the pauses between them, last up to 33 s. A client of a
// file server may use a cached listing for up to 30 s (acdirmin of NFS, by
// default).
constexpr int kScanAttempts = 18;
constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr Duration kLongestPause = std::chrono::seconds(4);

// Returns true for errors that become part of a scan's result; all others end
// the scan.
bool IsDamage(const Status& status) {
  return status.code() == Code::kDataLoss ||
         status.code() == Code::kFailedPrecondition;
}

Status ScanClaim(World& world, const std::string& path, uint64_t generation,
                 StoreScan& scan) {
  const auto text = ReadWithRetry(world, path, kMaxClaimBytes);
  if (!text.ok()) return IsDamage(text.status()) ? OkStatus() : text.status();
  const auto claim = ParseClaim(*text);
  if (!claim.ok() || claim->generation != generation) return OkStatus();
  scan.latest_launch = std::max(scan.latest_launch, claim->launch);
  if (claim->state == ParentState::kRecorded) {
    scan.parents[generation] = claim->parent;
  } else if (claim->state == ParentState::kColdStart) {
    scan.parents[generation] = std::nullopt;
  }
  return OkStatus();
}

Status ScanCheckpoint(World& world, const std::string& path,
                      ScannedCheckpoint checkpoint, StoreScan& scan) {
  auto manifest = ReadManifest(world, path);
  if (!manifest.ok() && !IsDamage(manifest.status())) return manifest.status();
  if (!manifest.ok()) {
    checkpoint.status = manifest.status();
  } else if (manifest->head.step != checkpoint.parsed.step) {
    checkpoint.status = DataLoss(
        fmt::format("{}: of step {}, in the place of step {}", kManifestName,
                    manifest->head.step, checkpoint.parsed.step));
  } else {
    checkpoint.manifest = std::move(manifest).value();
  }
  scan.checkpoints.push_back(std::move(checkpoint));
  return OkStatus();
}

Status WrongKind(const std::string& path, std::string_view expected,
                 FileKind found) {
  const std::string_view advice =
      found == FileKind::kDirectoryLink && expected == "a directory"
          ? "put the directory itself here, or remove the link"
          : "remove it";
  return InvalidArgument(fmt::format("{}: expected {}, found {}; {}", path,
                                     expected, FileKindName(found), advice));
}

// Returns an error if the entry is an obstacle (StoreScan). A directory with a
// claim's name is not an obstacle: no generation uses the number in its name,
// and the directory is never changed.
Status CheckKind(const std::string& path, const DirectoryEntry& entry,
                 EntryKind kind) {
  const bool dangles = entry.kind == FileKind::kDanglingLink;
  const bool is_link = dangles || entry.kind == FileKind::kDirectoryLink;
  const bool is_no_state_file =
      entry.name == kStateFileName && entry.kind != FileKind::kFile;
  if (is_no_state_file || (kind == EntryKind::kClaim && dangles)) {
    return WrongKind(path, "a file", entry.kind);
  }
  if (kind == EntryKind::kCheckpoint && is_link) {
    return WrongKind(path, "a directory", entry.kind);
  }
  return OkStatus();
}

Status ScanEntry(World& world, const std::string& directory,
                 const DirectoryEntry& entry, StoreScan& scan) {
  const std::string path = directory + "/" + entry.name;
  const EntryName parsed = ParseEntryName(entry.name);
  if (scan.obstacle.ok()) {
    scan.obstacle = CheckKind(path, entry, parsed.kind);
    if (!scan.obstacle.ok()) scan.obstacle_name = entry.name;
  }
  if (entry.name == kStateFileName && entry.kind == FileKind::kFile) {
    const auto text = ReadWithRetry(world, path, kMaxStateFileBytes);
    if (text.ok()) {
      scan.state_file = ParseStateFile(*text);
      return OkStatus();
    }
    if (!IsDamage(text.status())) return text.status();
    // The file is larger than any that the engine writes or a disk fault
    // leaves, so it counts as edited by a person.
    scan.state_file.refusal = text.status().message();
    return OkStatus();
  }
  if (parsed.kind == EntryKind::kOther) return OkStatus();
  scan.entries.push_back(
      {.name = entry.name, .parsed = parsed, .kind = entry.kind});
  scan.highest_generation =
      std::max(scan.highest_generation, parsed.generation);
  if (parsed.kind == EntryKind::kClaim) {
    scan.highest_claim = std::max(scan.highest_claim, parsed.generation);
    if (entry.kind != FileKind::kFile) return OkStatus();
    return ScanClaim(world, path, parsed.generation, scan);
  }
  if (parsed.kind == EntryKind::kCheckpoint) {
    if (entry.kind != FileKind::kDirectory) return OkStatus();
    return ScanCheckpoint(world, path,
                          {.name = entry.name,
                           .parsed = parsed.checkpoint,
                           .status = {},
                           .manifest = {}},
                          scan);
  }
  return OkStatus();
}

// Adds the parents that manifests record. A generation records its parent
// before it writes a checkpoint, so a manifest repeats the claim of its
// generation.
void AddParentsOfManifests(StoreScan& scan) {
  for (const ScannedCheckpoint& checkpoint : scan.checkpoints) {
    if (!checkpoint.manifest) continue;
    const uint64_t generation = checkpoint.manifest->generation;
    scan.parents.try_emplace(generation, checkpoint.manifest->parent);
    scan.highest_generation = std::max(scan.highest_generation, generation);
  }
}

Result<StoreScan> ScanOnce(World& world, const std::string& directory,
                           const std::vector<DirectoryEntry>& listed) {
  StoreScan scan;
  scan.entries.reserve(listed.size());
  for (const DirectoryEntry& entry : listed) {
    RETURN_IF_ERROR(ScanEntry(world, directory, entry, scan));
  }
  const bool has_state_file =
      std::ranges::find(listed, kStateFileName, &DirectoryEntry::name) !=
      listed.end();
  if (!has_state_file && !scan.checkpoints.empty()) {
    scan.state_file.damage = kStateFileMissing;
  }
  AddParentsOfManifests(scan);
  std::vector<LineageEntry> entries;
  for (const ScannedCheckpoint& checkpoint : scan.checkpoints) {
    LineageEntry entry{.name = checkpoint.parsed,
                       .phase = checkpoint.GetPhase(),
                       .state_digest = {},
                       .written_by = checkpoint.WrittenBy()};
    if (checkpoint.manifest) {
      entry.state_digest = checkpoint.manifest->head.state_digest;
    }
    entries.push_back(entry);
  }
  scan.lineage = FindLineage(entries, scan.parents);
  return scan;
}

}  // namespace

uint64_t ScannedCheckpoint::WrittenBy() const {
  return manifest ? manifest->generation : parsed.generation;
}

Phase ScannedCheckpoint::GetPhase() const {
  if (manifest) return manifest->head.phase;
  return parsed.phase.value_or(Phase::kInEpoch);
}

Result<StoreScan> ScanStore(World& world, const std::string& directory) {
  Result<StoreScan> scan = ScanStoreWithObstacle(world, directory);
  if (scan.ok() && !scan->obstacle.ok()) return scan->obstacle;
  return scan;
}

Result<StoreScan> ScanStoreWithObstacle(World& world,
                                        const std::string& directory) {
  Status status;
  Duration pause = kFirstPause;
  for (int attempt = 0; attempt < kScanAttempts; ++attempt) {
    if (attempt > 1) {
      world.clock.SleepUntil(world.clock.Now() + pause);
      pause = std::min(2 * pause, kLongestPause);
    }
    ASSIGN_OR_RETURN(const auto listed, world.storage.List(directory));
    auto scan = ScanOnce(world, directory, listed);
    // kNotFound: an entry disappeared after the listing. Scans again.
    if (scan.ok() || scan.status().code() != Code::kNotFound) return scan;
    status = scan.status();
  }
  return Unavailable(fmt::format("{}: changes faster than it can be read: {}",
                                 directory, status.message()));
}

Result<uint64_t> HighestClaim(World& world, const std::string& directory) {
  ASSIGN_OR_RETURN(const auto listed, world.storage.List(directory));
  uint64_t highest = 0;
  for (const DirectoryEntry& entry : listed) {
    const auto generation = ParseClaimName(entry.name);
    highest = std::max(highest, generation.value_or(0));
  }
  return highest;
}

}  // namespace gauntlet
