#include "engine/ckpt/checkpoint_store.h"

#include <algorithm>
#include <utility>

#include "engine/ckpt/block_writer.h"
#include "engine/ckpt/checkpoint_reader.h"
#include "engine/ckpt/claim_format.h"
#include "engine/ckpt/generation_claim.h"
#include "engine/ckpt/manifest.h"
#include "engine/ckpt/removal.h"
#include "engine/ckpt/safetensors.h"
#include "engine/ckpt/shard_index.h"
#include "engine/ckpt/store_names.h"
#include "engine/ckpt/store_scan.h"
#include "engine/job/job.h"
#include "engine/numerics.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// The checkpoint that a save becomes. REQUIRES: BeginSave gave the name.
CheckpointRef RefOfSave(const std::string& save) {
  const EntryName name = ParseEntryName(save);
  CHECK(name.kind == EntryKind::kSaveTmp, save + " is not a save's name");
  return {.name = name.checkpoint.ToString(),
          .step = name.checkpoint.step,
          .generation = name.generation};
}

uint64_t TensorBytesOf(std::span<const TensorView> tensors) {
  uint64_t bytes = 0;
  for (const TensorView& tensor : tensors) bytes += tensor.bytes.size();
  return bytes;
}

bool StopsTheProcess(const Status& status) {
  return status.code() == Code::kCancelled || status.code() == Code::kFenced;
}

PointContext ContextOf(const CheckpointHead& head) {
  return {.step = head.step, .epoch = head.epoch};
}

}  // namespace

CheckpointStore::CheckpointStore(World& world, StoreOptions options)
    : world_(&world), options_(std::move(options)) {}

Result<CheckpointStore> CheckpointStore::Open(World& world,
                                              const StoreOptions& options) {
  StoreOptions cleaned = options;
  cleaned.directory = WithoutLastSlashes(cleaned.directory);
  if (cleaned.directory.empty()) {
    return InvalidArgument("checkpoint directory: expected a path, found \"\"");
  }
  if (cleaned.keep < 1) {
    return InvalidArgument(fmt::format(
        "checkpoints to keep: expected at least 1, found {}", cleaned.keep));
  }
  RETURN_IF_ERROR(MakeDurableDirectory(world.storage, cleaned.directory));
  return CheckpointStore(world, std::move(cleaned));
}

Result<Claim> CheckpointStore::ClaimGeneration(const std::string& job_json) {
  record_.reset();
  lineage_.clear();
  ASSIGN_OR_RETURN(const uint64_t generation,
                   CreateClaim(*world_, options_.directory));
  ASSIGN_OR_RETURN(RecordedClaim recorded,
                   RecordParent(*world_, options_, generation, job_json));
  record_ = recorded.record;
  lineage_ = recorded.lineage;
  world_->events.Emit(
      {.kind = EventKind::kGeneration,
       .generation = generation,
       .path = recorded.parent ? PathOf(*recorded.parent) : std::string()});
  ASSIGN_OR_RETURN(const std::vector<std::string> warnings,
                   Tidy(*world_, options_, recorded));
  warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  RETURN_IF_ERROR(Warn(WriteStateFile({})));
  // What an interrupted retention left over; a finished run makes no save that
  // would do it.
  RETURN_IF_ERROR(Retire());
  return Claim{.generation = generation, .parent = recorded.parent};
}

Result<LoadedCheckpoint> CheckpointStore::Load(const CheckpointRef& ref) {
  const PointContext context{.step = ref.step};
  const std::string path = PathOf(ref);
  RETURN_IF_ERROR(world_->faults.Hit(Point::kLoadBegin, context));
  Result<LoadedCheckpoint> loaded = ReadCheckpoint(*world_, path);
  if (!loaded.ok()) return Annotate(loaded.status(), ref.name);
  if (loaded->head.step != ref.step) {
    return DataLoss(fmt::format("{}: expected step {}, found {}", ref.name,
                                ref.step, loaded->head.step));
  }
  RETURN_IF_ERROR(world_->faults.Hit(Point::kLoadEnd, context));
  world_->events.Emit({.kind = EventKind::kLoaded,
                       .step = ref.step,
                       .digest = loaded->head.state_digest,
                       .path = path});
  return loaded;
}

Result<std::string> CheckpointStore::BeginSave(const CheckpointHead& head,
                                               uint64_t generation) {
  const Status begun = world_->faults.Hit(Point::kSaveBegin, ContextOf(head));
  if (!begun.ok()) {
    world_->events.Emit({.kind = EventKind::kSaveFailed,
                         .step = head.step,
                         .detail = begun.message()});
    return begun;
  }
  if (!record_ || record_->generation != generation) {
    return FailedPrecondition(
        fmt::format("save of step {}: generation {} was not claimed here",
                    head.step, generation));
  }
  CheckpointName name{.step = head.step, .phase = {}, .generation = generation};
  for (const CommittedCheckpoint& there : lineage_) {
    if (there.ref.step != head.step) continue;
    if (there.phase != head.phase) {
      name.phase = head.phase;
    } else if (there.state_digest == head.state_digest) {
      return AlreadyExists(there.ref.name + ": is there already");
    } else {
      return FailedPrecondition(fmt::format(
          "nondeterminism: {} has state digest {}, this run's step {} has {}",
          there.ref.name, there.state_digest.ToString(), head.step,
          head.state_digest.ToString()));
    }
  }
  const std::string save = name.ToString() + std::string(kTmpSuffix);
  world_->events.Emit({.kind = EventKind::kSaveBegin,
                       .step = head.step,
                       .path = PathOf(name.ToString())});
  save_ = save;
  Status made = RemoveTree(*world_, PathOf(save), FileKind::kDirectory);
  if (made.ok()) made = world_->storage.MakeDirectory(PathOf(save));
  if (!made.ok()) return FailSave(save, made);
  return save;
}

Result<ShardFile> CheckpointStore::WriteShard(
    const std::string& save, int index, int count,
    std::span<const TensorView> tensors) {
  // The name came from the chief, and becomes a path.
  if (ParseEntryName(save).kind != EntryKind::kSaveTmp) {
    return DataLoss(fmt::format("'{}' is not a save's name", save));
  }
  const CheckpointRef ref = RefOfSave(save);
  ShardFile shard{.name = ShardName(index, count), .digest = {}, .tensors = {}};
  const SafetensorsLayout layout = LayOutSafetensors(tensors, ref.step);
  std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span(layout.header))};
  for (const size_t i : layout.order) {
    parts.push_back(tensors[i].bytes);
    shard.tensors.push_back(tensors[i].name);
  }
  PointContext context{.step = ref.step,
                       .size = layout.header.size() + TensorBytesOf(tensors)};
  RETURN_IF_ERROR(world_->faults.Hit(Point::kShardOpen, context));
  ASSIGN_OR_RETURN(
      const WrittenFile written,
      WriteInBlocks(*world_, PathOf(save) + "/" + shard.name, parts,
                    {.write_point = Point::kShardWrite,
                     .sync_point = Point::kShardSync,
                     .step = ref.step}));
  RETURN_IF_ERROR(world_->faults.Hit(Point::kShardDone, context));
  shard.bytes = written.bytes;
  shard.digest = written.digest;
  return shard;
}

Result<CheckpointRef> CheckpointStore::Commit(
    const std::string& save, const CheckpointHead& head, uint64_t generation,
    std::span<const ShardFile> shards) {
  const CheckpointRef ref = RefOfSave(save);
  if (!record_ || record_->generation != generation ||
      ref.generation != generation || ref.step != head.step) {
    return FailedPrecondition(
        fmt::format("{}: not a save of step {} and generation {}", save,
                    head.step, generation));
  }
  save_ = save;
  const Result<CheckpointRef> committed = TryCommit(save, head, shards);
  if (!committed.ok()) return FailSave(save, committed.status());
  save_.reset();
  lineage_.push_back({.ref = *committed,
                      .phase = head.phase,
                      .state_digest = head.state_digest,
                      .written_by = generation});
  RETURN_IF_ERROR(AfterCommit(head));
  return *committed;
}

Result<CheckpointRef> CheckpointStore::TryCommit(
    const std::string& save, const CheckpointHead& head,
    std::span<const ShardFile> shards) {
  const CheckpointRef ref = RefOfSave(save);
  const LogEvent acknowledged{.kind = EventKind::kSaveAcknowledged,
                              .step = head.step,
                              .digest = head.state_digest,
                              .path = PathOf(ref)};
  const bool early =
      world_->faults.Planted(PlantedBug::kAcknowledgeBeforeRename);
  RETURN_IF_ERROR(WriteMetadata(save, head, shards));
  RETURN_IF_ERROR(world_->faults.Hit(Point::kTmpDirSync, ContextOf(head)));
  RETURN_IF_ERROR(world_->storage.SyncDirectory(PathOf(save)));
  if (early) world_->events.Emit(acknowledged);
  RETURN_IF_ERROR(PublishSave(save, ref, head));
  RETURN_IF_ERROR(CheckOwnsDirectory());
  if (!early) world_->events.Emit(acknowledged);
  return ref;
}

// The index and the manifest, which is what the shards are checked against.
Status CheckpointStore::WriteMetadata(const std::string& save,
                                      const CheckpointHead& head,
                                      std::span<const ShardFile> shards) {
  const std::string index = EncodeShardIndex(shards);
  ASSIGN_OR_RETURN(
      const WrittenFile written,
      WriteInBlocks(*world_, PathOf(save) + "/" + std::string(kIndexName),
                    index,
                    {.write_point = Point::kIndexWrite,
                     .sync_point = {},
                     .step = head.step,
                     .epoch = head.epoch}));
  Manifest manifest{.head = head,
                    .job_digest = JobDigest(head.job_json),
                    .numerics_version = numerics::kVersion,
                    .generation = record_->generation,
                    .parent = {},
                    .written_at = world_->clock.UnixSeconds(),
                    .files = {shards.begin(), shards.end()}};
  if (record_->state == ParentState::kRecorded) {
    manifest.parent = record_->parent;
  }
  manifest.files.push_back({.name = std::string(kIndexName),
                            .bytes = written.bytes,
                            .digest = written.digest,
                            .tensors = {}});
  const std::string text = EncodeManifest(manifest);
  // What cannot be read back must not be committed: a shard named twice or a
  // missing one shows here.
  RETURN_IF_ERROR(Annotate(ParseManifest(text).status(), save));
  return WriteInBlocks(
             *world_, PathOf(save) + "/" + std::string(kManifestName), text,
             {.write_point = Point::kManifestWrite,
              .sync_point = Point::kManifestSync,
              .sync = world_->faults.Planted(PlantedBug::kSkipManifestSync)
                          ? SyncFile::kNo
                          : SyncFile::kYes,
              .step = head.step,
              .epoch = head.epoch})
      .status();
}

// The commit point.
Status CheckpointStore::PublishSave(const std::string& save,
                                    const CheckpointRef& ref,
                                    const CheckpointHead& head) {
  const PointContext context = ContextOf(head);
  RETURN_IF_ERROR(world_->faults.Hit(Point::kRename, context));
  RETURN_IF_ERROR(world_->storage.Rename(PathOf(save), PathOf(ref)));
  RETURN_IF_ERROR(world_->faults.Hit(Point::kRenamed, context));
  RETURN_IF_ERROR(world_->faults.Hit(Point::kParentSync, context));
  return world_->storage.SyncDirectory(options_.directory);
}

// kFenced where a higher claim exists, or where this process's own claim is
// gone or another's: the store was deleted and begun anew under it.
Status CheckpointStore::CheckOwnsDirectory() {
  const std::string& directory = options_.directory;
  ASSIGN_OR_RETURN(const uint64_t highest, HighestClaim(*world_, directory));
  bool owns = highest == record_->generation;
  if (owns) {
    const auto text = ReadWithRetry(
        *world_, directory + "/" + ClaimName(highest), kMaxClaimBytes);
    const auto found = text.ok() ? ParseClaim(*text) : text.status();
    // Damage to the claim is not another claim; a claim that cannot be read
    // says nothing.
    if (found.ok()) {
      owns = EncodeClaim(*found) == EncodeClaim(*record_);
    } else if (found.status().code() == Code::kNotFound) {
      owns = false;
    } else if (found.status().code() != Code::kDataLoss) {
      return found.status();
    }
  }
  if (owns) return OkStatus();
  world_->events.Emit(
      {.kind = EventKind::kFencedOut, .generation = record_->generation});
  return Fenced(fmt::format(
      "generation {} does not own {} any more: the highest claim is {}",
      record_->generation, directory, ClaimName(highest)));
}

Status CheckpointStore::FailSave(const std::string& save, const Status& why) {
  save_.reset();
  // Told to be gone: as in a crash, everything stays as it is.
  if (why.code() == Code::kCancelled) return why;
  // Another generation takes away what this one writes; that is the reason
  // then.
  Status reason = why;
  if (why.code() != Code::kFenced) {
    const Status owns = CheckOwnsDirectory();
    if (owns.code() == Code::kFenced) reason = owns;
  }
  const CheckpointRef ref = RefOfSave(save);
  world_->events.Emit({.kind = EventKind::kSaveFailed,
                       .step = ref.step,
                       .path = PathOf(ref),
                       .detail = reason.message()});
  if (reason.code() != Code::kFenced) DropRemains(save);
  return reason;
}

// A void save must not be taken for a fall-back: neither its directory nor, if
// the rename was done already, the checkpoint.
// What cannot be removed now is tried again with the next retention.
void CheckpointStore::DropRemains(const std::string& save) {
  const std::string name = RefOfSave(save).name;
  Status dropped = RemoveCheckpoint(*world_, options_.directory, name);
  if (dropped.code() == Code::kNotFound) dropped = OkStatus();
  Remember(dropped);
  const Status cleared =
      RemoveTree(*world_, PathOf(save), FileKind::kDirectory);
  Remember(cleared);
  if (!dropped.ok() || !cleared.ok()) remains_.push_back(save);
}

Status CheckpointStore::AbandonSave(const std::string& save) {
  if (save_ == save) {
    return StopsTheProcess(FailSave(save, Unavailable("abandoned")))
               ? Fenced(save + ": abandoned under a newer generation")
               : OkStatus();
  }
  return RemoveTree(*world_, PathOf(save), FileKind::kDirectory);
}

// Nothing here takes the acknowledgement back.
Status CheckpointStore::AfterCommit(const CheckpointHead& head) {
  const PointContext context = ContextOf(head);
  RETURN_IF_ERROR(Warn(world_->faults.Hit(Point::kSaveAcknowledged, context)));
  RETURN_IF_ERROR(Warn(WriteStateFile(context)));
  RETURN_IF_ERROR(Retire());
  return Warn(world_->faults.Hit(Point::kSaveEnd, context));
}

// Lists what retention is about to leave.
Status CheckpointStore::WriteStateFile(const PointContext& context) {
  const auto keep = static_cast<size_t>(options_.keep);
  const size_t first = lineage_.size() > keep ? lineage_.size() - keep : 0;
  std::vector<std::string> names;
  for (size_t i = first; i < lineage_.size(); ++i) {
    names.push_back(lineage_[i].ref.name);
  }
  const std::string path = PathOf(kStateFileName);
  const std::string tmp = path + std::string(kTmpSuffix);
  Status status = WriteInBlocks(*world_, tmp, EncodeStateFile(names),
                                {.mode = OpenMode::kCreateTruncate,
                                 .write_point = Point::kStateWrite,
                                 .sync_point = Point::kStateSync,
                                 .step = context.step,
                                 .epoch = context.epoch})
                      .status();
  if (status.ok()) status = world_->faults.Hit(Point::kStateRename, context);
  if (status.ok()) status = world_->storage.Rename(tmp, path);
  if (status.ok()) return world_->storage.SyncDirectory(options_.directory);
  // The old state file stands, and nothing half done beside it.
  if (!StopsTheProcess(status)) {
    Remember(Annotate(world_->storage.Remove(tmp, FileKind::kFile), tmp));
  }
  return status;
}

// Leaves the newest ones of the lineage, the one just committed among them.
// What cannot be removed now stays in the list and is tried again.
Status CheckpointStore::Retire() {
  for (const std::string& save : std::exchange(remains_, {})) DropRemains(save);
  const auto keep = static_cast<size_t>(options_.keep);
  const size_t surplus = lineage_.size() > keep ? lineage_.size() - keep : 0;
  std::vector<CommittedCheckpoint> left;
  for (size_t i = 0; i < lineage_.size(); ++i) {
    if (i >= surplus) {
      left.push_back(lineage_[i]);
      continue;
    }
    const std::string& name = lineage_[i].ref.name;
    const Status removed = RemoveCheckpoint(*world_, options_.directory, name);
    if (removed.ok()) {
      world_->events.Emit({.kind = EventKind::kRetired, .path = PathOf(name)});
    } else if (removed.code() != Code::kNotFound) {
      RETURN_IF_ERROR(Warn(removed));
      left.push_back(lineage_[i]);
    }
  }
  lineage_ = std::move(left);
  return OkStatus();
}

// Passes on what stops the process, keeps all else for TakeWarnings.
Status CheckpointStore::Warn(const Status& status) {
  if (StopsTheProcess(status)) return status;
  Remember(status);
  return OkStatus();
}

void CheckpointStore::Remember(const Status& status) {
  if (!status.ok()) warnings_.push_back(status.message());
}

std::vector<std::string> CheckpointStore::TakeWarnings() {
  return std::exchange(warnings_, {});
}

// In an order in which a crash leaves either the newest checkpoint, which then
// stands for its lineage by its manifest alone, or nothing.
Status CheckpointStore::DeleteAll() {
  RETURN_IF_ERROR(world_->faults.Hit(Point::kBackupDelete, {}));
  const std::string& directory = options_.directory;
  const Result<StoreScan> scan = ScanStore(*world_, directory);
  if (scan.status().code() == Code::kNotFound) return OkStatus();
  RETURN_IF_ERROR(scan.status());
  if (record_) RETURN_IF_ERROR(CheckOwnsDirectory());
  RETURN_IF_ERROR(RemoveTree(*world_, PathOf(kStateFileName), FileKind::kFile));
  RETURN_IF_ERROR(world_->storage.SyncDirectory(directory));
  std::string newest;
  if (!scan->lineage.members.empty()) {
    newest = scan->checkpoints[scan->lineage.members.front()].name;
  }
  RETURN_IF_ERROR(DeleteOthers(newest));
  if (!newest.empty()) {
    RETURN_IF_ERROR(RemoveCheckpoint(*world_, directory, newest));
  }
  record_.reset();
  lineage_.clear();
  world_->events.Emit({.kind = EventKind::kBackupDeleted, .path = directory});
  const Status removed =
      world_->storage.Remove(directory, FileKind::kDirectory);
  // Something that is not the engine's is in it: it stays.
  if (removed.code() == Code::kAlreadyExists) return OkStatus();
  RETURN_IF_ERROR(removed);
  return world_->storage.SyncDirectory(ParentDirectory(directory));
}

// All checkpoints but `kept`, then all claims.
Status CheckpointStore::DeleteOthers(const std::string& kept) {
  const std::string& directory = options_.directory;
  ASSIGN_OR_RETURN(const auto listed, world_->storage.List(directory));
  std::vector<std::string> claims;
  for (const DirectoryEntry& entry : listed) {
    const EntryKind kind = ParseEntryName(entry.name).kind;
    if (kind == EntryKind::kOther || entry.name == kept) continue;
    if (kind == EntryKind::kClaim || kind == EntryKind::kClaimTmp) {
      claims.push_back(entry.name);
    } else if (kind == EntryKind::kCheckpoint) {
      RETURN_IF_ERROR(RemoveCheckpoint(*world_, directory, entry.name));
    } else {
      RETURN_IF_ERROR(RemoveTree(*world_, PathOf(entry.name), entry.kind));
    }
  }
  RETURN_IF_ERROR(world_->storage.SyncDirectory(directory));
  for (const std::string& claim : claims) {
    RETURN_IF_ERROR(RemoveTree(*world_, PathOf(claim), FileKind::kFile));
  }
  return world_->storage.SyncDirectory(directory);
}

std::string CheckpointStore::PathOf(const CheckpointRef& ref) const {
  return PathOf(std::string_view(ref.name));
}

std::string CheckpointStore::PathOf(std::string_view name) const {
  return fmt::format("{}/{}", options_.directory, name);
}

}  // namespace gauntlet
