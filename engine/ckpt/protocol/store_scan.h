// Contents of a checkpoint directory at one moment, as far as names, claims and
// manifests tell; no tensor is read.
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

// A committed directory.
struct ScannedCheckpoint {
  std::string name;
  CheckpointName parsed;
  Status status;                     // why there is no manifest
  std::optional<Manifest> manifest;  // its step is the name's

  uint64_t WrittenBy() const;
  Phase GetPhase() const;
};

struct ScannedEntry {
  std::string name;
  EntryName parsed;
  FileKind kind = FileKind::kFile;
};

struct StoreScan {
  std::vector<ScannedEntry> entries;  // all of the engine's
  std::vector<ScannedCheckpoint> checkpoints;
  RecordedParents parents;          // from claims, else from manifests
  uint64_t highest_claim = 0;       // 0: none
  uint64_t highest_generation = 0;  // in any name: never to be used again
  std::string latest_launch;        // in any claim; "": none has one
  StateFile state_file;             // damage "missing" beside checkpoints
  Lineage lineage;                  // of `checkpoints`
  // Reason why no run may start here, such as a link or a directory in the
  // place of the state file, a claim or a checkpoint: no run puts it there.
  // kInvalidArgument names the first one and the remedy.
  Status obstacle;
  std::string obstacle_name;  // entry that is the obstacle; "": none
};

// kNotFound: there is no such directory. Starts again, a bounded number of
// times and after pauses, where something vanishes on the way or a stale
// listing shows what is gone. Fails with the scan's obstacle if it has one.
Result<StoreScan> ScanStore(World& world, const std::string& directory);

// The same, but an obstacle is left in the scan.
Result<StoreScan> ScanStoreWithObstacle(World& world,
                                        const std::string& directory);

// The highest claim in the directory, 0 for none: what fencing asks for.
Result<uint64_t> HighestClaim(World& world, const std::string& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_STORE_SCAN_H_
