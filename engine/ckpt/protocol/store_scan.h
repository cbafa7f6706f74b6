// Contents of a checkpoint directory at one moment, read from names, claims and
// manifests. No tensor is read.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_SCAN_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_SCAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
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
  Status status;                     // reason if there is no manifest
  std::optional<Manifest> manifest;  // of the step in the name

  uint64_t WrittenBy() const;
  Phase GetPhase() const;
};

struct ScannedEntry {
  std::string name;
  EntryName parsed;
  FileKind kind = FileKind::kFile;
};

struct StoreScan {
  std::vector<ScannedEntry> entries;  // all that belong to the engine
  std::vector<ScannedCheckpoint> checkpoints;
  RecordedParents parents;          // from claims, else from manifests
  uint64_t highest_claim = 0;       // 0: none
  uint64_t highest_generation = 0;  // in any name or manifest: used up
  std::string latest_launch;        // largest in any claim; "": none
  StateFile state_file;  // "missing" if there are checkpoints but no file
  Lineage lineage;       // of `checkpoints`
  // Error with which a run that starts here is refused: kInvalidArgument names
  // the first obstacle and the remedy. An obstacle is an entry of a kind that
  // no run creates, such as a link or a directory in the place of the state
  // file, a claim or a checkpoint.
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
