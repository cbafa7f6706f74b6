#include "engine/ckpt/protocol/generation_claim.h"

#include <algorithm>
#include <functional>
#include <set>

#include "engine/ckpt/io/block_writer.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/ckpt/protocol/removal.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kMaxRounds = 64;
constexpr int kRoundsBeforeRefusal = 4;

ClaimRecord NewRecord(World& world, const LaunchHold& launch_hold,
                      uint64_t generation) {
  return {.generation = generation,
          .host = world.host.Name(),
          .launch = launch_hold.launch,
          .unix_seconds = world.clock.UnixSeconds(),
          .parent = {}};
}

Status WriteRecord(World& world, const std::string& directory,
                   const ClaimRecord& record) {
  const std::string path = directory + "/" + ClaimName(record.generation);
  const std::string tmp = path + std::string(kTmpSuffix);
  const std::string text = EncodeClaim(record);
  RETURN_IF_ERROR(world.faults.Hit(
      Point::kClaimRecord, {.step = record.parent.step, .size = text.size()}));
  RETURN_IF_ERROR(WriteInBlocks(world, tmp, text,
                                {.mode = OpenMode::kCreateTruncate,
                                 .write_point = {},
                                 .sync_point = {}})
                      .status());
  RETURN_IF_ERROR(world.storage.Rename(tmp, path));
  return world.storage.SyncDirectory(directory);
}

// Returns true iff a worker of an older generation has renamed a checkpoint to
// remove it, and may be about to rename it back (removal.h).
bool IsBeingRemoved(const StoreScan& scan, uint64_t generation) {
  return std::ranges::any_of(scan.entries, [&](const ScannedEntry& entry) {
    const EntryName& taken = entry.parsed;
    return taken.kind == EntryKind::kDeleting && !taken.was_rejected &&
           taken.removed_by != 0 && taken.removed_by < generation;
  });
}

// Pauses before the next round, as other workers are changing the directory, or
// this host's listing of it is outdated.
void PauseBeforeRound(int round, Clock& clock) {
  constexpr Duration kFirst = std::chrono::milliseconds(10);
  constexpr Duration kLongest = std::chrono::seconds(4);
  Duration pause = kFirst;
  for (int i = 1; i < round && pause < kLongest; ++i) pause *= 2;
  clock.SleepUntil(clock.Now() + std::min(pause, kLongest));
}

ClaimRecord RecordOf(ClaimRecord record, const StoreScan& scan,
                     const ParentChoice& choice) {
  if (choice.lost_parent) {
    record.state = ParentState::kRecorded;
    record.parent = *choice.lost_parent;
    return record;
  }
  if (!choice.parent) {
    record.state = ParentState::kColdStart;
    return record;
  }
  const ScannedCheckpoint& parent = scan.checkpoints[*choice.parent];
  record.state = ParentState::kRecorded;
  record.parent = {.name = parent.name,
                   .step = parent.manifest->head.step,
                   .phase = parent.manifest->head.phase,
                   .state_digest = parent.manifest->head.state_digest,
                   .written_by = parent.WrittenBy()};
  return record;
}

// Returns the lineage that ends with the chosen parent, oldest first.
std::vector<CommittedCheckpoint> LineageUpTo(const StoreScan& scan,
                                             size_t parent) {
  std::vector<CommittedCheckpoint> lineage;
  const auto add = [&](size_t i) {
    const ScannedCheckpoint& checkpoint = scan.checkpoints[i];
    lineage.push_back(
        {.ref = {.name = checkpoint.name,
                 .step = checkpoint.parsed.step,
                 .generation = checkpoint.parsed.generation},
         .phase = checkpoint.GetPhase(),
         .state_digest = checkpoint.manifest->head.state_digest,
         .written_by = checkpoint.WrittenBy(),
         .written_at = checkpoint.manifest->written_at,
         .mark = checkpoint.manifest->mark,
         .not_finite_since = checkpoint.manifest->head.not_finite_since});
  };
  const auto at = std::ranges::find(scan.lineage.members, parent);
  if (at != scan.lineage.members.end()) {
    for (auto i = scan.lineage.members.end() - 1; i > at; --i) {
      if (scan.checkpoints[*i].manifest) add(*i);
    }
  }
  add(parent);
  return lineage;
}

// Collects failures of the cleanup as warnings. Add returns only errors that
// must stop the process.
class Cleanup {
 public:
  Status Add(const Status& status) {
    if (status.code() == Code::kCancelled || status.code() == Code::kFenced) {
      return status;
    }
    if (!status.ok() && status.code() != Code::kNotFound) {
      warnings_.push_back(status.message());
    }
    return OkStatus();
  }
  void Warn(std::string line) { warnings_.push_back(std::move(line)); }
  std::vector<std::string> TakeWarnings() { return std::move(warnings_); }

 private:
  std::vector<std::string> warnings_;
};

Status SetAsideRejected(World& world, const std::string& directory,
                        const RecordedClaim& claim, Cleanup& cleanup) {
  for (const Rejection& rejection : claim.choice.rejected) {
    const std::string& name = claim.scan.checkpoints[rejection.checkpoint].name;
    RETURN_IF_ERROR(
        cleanup.Add(SetAside(world, directory, name, claim.record)));
  }
  return OkStatus();
}

// Returns the fenced checkpoints: those that are neither in the parent's
// lineage nor rejected by this claim.
std::vector<std::string> FencedCheckpoints(const RecordedClaim& claim) {
  std::vector<std::string> names;
  for (size_t i = 0; i < claim.scan.checkpoints.size(); ++i) {
    const std::string& name = claim.scan.checkpoints[i].name;
    const bool valid = std::ranges::any_of(
        claim.lineage, [&](const auto& c) { return c.ref.name == name; });
    const bool rejected = std::ranges::any_of(
        claim.choice.rejected,
        [&](const Rejection& r) { return r.checkpoint == i; });
    if (!valid && !rejected && claim.choice.parent != i) names.push_back(name);
  }
  return names;
}

// Entries in ascending order; all but the last `kept` are to be removed.
struct SurplusNames {
  std::span<const std::string> names;
  size_t kept = 0;
};

Status RemoveSurplus(World& world, const std::string& directory,
                     const ClaimRecord& owner, const SurplusNames& surplus,
                     Cleanup& cleanup) {
  const auto& [names, kept] = surplus;
  if (names.size() <= kept) return OkStatus();
  for (const std::string& name : names.first(names.size() - kept)) {
    RETURN_IF_ERROR(
        cleanup.Add(RemoveCheckpoint(world, directory, name, owner)));
  }
  return OkStatus();
}

// Returns the names of the rejected checkpoints in ascending order, which is
// also the order of their steps.
std::vector<std::string> RejectedDirectories(
    const std::vector<DirectoryEntry>& listed) {
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : listed) {
    if (ParseEntryName(entry.name).kind == EntryKind::kRejected) {
      names.push_back(entry.name);
    }
  }
  return names;
}

// Removes the oldest rejected checkpoints beyond the limit. For each checkpoint
// that this claim rejected, adds a warning that says where the checkpoint is
// now.
Status LimitRejected(World& world, const std::string& directory,
                     const RecordedClaim& claim, Cleanup& cleanup) {
  ASSIGN_OR_RETURN(const auto listed, world.storage.List(directory));
  const std::vector<std::string> set_aside = RejectedDirectories(listed);
  const size_t surplus =
      set_aside.size() - std::min(set_aside.size(), kKeptRejected);
  std::set<std::string> gone(set_aside.begin(),
                             set_aside.begin() + std::ptrdiff_t(surplus));
  for (const Rejection& rejection : claim.choice.rejected) {
    const std::string& name = claim.scan.checkpoints[rejection.checkpoint].name;
    const std::string aside = std::string(kRejectedPrefix) + name;
    std::string fate = "left where it is";
    if (gone.erase(aside) > 0) {
      fate = fmt::format("removed: the newest {} are kept", kKeptRejected);
    } else if (std::ranges::find(set_aside, aside) != set_aside.end()) {
      fate = "kept as " + aside;
    }
    cleanup.Warn(
        fmt::format("rejected {}: {} ({})", name, rejection.reason, fate));
  }
  for (const std::string& name : gone) {
    cleanup.Warn(
        fmt::format("removed {}: the newest {} are kept", name, kKeptRejected));
  }
  return RemoveSurplus(world, directory, claim.record,
                       {.names = set_aside, .kept = kKeptRejected}, cleanup);
}

bool IsNeededClaim(uint64_t generation, const RecordedClaim& claim) {
  if (generation >= claim.record.generation) return true;
  uint64_t oldest_writer = claim.record.generation;
  for (const CommittedCheckpoint& checkpoint : claim.lineage) {
    oldest_writer = std::min(oldest_writer, checkpoint.written_by);
  }
  const auto& chain = claim.scan.lineage.generations;
  return generation >= oldest_writer &&
         std::ranges::find(chain, generation) != chain.end();
}

bool IsDirectory(FileKind kind) {
  return kind == FileKind::kDirectory || kind == FileKind::kDirectoryLink;
}

bool IsLeftover(const ScannedEntry& entry, const RecordedClaim& claim) {
  switch (entry.parsed.kind) {
    case EntryKind::kDeleting:
      return entry.parsed.removed_by <= claim.record.generation;
    case EntryKind::kStateTmp:
    case EntryKind::kTokenTmp:
    case EntryKind::kTokenProbe:
      return true;
    case EntryKind::kSaveTmp:
      return entry.parsed.generation < claim.record.generation;
    case EntryKind::kClaimProbe:
      return !IsDirectory(entry.kind);
    case EntryKind::kClaimTmp:
      return !IsDirectory(entry.kind) &&
             entry.parsed.generation < claim.record.generation;
    case EntryKind::kClaim:
      return !IsDirectory(entry.kind) &&
             !IsNeededClaim(entry.parsed.generation, claim);
    default:
      return false;
  }
}

}  // namespace

Result<uint64_t> CreateClaim(World& world, const StoreOptions& options) {
  const std::string& directory = options.directory;
  Result<StoreScan> scanned = ScanStore(world, directory);
  if (scanned.status().code() == Code::kNotFound &&
      options.launch_hold.claimed > 0) {
    scanned = StoreScan();
  }
  ASSIGN_OR_RETURN(const StoreScan scan, std::move(scanned));
  RETURN_IF_ERROR(CheckNextGeneration(scan, directory));
  RETURN_IF_ERROR(CheckLaunchHold(scan, options));
  uint64_t generation = scan.highest_generation + 1;
  for (int round = 0; round < kMaxRounds; ++round, ++generation) {
    const std::string text =
        EncodeClaim(NewRecord(world, options.launch_hold, generation));
    world.events.Emit({.kind = EventKind::kClaimBegin,
                       .count = static_cast<int64_t>(generation)});
    RETURN_IF_ERROR(
        world.faults.Hit(Point::kClaimCreate, {.size = text.size()}));
    const Status written =
        WriteInBlocks(world, directory + "/" + ClaimName(generation), text,
                      {.write_point = {}, .sync_point = {}})
            .status();
    if (written.code() == Code::kAlreadyExists) continue;
    RETURN_IF_ERROR(written);
    RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
    return generation;
  }
  return Unavailable(directory + ": others claim faster than this process");
}

Result<RecordedClaim> RecordParent(World& world, const StoreOptions& options,
                                   uint64_t generation,
                                   const std::string& job_json,
                                   const TensorPlaces& places) {
  const std::string& directory = options.directory;
  std::set<std::string> listed;  // checkpoints in any listing since the claim
  for (int round = 0; round < kMaxRounds; ++round) {
    RecordedClaim claim;
    if (round > 0) {
      PauseBeforeRound(round, world.clock);
      // An error here does no harm: at worst the next listing is outdated.
      (void)RefreshListing(world, directory, generation);
    }
    ASSIGN_OR_RETURN(claim.scan, ScanStore(world, directory));
    if (claim.scan.highest_claim > generation) {
      return FencedBy(world, generation, claim.scan.highest_claim);
    }
    ASSIGN_OR_RETURN(
        const bool came_back,
        UndoStaleRemovals(world, directory, claim.scan, generation, listed));
    if (came_back) continue;
    for (const ScannedCheckpoint& checkpoint : claim.scan.checkpoints) {
      listed.insert(checkpoint.name);
    }
    Result<ParentChoice> choice =
        ChooseParent(world, options, claim.scan, job_json, places);
    if (choice.status().code() == Code::kNotFound) continue;
    const bool refuses = choice.status().code() == Code::kFailedPrecondition;
    if (refuses && round < kRoundsBeforeRefusal &&
        IsBeingRemoved(claim.scan, generation)) {
      continue;
    }
    RETURN_IF_ERROR(choice.status());
    claim.choice = std::move(choice).value();
    for (const Rejection& rejection : claim.choice.rejected) {
      EmitRejected(
          world,
          directory + "/" + claim.scan.checkpoints[rejection.checkpoint].name,
          rejection.reason);
    }
    claim.record = RecordOf(NewRecord(world, options.launch_hold, generation),
                            claim.scan, claim.choice);
    // The rename that committed the parent may not be durable yet.
    RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
    RETURN_IF_ERROR(WriteRecord(world, directory, claim.record));
    RETURN_IF_ERROR(CheckNotFenced(world, directory, generation));
    if (!claim.choice.parent) return claim;
    claim.lineage = LineageUpTo(claim.scan, *claim.choice.parent);
    claim.parent = claim.lineage.back().ref;
    return claim;
  }
  return Unavailable(directory + ": its checkpoints keep going away");
}

Result<std::vector<std::string>> CollectGarbage(World& world,
                                                const StoreOptions& options,
                                                const RecordedClaim& claim) {
  const std::string& directory = options.directory;
  Cleanup cleanup;
  if (std::string line = IgnoredStateFile(claim.scan); !line.empty()) {
    cleanup.Warn(std::move(line));
  }
  for (std::string& line : MissingNewer(claim.scan, claim.choice)) {
    cleanup.Warn(std::move(line));
  }
  RETURN_IF_ERROR(SetAsideRejected(world, directory, claim, cleanup));
  const std::vector<std::string> fenced = FencedCheckpoints(claim);
  for (const std::string& name : fenced) {
    world.events.Emit(
        {.kind = EventKind::kFencedFound, .path = directory + "/" + name});
  }
  RETURN_IF_ERROR(RemoveSurplus(world, directory, claim.record,
                                {.names = fenced, .kept = kKeptFenced},
                                cleanup));
  RETURN_IF_ERROR(LimitRejected(world, directory, claim, cleanup));
  for (const ScannedEntry& entry : claim.scan.entries) {
    if (!IsLeftover(entry, claim)) continue;
    const Status removed =
        entry.parsed.kind == EntryKind::kDeleting
            ? FinishRemoval(world, directory, claim.scan, entry, claim.record)
            : RemoveTree(world, directory + "/" + entry.name, entry.kind);
    RETURN_IF_ERROR(cleanup.Add(removed));
  }
  RETURN_IF_ERROR(cleanup.Add(world.storage.SyncDirectory(directory)));
  return cleanup.TakeWarnings();
}

}  // namespace gauntlet
