// Contents of a checkpoint directory at one moment, read from names, claims and
// manifests. No tensor is read.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_SCAN_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_SCAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/format/manifest.h"
#include "engine/ckpt/format/state_file.h"
#include "engine/ckpt/protocol/lineage.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// A committed checkpoint directory.
struct ScannedCheckpoint {
  std::string name;
  CheckpointName parsed;
  Status status;  // Ok if `manifest` is set; else the reason
  // Set if the manifest can be read and its step is that of the name.
  std::optional<Manifest> manifest;

  uint64_t WrittenBy() const;
  Phase GetPhase() const;
};

struct ScannedEntry {
  std::string name;
  EntryName parsed;
  FileKind kind = FileKind::kFile;
};

// Value of StateFile::damage if there are checkpoints but no state file.
inline constexpr std::string_view kStateFileMissing = "missing";

struct StoreScan {
  std::vector<ScannedEntry> entries;  // all but EntryKind::kOther
  std::vector<ScannedCheckpoint> checkpoints;
  RecordedParents parents;     // from claims, else from manifests
  uint64_t highest_claim = 0;  // 0: none
  // Largest generation in any name or manifest. A new claim is above it.
  uint64_t highest_generation = 0;
  std::string latest_launch;  // largest in any claim; "": none
  // If there are checkpoints but no state file, its `damage` is
  // kStateFileMissing.
  StateFile state_file;
  Lineage lineage;  // of `checkpoints`
  // Error of a run that starts here; Ok if there is no obstacle.
  // kInvalidArgument names the first obstacle and the remedy. An obstacle is an
  // entry of a kind that no run creates. Examples: a directory in the place of
  // the state file, a dangling link in the place of a claim, a link in the
  // place of a checkpoint.
  Status obstacle;
  std::string obstacle_name;  // entry that is the obstacle; "": none
};

// Returns kNotFound if the directory does not exist. If an entry disappears
// during the scan, or a stale listing shows removed entries, scans again after
// a pause, a limited number of times. If the scan has an obstacle, returns it
// as an error.
Result<StoreScan> ScanStore(World& world, const std::string& directory);

// As ScanStore, but also succeeds if there is an obstacle
// (StoreScan::obstacle).
Result<StoreScan> ScanStoreWithObstacle(World& world,
                                        const std::string& directory);

// Returns the generation of the highest claim in the directory; 0 if there is
// none. Fencing is based on it.
Result<uint64_t> HighestClaim(World& world, const std::string& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_SCAN_H_
