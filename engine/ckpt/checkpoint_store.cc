#include "engine/ckpt/checkpoint_store.h"

#include <algorithm>
#include <utility>

#include "engine/ckpt/format/safetensors.h"
#include "engine/ckpt/format/state_file.h"
#include "engine/ckpt/format/state_file_format.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/block_writer.h"
#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/ckpt/io/finite_scan.h"
#include "engine/ckpt/io/retrying.h"
#include "engine/ckpt/io/save_metadata.h"
#include "engine/ckpt/protocol/generation_claim.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/ckpt/protocol/removal.h"
#include "engine/ckpt/protocol/retention.h"
#include "engine/ckpt/protocol/store_deletion.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the checkpoint that a save creates when it is committed. REQUIRES:
// BeginSave returned `save`.
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

// Returns true if the directory is gone or belongs to another generation, so
// that this process must not change it.
bool HasLostOwnership(const Status& status) {
  return status.code() == Code::kFenced ||
         status.code() == Code::kFailedPrecondition;
}

bool StopsTheProcess(const Status& status) {
  return status.code() == Code::kCancelled || status.code() == Code::kFenced;
}

std::string SizeText(uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < (1 << 20)) return fmt::format("{:.1f} KiB", size / (1 << 10));
  return bytes < (1 << 30) ? fmt::format("{:.3f} MiB", size / (1 << 20))
                           : fmt::format("{:.3f} GiB", size / (1 << 30));
}

// A disk with at least this much free space is a simulated one without a limit.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;

// Adds the needed and the free disk space to the message of kResourceExhausted.
Status WithDiskSpace(World& world, const std::string& directory,
                     const Status& status, uint64_t needed) {
  if (status.code() != Code::kResourceExhausted) return status;
  const Result<uint64_t> free = world.storage.FreeBytes(directory);
  const std::string there =
      free.ok() && *free >= kNoLimit
          ? ""
          : fmt::format(", the file system of {} has {} free", directory,
                        free.ok() ? SizeText(*free) : "an unknown size");
  return ResourceExhausted(fmt::format("{} (needs {}{})", status.message(),
                                       SizeText(needed), there));
}

// Encodes not_finite_since as the count of an event; 0 means all is finite.
int64_t CountOf(const std::optional<uint64_t>& not_finite_since) {
  return static_cast<int64_t>(not_finite_since.value_or(0));
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
  RETURN_IF_ERROR(
      Annotate(CheckPath(cleaned.directory), "checkpoint directory"));
  if (cleaned.keep < 1) {
    return InvalidArgument(fmt::format(
        "checkpoints to keep: expected at least 1, found {}", cleaned.keep));
  }
  if (cleaned.keep_every_seconds < 0) {
    return InvalidArgument(
        fmt::format("seconds from one checkpoint that is kept for good to the "
                    "next: expected at least 0, found {}",
                    cleaned.keep_every_seconds));
  }
  if (cleaned.launch_hold.claimed == 0) {
    RETURN_IF_ERROR(MakeDurableDirectory(world.storage, cleaned.directory));
  }
  return CheckpointStore(world, std::move(cleaned));
}

Result<Claim> CheckpointStore::ClaimGeneration(const std::string& job_json,
                                               StateInMemory memory,
                                               const TensorPlaces& places) {
  record_.reset();
  lineage_.clear();
  verified_parent_.reset();
  // If a save failed in an earlier generation of this process, its checkpoint
  // may become the parent of this claim. So this process must not remove it
  // later. CollectGarbage removes such saves if they are fenced or unfinished.
  pending_cleanup_.clear();
  save_.reset();
  StoreOptions options = options_;
  if (memory == StateInMemory::kHeld &&
      options.cold_start == ColdStart::kRefuse) {
    options.cold_start = ColdStart::kFromMemory;
  }
  ASSIGN_OR_RETURN(const uint64_t generation, CreateClaim(*world_, options));
  ASSIGN_OR_RETURN(
      RecordedClaim recorded,
      RecordParent(*world_, options, generation, job_json, places));
  record_ = recorded.record;
  lineage_ = recorded.lineage;
  // A worker that holds a state in memory rarely loads one, so the verified
  // checkpoint would only occupy memory.
  if (memory == StateInMemory::kNone) {
    verified_parent_ = std::exchange(recorded.choice.verified, std::nullopt);
  }
  LogEvent claimed{.kind = EventKind::kGeneration,
                   .generation = generation,
                   .reason = recorded.choice.all_invalid_reason.empty()
                                 ? Reason::kNone
                                 : Reason::kBadData};
  if (recorded.parent) {
    const CommittedCheckpoint& parent = recorded.lineage.back();
    claimed.path = PathOf(*recorded.parent);
    claimed.digest = parent.state_digest;
    claimed.count = CountOf(parent.not_finite_since);
  }
  world_->events.Emit(claimed);
  ASSIGN_OR_RETURN(const std::vector<std::string> warnings,
                   CollectGarbage(*world_, options_, recorded));
  warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  const std::string& all_invalid_reason = recorded.choice.all_invalid_reason;
  if (memory == StateInMemory::kHeld && !all_invalid_reason.empty()) {
    warnings_.push_back(all_invalid_reason +
                        " (training continues from the workers' memory)");
  }
  Status listed = WriteStateFile({});
  if (listed.ok()) listed = world_->storage.SyncDirectory(options_.directory);
  // If the edited file cannot be replaced, this claim fails. Otherwise the next
  // start would apply the edit again, and discard the checkpoints of this run.
  if (!listed.ok() && recorded.choice.chosen_by_edit) {
    return Annotate(listed, PathOf(kStateFileName) +
                                ": the edit is not replaced by a new file");
  }
  RETURN_IF_ERROR(Warn(listed));
  // Completes a retention that was interrupted. Saves apply retention too, but
  // if training has already finished, no save follows.
  RETURN_IF_ERROR(ApplyRetention());
  return Claim{.generation = generation,
               .parent = recorded.parent,
               .parent_phase = recorded.record.parent.phase,
               .parent_digest = recorded.record.parent.state_digest,
               .all_are_invalid = !all_invalid_reason.empty()};
}

Result<LoadedCheckpoint> CheckpointStore::Load(const CheckpointRef& ref,
                                               const TensorPlaces& places) {
  const PointContext context{.step = ref.step};
  const std::string path = PathOf(ref);
  RETURN_IF_ERROR(world_->faults.Hit(Point::kLoadBegin, context));
  Result<LoadedCheckpoint> loaded = TakeVerified(ref, places);
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

// Returns the parent's contents if the claim has read them, else reads the
// checkpoint from the disk.
Result<LoadedCheckpoint> CheckpointStore::TakeVerified(
    const CheckpointRef& ref, const TensorPlaces& places) {
  if (verified_parent_ && lineage_.back().ref.name == ref.name) {
    return *std::exchange(verified_parent_, std::nullopt);
  }
  // kNotFound may be temporary: a stale worker may have renamed the checkpoint,
  // and renames it back when it finds the newer claim.
  return RetryWhile(
      *world_, [](Code code) { return code == Code::kNotFound; },
      [&] { return ReadCheckpoint(*world_, PathOf(ref), places); });
}

Result<std::optional<std::string>> CheckpointStore::BeginSave(
    const CheckpointHead& head, uint64_t generation) {
  verified_parent_.reset();
  const auto failed = [&](const Status& why) {
    world_->events.Emit({.kind = EventKind::kSaveFailed,
                         .step = head.step,
                         .detail = why.message(),
                         .reason = ReasonOf(why.code())});
    return why;
  };
  const Status begun = world_->faults.Hit(Point::kSaveBegin, ContextOf(head));
  if (!begun.ok()) return failed(begun);
  if (!record_ || record_->generation != generation) {
    return FailedPrecondition(
        fmt::format("save of step {}: generation {} was not claimed here",
                    head.step, generation));
  }
  const Result<std::optional<CheckpointName>> chosen =
      NameForSave(head, generation);
  if (!chosen.ok()) return failed(chosen.status());
  const std::optional<CheckpointName>& name = *chosen;
  if (!name) return std::optional<std::string>();
  const std::string save = name->ToString() + std::string(kTmpSuffix);
  world_->events.Emit({.kind = EventKind::kSaveBegin,
                       .generation = generation,
                       .step = head.step,
                       .phase = head.phase,
                       .path = PathOf(name->ToString())});
  save_ = save;
  Status made = ClearForSave(save);
  if (made.ok()) made = world_->storage.MakeDirectory(PathOf(save));
  if (!made.ok()) return FailSave(save, made);
  return std::optional(save);
}

// Returns the name for the save; nullopt if a checkpoint of exactly this state
// exists.
Result<std::optional<CheckpointName>> CheckpointStore::NameForSave(
    const CheckpointHead& head, uint64_t generation) {
  CheckpointName name{.step = head.step, .phase = {}, .generation = generation};
  for (size_t i = 0; i < lineage_.size(); ++i) {
    const CommittedCheckpoint& there = lineage_[i];
    if (there.ref.step != head.step) continue;
    if (there.phase != head.phase) {
      name.phase = head.phase;
      continue;
    }
    if (there.state_digest != head.state_digest) {
      return FailedPrecondition(fmt::format(
          "nondeterminism: {} has state digest {}, this run's step {} has {}",
          there.ref.name, there.state_digest.ToString(), head.step,
          head.state_digest.ToString()));
    }
    const Status verified = VerifyCheckpoint(*world_, PathOf(there.ref));
    if (verified.ok()) return std::optional<CheckpointName>();
    if (verified.code() != Code::kDataLoss &&
        verified.code() != Code::kNotFound) {
      return verified;
    }
    // kDataLoss: the existing checkpoint was damaged after it was loaded.
    // kNotFound: a stale worker renamed it and died. In both cases this run
    // saves the state again.
    if (verified.code() == Code::kDataLoss) {
      EmitRejected(*world_, PathOf(there.ref), verified.message());
      RETURN_IF_ERROR(
          SetAside(*world_, options_.directory, there.ref.name, *record_));
    }
    AddWarning(Annotate(verified, there.ref.name));
    lineage_.erase(lineage_.begin() + static_cast<ptrdiff_t>(i--));
  }
  return std::optional(name);
}

// Removes the remains of an earlier save with this name. If that save is in
// pending_cleanup_, also removes the checkpoint that it may have committed. If
// the name stayed there, the later cleanup would remove the new save.
Status CheckpointStore::ClearForSave(const std::string& save) {
  const bool is_pending =
      std::ranges::find(pending_cleanup_, save) != pending_cleanup_.end();
  return is_pending ? RemoveFailedSave(save)
                    : RemoveTree(*world_, PathOf(save), FileKind::kDirectory);
}

Result<ShardFile> CheckpointStore::WriteShard(
    const std::string& save, int index, int count,
    std::span<const TensorView> tensors, TimeSplit* times) {
  // Checks the name: the chief sent it, and it becomes part of a path.
  const EntryName name = ParseEntryName(save);
  if (name.kind != EntryKind::kSaveTmp) {
    return DataLoss(fmt::format("'{}' is not a save's name", save));
  }
  const uint64_t step = name.checkpoint.step;
  ShardFile shard{.name = ShardName(index, count), .digest = {}, .tensors = {}};
  const SafetensorsLayout layout = LayOutSafetensors(tensors, step);
  for (const size_t i : layout.order) shard.tensors.push_back(tensors[i].name);
  PointContext context{.step = step,
                       .size = layout.header.size() + TensorBytesOf(tensors)};
  FiniteScan scan(layout, tensors);
  RETURN_IF_ERROR(world_->faults.Hit(Point::kShardOpen, context));
  const Result<WrittenFile> tried = WriteInBlocks(
      *world_, PathOf(save) + "/" + shard.name, PartsOf(layout, tensors),
      {.write_point = Point::kShardWrite,
       .sync_point = Point::kShardSync,
       .step = step,
       .scan = &scan,
       .times = times});
  if (!tried.ok()) {
    return WithDiskSpace(*world_, options_.directory, tried.status(),
                         context.size);
  }
  const WrittenFile& written = *tried;
  RETURN_IF_ERROR(world_->faults.Hit(Point::kShardDone, context));
  Lap(times, TimePart::kSync);
  shard.bytes = written.bytes;
  shard.digest = written.digest;
  shard.not_finite = scan.NotFiniteTensors();
  return shard;
}

Result<CheckpointRef> CheckpointStore::Commit(const std::string& save,
                                              const CheckpointHead& head,
                                              uint64_t generation,
                                              std::span<const ShardFile> shards,
                                              TimeSplit* times) {
  const CheckpointRef ref = RefOfSave(save);
  if (!record_ || record_->generation != generation ||
      ref.generation != generation || ref.step != head.step) {
    return FailedPrecondition(
        fmt::format("{}: not a save of step {} and generation {}", save,
                    head.step, generation));
  }
  save_ = save;
  Result<CommittedCheckpoint> committed = TryCommit(save, ref, head, shards);
  Lap(times, TimePart::kCommit);
  if (!committed.ok()) return FailSave(save, committed.status());
  save_.reset();
  lineage_.push_back(*std::move(committed));
  const PointContext context = ContextOf(head);
  RETURN_IF_ERROR(Warn(world_->faults.Hit(Point::kSaveAcknowledged, context)));
  return ref;
}

Result<CommittedCheckpoint> CheckpointStore::TryCommit(
    const std::string& save, const CheckpointRef& ref,
    const CheckpointHead& head, std::span<const ShardFile> shards) {
  const bool early =
      world_->faults.Planted(PlantedBug::kAcknowledgeBeforeRename);
  CommittedCheckpoint committed = {.ref = ref,
                                   .phase = head.phase,
                                   .state_digest = head.state_digest,
                                   .written_by = record_->generation,
                                   .written_at = world_->clock.UnixSeconds(),
                                   .not_finite_since = head.not_finite_since};
  if (options_.keep_every_seconds > 0) {
    committed.mark = MarkFor(lineage_, record_->unix_seconds,
                             committed.written_at, options_.keep_every_seconds);
  }
  const LogEvent acknowledged{.kind = EventKind::kSaveAcknowledged,
                              .generation = record_->generation,
                              .step = head.step,
                              .phase = head.phase,
                              .count = CountOf(head.not_finite_since),
                              .digest = head.state_digest,
                              .path = PathOf(ref),
                              .reason = IsPermanent(committed)
                                            ? Reason::kKeptPermanently
                                            : Reason::kNone};
  RETURN_IF_ERROR(WriteMetadata(*world_, PathOf(save),
                                {.claim = *record_,
                                 .head = head,
                                 .shards = shards,
                                 .written_at = committed.written_at,
                                 .mark = committed.mark}));
  RETURN_IF_ERROR(world_->faults.Hit(Point::kTmpDirSync, ContextOf(head)));
  RETURN_IF_ERROR(world_->storage.SyncDirectory(PathOf(save)));
  if (early) world_->events.Emit(acknowledged);
  RETURN_IF_ERROR(PublishSave(save, ref, head));
  RETURN_IF_ERROR(CheckOwner(*world_, options_.directory, *record_));
  if (!early) world_->events.Emit(acknowledged);
  return committed;
}

// Renames the save to its final name, which commits it.
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

Status CheckpointStore::FailSave(const std::string& save, const Status& why) {
  save_.reset();
  // kCancelled simulates a crash: nothing more may be changed.
  if (why.code() == Code::kCancelled) return why;
  // If this generation no longer owns the directory, the save fails for that
  // reason, and nothing is removed.
  Status reason = why;
  if (why.code() != Code::kFenced) {
    const Status owns = CheckOwner(*world_, options_.directory, *record_);
    if (HasLostOwnership(owns)) reason = owns;
  }
  const CheckpointRef ref = RefOfSave(save);
  world_->events.Emit({.kind = EventKind::kSaveFailed,
                       .step = ref.step,
                       .path = PathOf(ref),
                       .detail = reason.message(),
                       .reason = ReasonOf(reason.code())});
  if (!HasLostOwnership(reason)) AddWarning(RemoveFailedSave(save));
  return reason;
}

// Removes the directory of a failed save. If the directory was already renamed
// to a checkpoint, removes the checkpoint, so that no later start resumes from
// it. If a removal fails, it is tried again by the next retention, and before a
// save with the same name.
Status CheckpointStore::RemoveFailedSave(const std::string& save) {
  std::erase(pending_cleanup_, save);
  const std::string name = RefOfSave(save).name;
  Status dropped =
      RemoveCheckpoint(*world_, options_.directory, name, *record_);
  if (dropped.code() == Code::kNotFound) dropped = OkStatus();
  const Status cleared =
      RemoveTree(*world_, PathOf(save), FileKind::kDirectory);
  if (!dropped.ok() || !cleared.ok()) pending_cleanup_.push_back(save);
  return dropped.ok() ? cleared : dropped;
}

Status CheckpointStore::AbortSave(const std::string& save, const Status& why) {
  if (save_ == save) {
    // An error that must stop another rank's process must not stop this one.
    const Status failed =
        FailSave(save, StopsTheProcess(why) ? Unavailable(why.message()) : why);
    return HasLostOwnership(failed) ? failed : OkStatus();
  }
  return RemoveTree(*world_, PathOf(save), FileKind::kDirectory);
}

Status CheckpointStore::RetireOldCheckpoints(const CheckpointHead& head,
                                             TimeSplit* times) {
  const PointContext context = ContextOf(head);
  RETURN_IF_ERROR(Warn(WriteStateFile(context)));
  Lap(times, TimePart::kStateFile);
  RETURN_IF_ERROR(ApplyRetention());
  Lap(times, TimePart::kRetention);
  return Warn(world_->faults.Hit(Point::kSaveEnd, context));
}

// Adds a warning if a person has edited the state file since this process wrote
// it. Only a start applies edits, and this process is about to overwrite the
// file.
void CheckpointStore::WarnOfEdit() {
  if (state_text_.empty()) return;
  const Result<std::string> text =
      ReadFile(world_->storage, PathOf(kStateFileName), kMaxStateFileBytes);
  if (!text.ok() || *text == state_text_) return;
  const StateFile found = ParseStateFile(*text);
  if (!found.edit && found.refusal.empty()) return;
  warnings_.push_back(fmt::format(
      "{}: edited while the run was active: edit ignored and overwritten. Stop "
      "the run before editing",
      PathOf(kStateFileName)));
}

// Writes the state file with the checkpoints that retention will keep. The
// rename becomes durable at the next sync of the directory, which happens
// before retention removes files. So after a crash the newest checkpoints may
// be missing in the file, but it names none that retention has removed.
Status CheckpointStore::WriteStateFile(const PointContext& context) {
  const std::vector<bool> surplus = FindSurplus(lineage_, options_.keep);
  std::vector<std::string> names;
  for (size_t i = 0; i < lineage_.size(); ++i) {
    if (!surplus[i]) names.push_back(lineage_[i].ref.name);
  }
  const std::string path = PathOf(kStateFileName);
  const std::string tmp = path + std::string(kTmpSuffix);
  const std::string text = EncodeStateFile(names);
  WarnOfEdit();
  Status status = WriteInBlocks(*world_, tmp, text,
                                {.mode = OpenMode::kCreateTruncate,
                                 .write_point = Point::kStateWrite,
                                 .sync_point = Point::kStateSync,
                                 .step = context.step,
                                 .epoch = context.epoch})
                      .status();
  if (status.ok()) status = world_->faults.Hit(Point::kStateRename, context);
  if (status.ok()) status = world_->storage.Rename(tmp, path);
  if (status.ok()) {
    state_text_ = text;
    return OkStatus();
  }
  // The old state file is unchanged, so only the partial new one is removed.
  if (!StopsTheProcess(status)) {
    AddWarning(Annotate(world_->storage.Remove(tmp, FileKind::kFile), tmp));
  }
  return status;
}

// Applies retention: keeps the newest checkpoints of the lineage (the one just
// committed is one of them), the permanent ones, and the newest finite one.
// Before that, removes the failed saves in pending_cleanup_. A checkpoint that
// could not be removed stays in lineage_, so that the next call tries again.
Status CheckpointStore::ApplyRetention() {
  for (const std::string& save : std::exchange(pending_cleanup_, {})) {
    AddWarning(RemoveFailedSave(save));
  }
  const std::vector<bool> surplus = FindSurplus(lineage_, options_.keep);
  if (std::ranges::count(surplus, true) == 0) return OkStatus();
  std::vector<CommittedCheckpoint> left;
  for (size_t i = 0; i < lineage_.size(); ++i) {
    if (!surplus[i]) {
      left.push_back(lineage_[i]);
      continue;
    }
    const std::string& name = lineage_[i].ref.name;
    const Status removed =
        RemoveCheckpoint(*world_, options_.directory, name, *record_);
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

Result<bool> CheckpointStore::FreeSpace() {
  if (!record_) return false;
  RETURN_IF_ERROR(CheckOwner(*world_, options_.directory, *record_));
  std::optional<size_t> newest;  // index of the newest valid one
  for (size_t i = lineage_.size(); i-- > 0 && !newest;) {
    const Status verified = VerifyCheckpoint(*world_, PathOf(lineage_[i].ref));
    if (verified.ok()) newest = i;
    if (StopsTheProcess(verified)) return verified;
  }
  if (!newest) return false;
  const std::optional<size_t> removable =
      FindOldestRemovable(lineage_, *newest);
  if (!removable) return false;
  const std::string name = lineage_[*removable].ref.name;
  const Status removed =
      RemoveCheckpoint(*world_, options_.directory, name, *record_);
  if (!removed.ok()) {
    RETURN_IF_ERROR(Warn(removed));
    return false;
  }
  lineage_.erase(lineage_.begin() + static_cast<ptrdiff_t>(*removable));
  world_->events.Emit({.kind = EventKind::kRetired, .path = PathOf(name)});
  warnings_.push_back(fmt::format(
      "out of disk space: deleted {} to make room for the next checkpoint",
      PathOf(name)));
  return true;
}

// Returns errors that stop the process; keeps all others for TakeWarnings.
Status CheckpointStore::Warn(const Status& status) {
  if (StopsTheProcess(status)) return status;
  AddWarning(status);
  return OkStatus();
}

void CheckpointStore::AddWarning(const Status& status) {
  if (!status.ok()) warnings_.push_back(status.message());
}

std::vector<std::string> CheckpointStore::TakeWarnings() {
  return std::exchange(warnings_, {});
}

Status CheckpointStore::DeleteAll() {
  RETURN_IF_ERROR(DeleteStore(*world_, options_.directory, record_));
  record_.reset();
  lineage_.clear();
  return OkStatus();
}

std::string CheckpointStore::PathOf(const CheckpointRef& ref) const {
  return PathOf(std::string_view(ref.name));
}

std::string CheckpointStore::PathOf(std::string_view name) const {
  return fmt::format("{}/{}", options_.directory, name);
}

}  // namespace gauntlet
