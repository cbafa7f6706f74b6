#include "engine/ckpt/generation_claim.h"

#include <algorithm>
#include <functional>
#include <set>

#include "engine/ckpt/block_writer.h"
#include "engine/ckpt/ownership.h"
#include "engine/ckpt/removal.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kMaxRounds = 64;

ClaimRecord NewRecord(World& world, const Tenure& tenure, uint64_t generation) {
  return {.generation = generation,
          .host = world.host.Name(),
          .launch = tenure.launch,
          .unix_seconds = world.clock.UnixSeconds(),
          .parent = {}};
}

Status FencedBy(World& world, uint64_t generation, uint64_t higher) {
  world.events.Emit({.kind = EventKind::kFencedOut, .generation = generation});
  return Fenced(fmt::format("generation {} is fenced by the claim {}",
                            generation, ClaimName(higher)));
}

Status CheckNotFenced(World& world, const std::string& directory,
                      uint64_t generation) {
  ASSIGN_OR_RETURN(const uint64_t highest, HighestClaim(world, directory));
  if (highest > generation) return FencedBy(world, generation, highest);
  return OkStatus();
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

ClaimRecord RecordOf(ClaimRecord record, const StoreScan& scan,
                     const ParentChoice& choice) {
  if (choice.lost) {
    record.state = ParentState::kRecorded;
    record.parent = *choice.lost;
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

bool IsParent(const ScannedCheckpoint& checkpoint, const ParentRecord& parent) {
  return checkpoint.manifest && checkpoint.parsed.step == parent.step &&
         checkpoint.GetPhase() == parent.phase &&
         checkpoint.manifest->head.state_digest == parent.state_digest;
}

// Gives the parent this generation's suffix. Another generation may have
// renamed it meanwhile: then it is looked for again, by what it holds.
// kNotFound: it is gone, another parent is to be chosen.
Result<CheckpointRef> Adopt(World& world, const std::string& directory,
                            const ClaimRecord& record, CheckpointName name) {
  for (int round = 0; round < kMaxRounds; ++round) {
    CheckpointName adopted = name;
    adopted.generation = record.generation;
    const std::string to = adopted.ToString();
    const Status renamed =
        name.ToString() == to
            ? OkStatus()
            : world.storage.Rename(directory + "/" + name.ToString(),
                                   directory + "/" + to);
    if (renamed.ok()) {
      RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
      return CheckpointRef{
          .name = to, .step = name.step, .generation = record.generation};
    }
    if (renamed.code() != Code::kNotFound) return renamed;
    ASSIGN_OR_RETURN(const StoreScan scan, ScanStore(world, directory));
    if (scan.highest_claim > record.generation) {
      return FencedBy(world, record.generation, scan.highest_claim);
    }
    const auto found =
        std::ranges::find_if(scan.checkpoints, [&](const auto& checkpoint) {
          return IsParent(checkpoint, record.parent);
        });
    if (found == scan.checkpoints.end()) {
      return NotFound(record.parent.name +
                      ": gone after it was recorded as parent");
    }
    name = found->parsed;
  }
  return Unavailable(record.parent.name + ": renamed again and again");
}

// The members that stay valid under the chosen parent, it last.
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

// Collects what fails without harm, and stops where the process is to stop.
class Chores {
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
  void Say(std::string line) { warnings_.push_back(std::move(line)); }
  std::vector<std::string> TakeWarnings() { return std::move(warnings_); }

 private:
  std::vector<std::string> warnings_;
};

Status SetAsideRejected(World& world, const std::string& directory,
                        const RecordedClaim& claim, Chores& chores) {
  for (const Rejection& rejection : claim.choice.rejected) {
    const std::string& name = claim.scan.checkpoints[rejection.checkpoint].name;
    RETURN_IF_ERROR(chores.Add(SetAside(world, directory, name)));
  }
  return OkStatus();
}

// Void: neither in the lineage that the parent leads to, nor rejected.
std::vector<std::string> VoidCheckpoints(const RecordedClaim& claim) {
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

Status RemoveSurplus(World& world, const std::string& directory,
                     std::span<const std::string> names, size_t kept,
                     Chores& chores) {
  if (names.size() <= kept) return OkStatus();
  for (const std::string& name : names.first(names.size() - kept)) {
    RETURN_IF_ERROR(chores.Add(RemoveCheckpoint(world, directory, name)));
  }
  return OkStatus();
}

// Names are in ascending order, which is ascending by step.
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

// Of those that are too many the oldest go; says of each one what became of it.
Status LimitRejected(World& world, const std::string& directory,
                     const RecordedClaim& claim, Chores& chores) {
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
    chores.Say(
        fmt::format("rejected {}: {} ({})", name, rejection.reason, fate));
  }
  for (const std::string& name : gone) {
    chores.Say(
        fmt::format("removed {}: the newest {} are kept", name, kKeptRejected));
  }
  return RemoveSurplus(world, directory, set_aside, kKeptRejected, chores);
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
    case EntryKind::kStateTmp:
    case EntryKind::kTokenTmp:
    case EntryKind::kTokenLook:
      return true;
    case EntryKind::kSaveTmp:
      return entry.parsed.generation < claim.record.generation;
    case EntryKind::kClaimLook:
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
      options.tenure.claimed > 0) {
    scanned = StoreScan();
  }
  ASSIGN_OR_RETURN(const StoreScan scan, std::move(scanned));
  RETURN_IF_ERROR(CheckNextGeneration(scan, directory));
  RETURN_IF_ERROR(CheckTenure(scan, options));
  uint64_t generation = scan.highest_generation + 1;
  for (int round = 0; round < kMaxRounds; ++round, ++generation) {
    const std::string text =
        EncodeClaim(NewRecord(world, options.tenure, generation));
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
                                   const std::string& job_json) {
  const std::string& directory = options.directory;
  for (int round = 0; round < kMaxRounds; ++round) {
    RecordedClaim claim;
    ASSIGN_OR_RETURN(claim.scan, ScanStore(world, directory));
    if (claim.scan.highest_claim > generation) {
      return FencedBy(world, generation, claim.scan.highest_claim);
    }
    Result<ParentChoice> choice =
        ChooseParent(world, options, claim.scan, job_json);
    if (choice.status().code() == Code::kNotFound) continue;
    RETURN_IF_ERROR(choice.status());
    claim.choice = std::move(choice).value();
    for (const Rejection& rejection : claim.choice.rejected) {
      EmitRejected(
          world,
          directory + "/" + claim.scan.checkpoints[rejection.checkpoint].name,
          rejection.reason);
    }
    claim.record = RecordOf(NewRecord(world, options.tenure, generation),
                            claim.scan, claim.choice);
    // What is adopted may be there by a rename that no one has synced yet.
    RETURN_IF_ERROR(world.storage.SyncDirectory(directory));
    RETURN_IF_ERROR(WriteRecord(world, directory, claim.record));
    RETURN_IF_ERROR(CheckNotFenced(world, directory, generation));
    if (!claim.choice.parent) return claim;
    claim.lineage = LineageUpTo(claim.scan, *claim.choice.parent);
    Result<CheckpointRef> parent =
        Adopt(world, directory, claim.record,
              claim.scan.checkpoints[*claim.choice.parent].parsed);
    if (parent.status().code() == Code::kNotFound) {
      // A late survivor has removed it. What was recorded is taken back: by it
      // all that is newer would be void, and what is not there would be owed.
      RETURN_IF_ERROR(WriteRecord(
          world, directory, NewRecord(world, options.tenure, generation)));
      continue;
    }
    ASSIGN_OR_RETURN(claim.parent, std::move(parent));
    claim.lineage.back().ref = *claim.parent;
    return claim;
  }
  return Unavailable(directory + ": its checkpoints keep going away");
}

Result<std::vector<std::string>> Tidy(World& world, const StoreOptions& options,
                                      const RecordedClaim& claim) {
  const std::string& directory = options.directory;
  Chores chores;
  if (std::string line = IgnoredStateFile(claim.scan); !line.empty()) {
    chores.Say(std::move(line));
  }
  for (std::string& line : MissingNewer(claim.scan, claim.choice)) {
    chores.Say(std::move(line));
  }
  RETURN_IF_ERROR(SetAsideRejected(world, directory, claim, chores));
  const std::vector<std::string> fenced = VoidCheckpoints(claim);
  for (const std::string& name : fenced) {
    world.events.Emit(
        {.kind = EventKind::kFencedFound, .path = directory + "/" + name});
  }
  RETURN_IF_ERROR(RemoveSurplus(world, directory, fenced, kKeptVoid, chores));
  RETURN_IF_ERROR(LimitRejected(world, directory, claim, chores));
  for (const ScannedEntry& entry : claim.scan.entries) {
    if (!IsLeftover(entry, claim)) continue;
    RETURN_IF_ERROR(chores.Add(
        RemoveTree(world, directory + "/" + entry.name, entry.kind)));
  }
  RETURN_IF_ERROR(chores.Add(world.storage.SyncDirectory(directory)));
  return chores.TakeWarnings();
}

}  // namespace gauntlet
