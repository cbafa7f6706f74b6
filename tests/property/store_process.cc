#include "tests/property/store_process.h"

#include <array>

#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/format/claim_format.h"
#include "engine/ckpt/format/manifest.h"
#include "engine/ckpt/format/manifest_format.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/tensor_difference.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kHost = "host";
std::string PathOf(std::string_view name) {
  return fmt::format("{}/{}", kStore, name);
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

StoreProcess::StoreProcess(DurabilityProfile profile, std::set<PlantedBug> bugs)
    : bugs_(std::move(bugs)),
      simulation_(pool_, {.disk = {.profile = profile}}),
      disk_(simulation_.storage(std::string(kHost))) {}

std::string StoreProcess::Do(const StoreAction& action) {
  switch (action.verb) {
    case StoreVerb::kLive:
    case StoreVerb::kGone:
    case StoreVerb::kError: {
      Process process(*this);
      return Live(action, process);
    }
    case StoreVerb::kStay:
      stale_.push_back(std::make_unique<Process>(*this));
      return Live(action, *stale_.back());
    case StoreVerb::kLate:
      return Late();
    case StoreVerb::kRace:
      return Race(action);
    case StoreVerb::kDamage:
      return Damage(action);
    case StoreVerb::kEdit:
      return Edit(action);
    case StoreVerb::kMisedit:
      return Misedit();
    case StoreVerb::kForget:
      RemoveStateFile();
      return "";
    case StoreVerb::kPower: {
      stale_.clear();
      RandomStream stream(action.at, "power");
      simulation_.PowerLoss(std::string(kHost),
                            [&](uint64_t n) { return stream.Below(n); });
      return "";
    }
  }
  return "an unknown verb";
}

std::string StoreProcess::Live(const StoreAction& action, Process& process) {
  const bool disturbed =
      action.verb == StoreVerb::kGone || action.verb == StoreVerb::kError;
  if (disturbed) {
    process.storage.gate = [&action, count = uint64_t{0}](
                               StorageCall, const std::string&) mutable {
      const uint64_t operation = count++;
      if (action.verb == StoreVerb::kGone && operation >= action.at) {
        return Cancelled("gone");
      }
      return operation == action.at ? IoError("disk") : OkStatus();
    };
  }
  std::string wrong = Claim(process, action.keep);
  for (uint64_t i = 0; i < action.saves && wrong.empty() && process.store;
       ++i) {
    Status saved;
    wrong = SaveOnce(process, saved);
    if (saved.code() == Code::kCancelled) break;
    if (wrong.empty() && !saved.ok() && !disturbed) {
      wrong = "a save failed for no reason: " + saved.ToString();
    }
  }
  process.storage.gate = nullptr;
  return wrong;
}

// Claims a generation. Leaves process.store empty if the claim was refused for
// a valid reason.
std::string StoreProcess::Claim(Process& process, uint64_t keep) {
  ObserveClaims();
  process.keep = keep;
  least_kept_ = std::min<size_t>(least_kept_, keep);
  Result<CheckpointStore> store = CheckpointStore::Open(
      process.test.world,
      {.directory = std::string(kStore), .keep = static_cast<int>(keep)});
  if (!store.ok()) return CheckRefusal(process, store.status());
  const Result<gauntlet::Claim> claim =
      store->ClaimGeneration(std::string(kJob));
  if (!claim.ok()) return CheckRefusal(process, claim.status());
  process.store = std::move(store).value();
  process.generation = claim->generation;
  if (claim->parent) return CheckParent(process, *claim->parent);
  if (ledger_.HasAcknowledged()) {
    return "a cold start in spite of acknowledged checkpoints";
  }
  ledger_.Claimed(claim->generation, std::nullopt);
  return "";
}

std::string StoreProcess::CheckRefusal(const Process& process,
                                       const Status& status) const {
  const bool disturbed = process.storage.gate != nullptr;
  if (disturbed &&
      (status.code() == Code::kCancelled || status.code() == Code::kIoError)) {
    return "";
  }
  if (wanted_) return "an edit was not obeyed: " + status.ToString();
  if (status.code() != Code::kFailedPrecondition) {
    return "refused with an odd code: " + status.ToString();
  }
  if (const auto owed = ledger_.Owed()) {
    return fmt::format("refused though step {} is owed: {}", *owed,
                       status.message());
  }
  if (ledger_.AnyDamage()) return "";
  return "refused though nothing was damaged: " + status.message();
}

std::string StoreProcess::CheckParent(Process& process,
                                      const CheckpointRef& parent) {
  const auto loaded = process.store->Load(parent);
  const bool disturbed = process.storage.gate != nullptr;
  if (!loaded.ok() && !disturbed) {
    return "the chosen parent does not load: " + loaded.status().ToString();
  }
  if (loaded.ok() &&
      !CompareTensors(loaded->tensors, TestState(parent.step).Views())
           .empty()) {
    return parent.name + " holds other bytes than were saved";
  }
  for (const OnDisk& there : Committed()) {
    if (there.name != parent.name) continue;
    std::string wrong = CheckChoice(there);
    ledger_.Claimed(process.generation, there.key);
    ledger_.Retired(process.keep, KeysOnDisk());
    process.step = parent.step;
    return wrong;
  }
  return parent.name + " is not there";
}

std::string StoreProcess::CheckChoice(const OnDisk& parent) const {
  const uint64_t step = parent.key.step;
  if (damaged_names_.contains(parent.name)) {
    return parent.name + " was loaded though it is damaged";
  }
  if (wanted_) {
    if (*wanted_ == step) return "";
    return fmt::format("an edit asked for step {}, {} was loaded", *wanted_,
                       parent.name);
  }
  if (!ledger_.InLineage(parent.key)) return parent.name + " is fenced";
  if (const auto owed = ledger_.Owed(); owed && *owed > step) {
    return fmt::format("{} was loaded though step {} is owed", parent.name,
                       *owed);
  }
  for (const OnDisk& there : Committed()) {
    if (there.key.step > step && ledger_.InLineage(there.key) &&
        !damaged_keys_.contains(there.key)) {
      return fmt::format("{} was loaded, {} passed over", parent.name,
                         there.name);
    }
  }
  return "";
}

std::string StoreProcess::SaveOnce(Process& process, Status& saved) {
  saved = Save(*process.store, process.generation, ++process.step).status();
  return TakeAcknowledgements(process);
}

std::string StoreProcess::TakeAcknowledgements(Process& process) {
  const std::vector<LogEvent>& events = process.test.events.all;
  for (; process.events_seen < events.size(); ++process.events_seen) {
    const LogEvent& event = events[process.events_seen];
    if (event.kind != EventKind::kSaveAcknowledged) continue;
    const SavedKey key = {process.generation, event.step};
    ledger_.Acknowledged(key);
    ledger_.Retired(process.keep, KeysOnDisk());
    if (!ledger_.InLineage(key)) {
      return fmt::format(
          "step {} of generation {} was acknowledged, but is "
          "void",
          key.step, key.writer);
    }
  }
  return "";
}

std::string StoreProcess::Late() {
  if (stale_.empty()) return "";
  const auto process = std::move(stale_.front());
  stale_.erase(stale_.begin());
  if (!process->store) return "";
  const bool fenced = HighestClaimOnDisk() > process->generation;
  Status saved;
  std::string wrong = SaveOnce(*process, saved);
  if (!wrong.empty()) return wrong;
  if (fenced) {
    return saved.code() == Code::kFenced
               ? ""
               : "a stale process's save: " + saved.ToString();
  }
  return saved.ok() ? "" : "the owner's save failed: " + saved.ToString();
}

std::string StoreProcess::Race(const StoreAction& action) {
  Process outer(*this);
  std::string wrong = Claim(outer, action.keep);
  if (!wrong.empty() || !outer.store) return wrong;
  Process inner(*this);
  std::string inner_wrong;
  outer.storage.gate = [&, count = uint64_t{0}](StorageCall,
                                                const std::string&) mutable {
    if (count++ == action.at) inner_wrong = Claim(inner, action.keep);
    return OkStatus();
  };
  Status saved;
  wrong = SaveOnce(outer, saved);
  outer.storage.gate = nullptr;
  return inner_wrong.empty() ? wrong : inner_wrong;
}

std::string StoreProcess::Damage(const StoreAction& action) {
  const std::vector<OnDisk> committed = Committed();
  if (committed.empty()) return "";
  const OnDisk& victim = committed[action.at % committed.size()];
  if (damaged_names_.contains(victim.name)) return "";
  const std::string directory = PathOf(victim.name);
  const auto files = disk_.List(directory).value();
  const std::string path =
      directory + "/" + files[action.byte % files.size()].name;
  const auto file = disk_.Open(path, OpenMode::kReadWrite).value();
  const uint64_t offset = action.byte % file->Size().value();
  std::array<std::byte, 1> byte{};
  CHECK(file->ReadAt(offset, byte).ok(), path);
  byte[0] ^= std::byte{1} << (action.byte % 8);
  CHECK(file->WriteAt(offset, byte).ok() && file->Sync().ok(), path);
  damaged_names_.insert(victim.name);
  damaged_keys_.insert(victim.key);
  ledger_.Damaged(victim.key);
  return "";
}

std::string StoreProcess::Edit(const StoreAction& action) {
  ObserveClaims();
  std::vector<OnDisk> choices;
  for (const OnDisk& there : Committed()) {
    if (ledger_.IsAcknowledged(there.key) && ledger_.InLineage(there.key) &&
        !damaged_keys_.contains(there.key)) {
      choices.push_back(there);
    }
  }
  if (choices.empty()) return "";
  const OnDisk& choice = choices[action.at % choices.size()];
  WriteStateFile(fmt::format("latest: {}\n", choice.name));
  wanted_ = choice.key.step;
  Process process(*this);
  std::string wrong = Claim(process, action.keep);
  wanted_.reset();
  return wrong;
}

std::string StoreProcess::Misedit() {
  if (!disk_.List(std::string(kStore)).ok()) return "";
  WriteStateFile("latest: step-000000999-g999\n");
  Process process(*this);
  const Status status = Recover(process.test.world).status;
  RemoveStateFile();
  if (status.code() == Code::kInvalidArgument) return "";
  return "an edit to nothing: " + status.ToString();
}

void StoreProcess::WriteStateFile(const std::string& text) {
  const auto file =
      disk_.Open(PathOf(kStateFileName), OpenMode::kCreateTruncate).value();
  CHECK(file->WriteAt(0, BytesOf(text)).ok() && file->Sync().ok() &&
            disk_.SyncDirectory(std::string(kStore)).ok(),
        "the state file");
}

void StoreProcess::RemoveStateFile() {
  if (disk_.Remove(PathOf(kStateFileName), FileKind::kFile).ok()) {
    CHECK(disk_.SyncDirectory(std::string(kStore)).ok(), "the directory");
  }
}

std::vector<StoreProcess::OnDisk> StoreProcess::Committed() const {
  std::vector<OnDisk> found;
  const auto entries = disk_.List(std::string(kStore));
  if (!entries.ok()) return found;
  for (const DirectoryEntry& entry : *entries) {
    if (!CheckpointName::Parse(entry.name)) continue;
    const auto text =
        ReadFile(disk_, fmt::format("{}/{}", PathOf(entry.name), kManifestName),
                 kMaxManifestBytes);
    if (!text.ok()) continue;
    const Result<Manifest> manifest = ParseManifest(*text);
    if (!manifest.ok()) continue;
    found.push_back({.name = entry.name,
                     .key = {manifest->generation, manifest->head.step}});
  }
  return found;
}

std::vector<SavedKey> StoreProcess::KeysOnDisk() const {
  std::vector<SavedKey> keys;
  for (const OnDisk& there : Committed()) keys.push_back(there.key);
  return keys;
}

// Updates the ledger from the claims on the disk. Only the disk shows whether a
// process that died during its claim has recorded it, and whether a power loss
// has undone that.
void StoreProcess::ObserveClaims() {
  for (const uint64_t generation : unsure_claims_) {
    ledger_.Unclaimed(generation);
  }
  unsure_claims_.clear();
  const auto entries = disk_.List(std::string(kStore));
  if (!entries.ok()) return;
  for (const DirectoryEntry& entry : *entries) {
    if (ParseEntryName(entry.name).kind != EntryKind::kClaim) continue;
    const auto text = ReadFile(disk_, PathOf(entry.name), kMaxClaimBytes);
    const auto claim = text.ok() ? ParseClaim(*text) : text.status();
    if (!claim.ok() || claim->state == ParentState::kUnrecorded ||
        ledger_.Knows(claim->generation)) {
      continue;
    }
    std::optional<SavedKey> parent;
    if (claim->state == ParentState::kRecorded) {
      parent = SavedKey{claim->parent.written_by, claim->parent.step};
    }
    ledger_.Claimed(claim->generation, parent);
    ledger_.Retired(least_kept_, KeysOnDisk());
    unsure_claims_.insert(claim->generation);
  }
}

uint64_t StoreProcess::HighestClaimOnDisk() const {
  uint64_t highest = 0;
  const auto entries = disk_.List(std::string(kStore));
  if (!entries.ok()) return highest;
  for (const DirectoryEntry& entry : *entries) {
    const EntryName name = ParseEntryName(entry.name);
    if (name.kind == EntryKind::kClaim) {
      highest = std::max(highest, name.generation);
    }
  }
  return highest;
}

}  // namespace gauntlet
