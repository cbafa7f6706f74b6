// Named places in the engine at which faults can be injected.
//
// These names are all that the engine contains about faults. The engine reports
// with FaultPoints::Hit that it has reached a point, and acts on the Status
// returned. The implementation of FaultPoints decides what happens at the
// point: usually nothing, else a crash, a hang or an error. The registry in
// fault_point.cc is the one list of points and their properties: the scenario
// loader, the injector and explorations derive their categories of points from
// it.
#ifndef GAUNTLET_ENGINE_WORLD_FAULT_POINT_H_
#define GAUNTLET_ENGINE_WORLD_FAULT_POINT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

enum class Point : uint8_t {
  kStepBegin,
  kStepEnd,
  kEpochBegin,
  kEpochEnd,
  kEvalBegin,
  kDataNext,
  kRendezvous,
  kClaimCreate,
  kClaimRecord,
  kAllReduceBegin,
  kAllReduceSend,
  kAllReduceReceive,
  kAllReduceEnd,
  kHeartbeat,
  kSaveBegin,
  kCopy,
  kShardOpen,
  kShardWrite,
  kShardSync,
  kShardDone,
  kSaveAgree,
  kIndexWrite,
  kManifestWrite,
  kManifestSync,
  kTmpDirSync,
  kRename,
  kRenamed,
  kParentSync,
  kSaveAcknowledged,
  kStateWrite,
  kStateSync,
  kStateRename,
  kRetireRename,
  kRetireRenamed,
  kRetireRemove,
  kSaveEnd,
  kLoadBegin,
  kLoadRead,
  kLoadEnd,
  kReject,
  kBackupDelete,
  kFinish,
  kExportWrite,
  kExportRename,
  kAcknowledge,
  kRejoin,
  kStateSend,
  kStateReceive,
  kDeviceOpen,
};

// Part of a run that a point belongs to.
enum class RunPart : uint8_t {
  kStart,       // a process starts, before it connects to others
  kRendezvous,  // workers form a generation, which the chief claims
  kTraining,    // steps, epochs and evaluations
  kExchange,    // the all-reduce of a step
  kHeartbeat,   // a task that runs alongside everything else
  kSave,        // from the start of a save to its acknowledgement; its end
  kStateFile,   // the state file is written, by a save or by a claim
  kRetirement,  // old checkpoints are removed
  kLoad,
  kRejoin,
  kFinish,    // after the last step
  kDeletion,  // deletion of a finished run's checkpoints
};

enum class ReachedBy : uint8_t { kEveryWorker, kChief };

// Frequency with which a worker reaches a point.
enum class HitRate : uint8_t {
  kSeldom,       // at events that do not occur in most steps and saves
  kEachStep,     // at least once in each step
  kOncePerSave,  // at most once in each save
  kEachBlock,    // before each block written to a file
  kEachFile,     // for each file of a checkpoint
};

// Set-up that a run needs to reach the point.
enum class PointNeeds : uint8_t {
  kNothing,
  kCompany,     // at least two workers
  kRejoin,      // at least two workers, which rejoin after a loss
  kAsyncSaves,  // asynchronous checkpoints
  kDevice,      // workers that compute on a device
  kDeletion,    // a finished run deletes its checkpoints
  kExport,      // a finished run exports its model
};

// Operations of Storage that faults distinguish.
enum class StorageOperation : uint8_t {
  kNone,
  kRead,  // a read, a query of the size, or an open for reading
  kOpenToWrite,
  kWrite,
  kSync,
  kSyncDirectory,
  kRename,
  kRemove,
};

struct PointInfo {
  Point point;
  std::string_view name;         // "ckpt.shard.write"
  std::string_view description;  // one line
  RunPart part = RunPart::kTraining;
  ReachedBy reached_by = ReachedBy::kEveryWorker;
  HitRate rate = HitRate::kSeldom;
  PointNeeds needs = PointNeeds::kNothing;
  // The storage operation that follows; kNone: none, or several.
  StorageOperation next = StorageOperation::kNone;
  // True if a stale chief that continues from here changes the store,
  // immediately or soon.
  bool is_critical_when_stale = false;
};

// All points, in the order of the enum.
std::span<const PointInfo> AllPoints();
const PointInfo& InfoOf(Point point);
std::string_view PointName(Point point);
std::optional<Point> FindPoint(std::string_view name);

// Returns true iff the point lies in a save, in the removal of old checkpoints,
// or in a write of the state file. Claims write the state file too.
bool IsOfSave(Point point);

// Returns true iff the chief reaches the point while it writes the state file
// or retires old checkpoints after a save. Training may continue meanwhile,
// even if the save is synchronous. For ckpt.end, which all workers reach, the
// result holds only on the chief.
bool IsTailOfSave(Point point);

// Context of an occurrence. For points of HitRate::kEachBlock, which occur once
// before each block: `block` is its number in the file, from 0, `offset` its
// position in the file, and `size` the final size of the file, both in bytes.
struct PointContext {
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t block = 0;
};

// Deliberate defects for mutation tests: each must be caught by an invariant.
enum class PlantedBug : uint8_t {
  kLoseRngKey,               // A restore does not restore the RNG key.
  kLosePosition,             // A restore restarts the epoch's data.
  kTrustManifestBlindly,     // A load does not verify files against digests.
  kLoseMetrics,              // A restore resets the epoch's metrics.
  kSkipManifestSync,         // A save does not fsync its manifest.
  kAcknowledgeBeforeRename,  // A save is acknowledged before it is committed.
  kForgetAtRejoin,           // Workers drop their state when another is lost.
  kDieInAStep,               // A worker ends without any report, once a job.
  kWriteLiveState,           // An async save writes live state, not a copy.
  kTrustAFailedDevice,       // Results of a failed device are trusted.
  kRemoveWhileFenced,        // A removal does not look for newer claims.
};

struct PlantedBugInfo {
  PlantedBug bug;
  std::string_view name;  // "lose-rng-key"
  std::string_view description;
  // Settings and faults that show the bug in a scenario with preset: tiny:
  // "simulation only, do: power_loss".
  std::string_view shows_with;
  // Condition under which the bug shows in a run, as a clause: "a worker
  // resumes from a checkpoint".
  std::string_view shows_when;
  std::string_view caught_by;  // an invariant that it violates then: "samples"
};
std::span<const PlantedBugInfo> AllPlantedBugs();
std::optional<PlantedBug> FindPlantedBug(std::string_view name);
const PlantedBugInfo& InfoOf(PlantedBug bug);

class FaultPoints {
 public:
  virtual ~FaultPoints() = default;
  // Called when the point is reached. Returns Ok, or the error that the
  // operation at the point must report; may block, even forever. At points of
  // RunPart::kTraining, `context` states the step and epoch to which later
  // occurrences in this process belong.
  virtual Status Hit(Point point, const PointContext& context) = 0;
  // Returns true if the defect is switched on. Always false outside mutation
  // tests.
  virtual bool Planted(PlantedBug bug) const = 0;
};

// No faults and no defects: for a world without a fault plan.
class NoFaults final : public FaultPoints {
 public:
  Status Hit(Point, const PointContext&) override { return OkStatus(); }
  bool Planted(PlantedBug) const override { return false; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_FAULT_POINT_H_
