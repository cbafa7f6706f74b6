#include "harness/oracle/store_model.h"

#include <algorithm>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Moment kEndOfTime = {.step = UINT64_MAX};
constexpr std::string_view kBeingWritten = ".tmp";

// "step-000000150-g3" names step 150 of generation 3.
bool NamesMoment(std::string_view name, const Moment& moment,
                 uint64_t generation) {
  return StepOfPath(name) == moment.step &&
         name.ends_with(fmt::format("-g{}", generation));
}

// Of "…/step-000000010-g1.tmp/model-00001-of-00002.safetensors" the checkpoint.
std::string_view CheckpointOfFile(std::string_view path) {
  std::string_view name = BaseName(path.substr(0, path.rfind('/')));
  if (name.ends_with(kBeingWritten)) name.remove_suffix(kBeingWritten.size());
  return name;
}

}  // namespace

StoreModel::StoreModel(const Record& record, Checks& checks)
    : record_(record), checks_(checks) {}

void StoreModel::On(const HistoryEvent& said) {
  const RecordEvent& event = *said.event;
  switch (said.by.kind) {
    case Emitter::Kind::kWorker: {
      const auto [at, is_new] = writers_.try_emplace(said.by);
      if (is_new) at->second.first_claim = claims_.size();
      return OnWorker(said.by, at->second, event);
    }
    case Emitter::Kind::kMachine:
      if (event.kind == RecordKind::kPowerCut && !event.about) LosePower(event);
      if (event.kind == RecordKind::kProcessEnded) NoteEnd(event);
      return;
    case Emitter::Kind::kLauncher:
      if (event.kind == RecordKind::kExited &&
          event.reason != RecordReason::kUnreachable) {
        NoteEnd(event);
      }
      return;
  }
}

void StoreModel::NoteEnd(const RecordEvent& event) {
  if (!event.about) return;
  const auto at = writers_.find({.kind = Emitter::Kind::kWorker,
                                 .worker = *event.about,
                                 .incarnation = event.incarnation});
  if (at != writers_.end()) at->second.has_ended = true;
}

void StoreModel::OnWorker(const Emitter& by, Writer& writer,
                          const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kClaimBegin:
      return ClaimBegin(by, writer, event);
    case RecordKind::kGeneration:
      return Claimed(by, writer, event);
    case RecordKind::kInitialized:
      CheckVoidFound(by, writer);
      return Initialized(by, event);
    case RecordKind::kResumed:
    case RecordKind::kCarriedOn:
      return CheckVoidFound(by, writer);
    case RecordKind::kStep:
      // What is done beside the training may take as long as it takes.
      if (!record_.setup.saves_beside) CheckRemovalIsOver(by, writer);
      return;
    case RecordKind::kSaveBegin:
      CheckRemovalIsOver(by, writer);
      return SaveBegin(by, writer, event);
    case RecordKind::kSaveAcknowledged:
      return Acknowledged(by, writer, event);
    case RecordKind::kSaveFailed:
      return SaveFailed(by, writer, event);
    case RecordKind::kRetireBegin:
      return RetireBegin(by, writer, event);
    case RecordKind::kRetired:
      return Retired(by, writer, event);
    case RecordKind::kRejected:
    case RecordKind::kRejectBegin:
      return Rejected(by, writer, event);
    case RecordKind::kFencedFound:
      return FencedFound(by, writer, event);
    case RecordKind::kLoaded:
    case RecordKind::kLoadFailed:
      return Loaded(by, writer, event);
    case RecordKind::kDamaged:
      return Damage(event);
    case RecordKind::kDeleteBegin:
      return DeleteBegin(by, writer, event);
    case RecordKind::kBackupDeleted:
      return Deleted(by, writer, event);
    case RecordKind::kLifeEnd:
      return CheckEndOf(by, writer, event);
    case RecordKind::kFinished:
      if (!record_.setup.saves_beside) CheckRemovalIsOver(by, writer);
      writer.finished = true;
      writer.is_finite = event.count == 0;
      return;
    case RecordKind::kResultAcknowledged:
      writer.acknowledged = true;
      return;
    case RecordKind::kFencedOut:
      writer.fenced = true;
      return;
    case RecordKind::kFaultFired:
    case RecordKind::kFaultAgain: {
      const auto fault =
          std::ranges::find(record_.faults, event.detail, &RecordFault::id);
      if (fault == record_.faults.end()) return;
      const FaultTraits traits = TraitsOf(*fault);
      if (traits.tells_error) {
        writer.met_error = writer.removal_met_error = true;
      }
      if (traits.may_end_life) is_held_up_ = true;
      if (fault->kind == "fsync_fails" && head_) VoidSave(event);
      return;
    }
    default:
      return;
  }
}

std::optional<size_t> StoreModel::Find(std::string_view path) const {
  const auto at = newest_.find(BaseName(path));
  return at == newest_.end() ? std::nullopt : std::optional(at->second);
}

const StoreModel::Claim* StoreModel::ClaimOf(uint64_t number) const {
  const auto at = std::ranges::find(claims_.rbegin(), claims_.rend(), number,
                                    &Claim::number);
  return at == claims_.rend() ? nullptr : &*at;
}

StoreModel::Lineage StoreModel::LineageOf(std::optional<size_t> claim) const {
  Lineage lineage;
  Moment until = kEndOfTime;
  while (claim && lineage.try_emplace(*claim, until).second) {
    const std::optional<size_t>& parent = claims_[*claim].parent;
    if (!parent) break;
    until = all_[*parent].moment;
    claim = all_[*parent].writer;
  }
  return lineage;
}

bool StoreModel::IsIn(const Lineage& lineage,
                      const Checkpoint& checkpoint) const {
  const auto writer = lineage.find(checkpoint.writer);
  return writer != lineage.end() && checkpoint.moment <= writer->second;
}

bool StoreModel::IsOwed(const Checkpoint& checkpoint) const {
  return checkpoint.acknowledged && !checkpoint.in_doubt && !checkpoint.gone &&
         !checkpoint.damaged && IsIn(lineage_, checkpoint);
}

const StoreModel::Checkpoint* StoreModel::NewestOwed() const {
  const Checkpoint* newest = nullptr;
  for (const Checkpoint& one : all_) {
    if (!IsOwed(one)) continue;
    if (newest == nullptr || one.moment >= newest->moment) newest = &one;
  }
  return newest;
}

void StoreModel::ClaimBegin(const Emitter& by, Writer& writer,
                            const RecordEvent& event) {
  if (writer.tries_for == event.count && !writer.met_error) {
    checks_.history_consistent.Breach(
        "claims", fmt::format("{} tries twice for generation {}", NameOf(by),
                              event.count));
  }
  writer.tries_for = event.count;
  is_disturbed_ = is_disturbed_ || (head_ && claims_[*head_].chief != by);
  writer.tries = ++tries_;
  writer.saves.reset();
  writer.removes.reset();
  writer.rejected.clear();
  writer.set_aside.clear();
  writer.found_void.clear();
}

void StoreModel::Claimed(const Emitter& by, Writer& writer,
                         const RecordEvent& event) {
  is_used_ = true;
  if (writer.tries_for != static_cast<int64_t>(event.generation)) {
    checks_.history_consistent.Breach(
        "claims",
        fmt::format("{} claims generation {}, and had not tried for it",
                    NameOf(by), event.generation));
  }
  writer.tries_for.reset();
  const bool is_newer = !head_ || claims_[*head_].number < event.generation;
  if (!is_newer && !lied_ && !deleting_) {
    checks_.history_consistent.Breach(
        "claims",
        fmt::format("{} claims generation {} behind generation {}", NameOf(by),
                    event.generation, claims_[*head_].number));
  }
  const std::optional<size_t> parent = Find(event.path);
  CheckParent(by, event, parent);
  claims_.push_back({.number = event.generation,
                     .chief = by,
                     .parent = parent,
                     .behind_saves = saved_});
  if (saved_) checks_.no_cold_start.Instance();
  // Who is still there may leave what this claim does not find.
  is_disturbed_ = std::ranges::any_of(writers_, [&](const auto& other) {
    return other.first != by && other.second.claim && !other.second.has_ended;
  });
  head_ = writer.claim = claims_.size() - 1;
  if (parent) {
    Checkpoint& of_parent = all_[*parent];
    if (of_parent.digest.empty()) of_parent.not_finite_since = event.count;
    if (of_parent.not_finite_since != event.count) {
      checks_.resume_point.Breach(
          "other-state",
          fmt::format("{}: not finite since step {}, as it was saved since "
                      "step {}",
                      of_parent.name, event.count, of_parent.not_finite_since));
    }
    of_parent.acknowledged = true;
    of_parent.in_doubt = of_parent.gone = false;
    // Every byte of it was read, since the first try for a claim.
    if (of_parent.damaged_at < writer.tries) of_parent.damaged = false;
    saved_ = true;
  }
  lineage_ = LineageOf(head_);
}

void StoreModel::CheckParent(const Emitter& by, const RecordEvent& event,
                             std::optional<size_t> parent) {
  checks_.resume_point.Instance();
  const Checkpoint* const owed = NewestOwed();
  if (!event.path.empty() && !parent) {
    return checks_.resume_point.Breach(
        "unknown-checkpoint",
        fmt::format("{} goes on from {}, whose save nobody had begun",
                    NameOf(by), BaseName(event.path)));
  }
  if (owed != nullptr && (!parent || all_[*parent].moment < owed->moment)) {
    return checks_.resume_point.Breach(
        "stale-resume",
        fmt::format("{} goes on from {}, but {} was acknowledged", NameOf(by),
                    parent ? all_[*parent].name : "nothing", owed->name));
  }
  if (!parent) return;
  const Checkpoint& chosen = all_[*parent];
  if (chosen.gone && !lied_ && !deleting_) {
    checks_.resume_point.Breach(
        "unknown-checkpoint",
        fmt::format("{} goes on from {}, which was removed, or found bad",
                    NameOf(by), chosen.name));
  } else if (head_ && !IsIn(lineage_, chosen) && !lied_ && !deleting_) {
    checks_.store.Breach(
        "fenced-read",
        fmt::format("{} goes on from {}, which its lineage makes void",
                    NameOf(by), chosen.name));
  }
}

// A start from nothing is one where nothing had been acknowledged; on a disk
// that has forgotten all, where the claim itself finds nothing either.
void StoreModel::Initialized(const Emitter& by, const RecordEvent& event) {
  const Claim* const claim = ClaimOf(event.generation);
  if (record_.setup.allow_cold_start || claim == nullptr) return;
  const Writer& chief = writers_.at(claim->chief);
  const bool found_any =
      lied_ && !(chief.found_void.empty() && chief.rejected.empty());
  if (!claim->behind_saves && !found_any) return;
  checks_.no_cold_start.Breach(
      "cold-start",
      fmt::format("{} started from nothing, and checkpoints had been "
                  "acknowledged",
                  NameOf(by)));
}

void StoreModel::SaveBegin(const Emitter& by, Writer& writer,
                           const RecordEvent& event) {
  if (writer.saves) {
    checks_.store.Breach(
        "no-outcome", fmt::format("{} saves {}, and never said what became of "
                                  "{}",
                                  NameOf(by), BaseName(event.path),
                                  all_[*writer.saves].name));
  }
  const std::string_view name = BaseName(event.path);
  if (const size_t end = event.path.rfind('/'); end != event.path.npos) {
    directory_ = std::string_view(event.path).substr(0, end);
  }
  const Moment moment = {.step = event.step, .phase = event.phase};
  if (!writer.claim || claims_[*writer.claim].number != event.generation ||
      !NamesMoment(name, moment, event.generation)) {
    checks_.store.Breach(
        "name",
        fmt::format("{} saves step {} of generation {} as {}", NameOf(by),
                    ToText(moment), event.generation, name));
  }
  all_.push_back({.name = name,
                  .moment = moment,
                  .writer = writer.claim.value_or(0),
                  .damaged = damaged_names_.contains(name)});
  writer.saves = newest_[name] = all_.size() - 1;
}

void StoreModel::Acknowledged(const Emitter& by, Writer& writer,
                              const RecordEvent& event) {
  const std::optional<size_t> saves = std::exchange(writer.saves, {});
  checks_.store.Instance();
  if (!saves || all_[*saves].name != BaseName(event.path) ||
      all_[*saves].moment != Moment{.step = event.step, .phase = event.phase}) {
    return checks_.store.Breach(
        "not-begun", fmt::format("{} says that {} is saved, and had not begun "
                                 "to save it",
                                 NameOf(by), BaseName(event.path)));
  }
  Checkpoint& saved = all_[*saves];
  if (saved.failed) {
    checks_.store.Breach("failed-sync",
                         fmt::format("{} acknowledged {}, of which a sync had "
                                     "failed",
                                     NameOf(by), saved.name));
  }
  saved.digest = event.digest;
  saved.not_finite_since = event.count;
  saved.acknowledged = true;
  saved.in_doubt = false;
  saved_ = true;
  writer.may_free_room = false;
  const bool is_superseded = saved.writer + 1 < claims_.size();
  if (!is_superseded || lied_ || deleting_) return;
  if (IsIn(LineageOf(saved.writer + 1), saved)) return;
  checks_.resume_point.Breach(
      "fenced-save",
      fmt::format("{} of generation {} acknowledged {}, and generation {} goes "
                  "on without it",
                  NameOf(by), event.generation, saved.name,
                  claims_[saved.writer + 1].number));
}

// A sync that has failed once says nothing of the bytes when it is tried again:
// the save is void.
void StoreModel::VoidSave(const RecordEvent& fired) {
  constexpr std::string_view kOfTheSave[] = {
      "ckpt.shard.fsync", "ckpt.manifest.fsync", "ckpt.index.fsync"};
  if (std::ranges::find(kOfTheSave, fired.path) == std::end(kOfTheSave)) return;
  const Writer& chief = writers_.at(claims_[*head_].chief);
  if (chief.saves) all_[*chief.saves].failed = true;
}

void StoreModel::SaveFailed(const Emitter& by, Writer& writer,
                            const RecordEvent& event) {
  writer.may_free_room = event.reason == RecordReason::kDiskFull;
  const std::optional<size_t> saves = std::exchange(writer.saves, {});
  // One that fails before it has a name was never begun.
  if (event.path.empty()) return;
  if (!saves || all_[*saves].name != BaseName(event.path) ||
      all_[*saves].moment.step != event.step) {
    return checks_.store.Breach(
        "not-begun",
        fmt::format("{} says that the save of {} failed, and had not begun it",
                    NameOf(by), BaseName(event.path)));
  }
  all_[*saves].failed = all_[*saves].damaged = true;
}

void StoreModel::RetireBegin(const Emitter& by, Writer& writer,
                             const RecordEvent& event) {
  CheckRemovalIsOver(by, writer);
  const std::optional<size_t> index = Find(event.path);
  if (!index) return;  // one that was set aside
  Checkpoint& retired = all_[*index];
  const bool is_owners = writer.claim == head_;
  if (!writer.deletes && is_owners && IsOwed(retired)) {
    CheckRetirement(by, writer, retired);
    writer.removes_owed = true;
  }
  writer.removes = index;
  writer.removal_met_error = false;
  retired.in_doubt = true;
}

// It leaves as many newer ones as retention keeps, and a finite one.
void StoreModel::CheckRetirement(const Emitter& by, const Writer& writer,
                                 const Checkpoint& retired) {
  checks_.store.Instance();
  int newer = 0;
  bool finite = false;
  for (const Checkpoint& one : all_) {
    if (!one.acknowledged || one.gone || one.in_doubt ||
        one.moment <= retired.moment || !IsIn(lineage_, one)) {
      continue;
    }
    ++newer;
    finite = finite || one.not_finite_since == 0;
  }
  const int least = writer.may_free_room ? 1 : std::max(1, record_.setup.keep);
  if (newer < least) {
    checks_.store.Breach(
        "retired-newest",
        fmt::format("{} retired {} with {} newer checkpoints, expected at "
                    "least {}",
                    NameOf(by), retired.name, newer, least));
  }
  if (retired.not_finite_since == 0 && !finite) {
    checks_.store.Breach("retired-finite",
                         fmt::format("{} retired {}, and no later checkpoint "
                                     "with a finite state is there",
                                     NameOf(by), retired.name));
  }
}

void StoreModel::Retired(const Emitter& by, Writer& writer,
                         const RecordEvent& event) {
  const std::optional<size_t> removes = std::exchange(writer.removes, {});
  writer.removes_owed = false;
  checks_.store.Instance();
  if (!removes || all_[*removes].name != BaseName(event.path)) {
    return checks_.store.Breach(
        "not-begun", fmt::format("{} says that it has removed {}, and had not "
                                 "begun to",
                                 NameOf(by), BaseName(event.path)));
  }
  Checkpoint& retired = all_[*removes];
  retired.gone = true;
  const bool is_parent =
      writer.claim &&
      std::any_of(claims_.begin() + static_cast<ptrdiff_t>(*writer.claim) + 1,
                  claims_.end(),
                  [&](const Claim& claim) { return claim.parent == removes; });
  if (!is_parent) return;
  checks_.store.Breach(
      "retired-parent",
      fmt::format("{} retired {}, which a newer generation had claimed as its "
                  "parent",
                  NameOf(by), retired.name));
}

// What is owed is removed to the end, unless the disk refuses, or a newer claim
// is found.
void StoreModel::CheckRemovalIsOver(const Emitter& by, Writer& writer) {
  const std::optional<size_t> removes = std::exchange(writer.removes, {});
  const bool was_owed = std::exchange(writer.removes_owed, false);
  if (!removes || !was_owed || writer.removal_met_error ||
      writer.claim != head_) {
    return;
  }
  checks_.store.Breach("no-outcome",
                       fmt::format("{} never said whether it had removed {}",
                                   NameOf(by), all_[*removes].name));
}

void StoreModel::Rejected(const Emitter& by, Writer& writer,
                          const RecordEvent& event) {
  const std::optional<size_t> index = Find(event.path);
  if (event.kind == RecordKind::kRejectBegin) {
    const bool is_new = index && writer.set_aside.insert(*index).second;
    if (is_new && writer.rejected.contains(*index)) return;
    if (index && !is_new && writer.met_error) return;
    return checks_.store.Breach(
        "not-begun",
        fmt::format("{} sets {} aside, and had not said why, or did so before",
                    NameOf(by), BaseName(event.path)));
  }
  checks_.store.Instance();
  if (!index) {
    return checks_.store.Breach(
        "unknown", fmt::format("{} rejects {}, whose save nobody had begun",
                               NameOf(by), BaseName(event.path)));
  }
  Checkpoint& bad = all_[*index];
  if (!writer.rejected.insert(*index).second) {
    checks_.store.Breach(
        "twice", fmt::format("{} rejects {} twice", NameOf(by), bad.name));
  }
  if (!bad.damaged) {
    checks_.store.Breach(
        "does-not-verify",
        fmt::format("{} rejects {} ({}), and nothing has damaged it",
                    NameOf(by), bad.name, event.detail));
  }
  bad.damaged = bad.gone = true;
}

void StoreModel::FencedFound(const Emitter& by, Writer& writer,
                             const RecordEvent& event) {
  checks_.store.Instance();
  const std::optional<size_t> index = Find(event.path);
  if (!index) {
    return checks_.store.Breach(
        "unknown", fmt::format("{} finds {} void, whose save nobody had begun",
                               NameOf(by), BaseName(event.path)));
  }
  const Checkpoint& found = all_[*index];
  if (!writer.found_void.insert(*index).second) {
    checks_.store.Breach(
        "twice", fmt::format("{} finds {} void twice", NameOf(by), found.name));
  }
  // Of which lineage it is cannot be read in one that is damaged.
  if (lied_ || found.damaged || !IsIn(LineageOf(writer.claim), found)) return;
  checks_.store.Breach("false-void",
                       fmt::format("{} finds {} void, which is of its lineage",
                                   NameOf(by), found.name));
}

// A claim says of each checkpoint that it makes void that it found it.
void StoreModel::CheckVoidFound(const Emitter& by, const Writer& writer) {
  if (!writer.claim || lied_ || deleting_) return;
  for (const size_t rejected : writer.rejected) {
    if (writer.set_aside.contains(rejected) || writer.met_error) continue;
    checks_.store.Breach("not-set-aside",
                         fmt::format("{} rejected {}, and has not set it aside",
                                     NameOf(by), all_[rejected].name));
  }
  const Lineage lineage = LineageOf(writer.claim);
  for (size_t i = 0; i < all_.size(); ++i) {
    const Checkpoint& one = all_[i];
    const bool is_there = one.acknowledged && !one.in_doubt && !one.gone &&
                          !one.damaged && newest_.at(one.name) == i;
    if (!is_there || one.writer >= *writer.claim || IsIn(lineage, one) ||
        writer.found_void.contains(i)) {
      continue;
    }
    checks_.store.Breach(
        "void-not-found",
        fmt::format("{} claims generation {}, and does not say that {} is void",
                    NameOf(by), claims_[*writer.claim].number, one.name));
  }
}

void StoreModel::Loaded(const Emitter& by, const Writer& writer,
                        const RecordEvent& event) {
  checks_.store.Instance();
  const std::optional<size_t> index = Find(event.path);
  if (!index) {
    return checks_.store.Breach(
        "unknown", fmt::format("{} loads {}, whose save nobody had begun",
                               NameOf(by), BaseName(event.path)));
  }
  const Checkpoint& loaded = all_[*index];
  if (event.kind == RecordKind::kLoadFailed) {
    const bool may_be_bad = loaded.damaged || loaded.in_doubt || loaded.gone;
    if (may_be_bad || writer.met_error) return;
    return checks_.store.Breach(
        "does-not-verify",
        fmt::format("{} cannot load {} ({}), and nothing has damaged it",
                    NameOf(by), loaded.name, RecordReasonName(event.reason)));
  }
  if (event.step != loaded.moment.step ||
      (!loaded.digest.empty() && event.digest != loaded.digest)) {
    checks_.store.Breach(
        "torn-load",
        fmt::format("{} loaded state {} of step {} from {}, saved was {}",
                    NameOf(by), event.digest, event.step, loaded.name,
                    loaded.digest));
  }
  // Of the claims that it may know of.
  bool is_void = !claims_.empty() && !lied_ && !deleting_;
  const size_t first = writer.first_claim == 0 ? 0 : writer.first_claim - 1;
  for (size_t claim = first; claim < claims_.size() && is_void; ++claim) {
    is_void = !IsIn(LineageOf(claim), loaded);
  }
  if (!is_void) return;
  checks_.store.Breach("fenced-read",
                       fmt::format("{} loaded {}, which its lineage makes void",
                                   NameOf(by), loaded.name));
}

void StoreModel::Damage(const RecordEvent& event) {
  const auto fault =
      std::ranges::find(record_.faults, event.detail, &RecordFault::id);
  if (fault == record_.faults.end() || !TraitsOf(*fault).damages_store) return;
  const std::string_view name = CheckpointOfFile(event.path);
  if (const std::optional<size_t> index = Find(name)) {
    all_[*index].damaged = true;
    all_[*index].damaged_at = tries_;
  } else {
    damaged_names_.insert(name);
  }
}

void StoreModel::DeleteBegin(const Emitter& by, Writer& writer,
                             const RecordEvent& event) {
  checks_.checkpoints_deleted.Instance();
  if (!record_.setup.delete_at_success) {
    checks_.checkpoints_deleted.Breach(
        "deleted",
        fmt::format("{} deletes checkpoints that are to be kept", NameOf(by)));
  }
  const bool elsewhere = !directory_.empty() && event.path != directory_;
  if (writer.deletes || elsewhere) {
    checks_.checkpoints_deleted.Breach(
        "deleted", fmt::format("{} deletes {}, the checkpoints are in {}{}",
                               NameOf(by), event.path, directory_,
                               writer.deletes ? "; it had begun before" : ""));
  }
  if (!writer.claim || writer.claim != head_) {
    checks_.checkpoints_deleted.Breach(
        "deleted", fmt::format("{} deletes the checkpoints of a later "
                               "generation",
                               NameOf(by)));
  }
  CheckRemovalIsOver(by, writer);
  writer.deletes = event.path;
  deleting_ = true;
  saved_ = false;
  for (Checkpoint& one : all_) one.in_doubt = true;
}

void StoreModel::Deleted(const Emitter& by, Writer& writer,
                         const RecordEvent& event) {
  writer.has_deleted = true;
  if (std::exchange(writer.deletes, std::nullopt) != event.path) {
    checks_.checkpoints_deleted.Breach(
        "deleted", fmt::format("{} has deleted checkpoints, and had not begun "
                               "to",
                               NameOf(by)));
  }
  saved_ = false;
  // Whoever came meanwhile may have lost what it had, or not.
  for (Checkpoint& one : all_) {
    one.in_doubt = true;
    if (writer.claim && one.writer <= *writer.claim) one.gone = true;
  }
}

void StoreModel::CheckEndOf(const Emitter& by, Writer& writer,
                            const RecordEvent& event) {
  if (IsOrderlyExit(event.count) && writer.saves) {
    checks_.store.Breach(
        "no-outcome", fmt::format("{} never said what became of {}", NameOf(by),
                                  all_[*writer.saves].name));
  }
  if (IsOrderlyExit(event.count)) CheckRemovalIsOver(by, writer);
  if (writer.claim && IsExit(event.count, {WorkerExit::kDone})) {
    CheckDeletion(by, writer);
  }
  writer.ended_well = IsOrderlyExit(event.count);
}

// Who has finished, and was told to, deletes all, once its result is
// acknowledged: something may keep that from coming.
void StoreModel::CheckDeletion(const Emitter& by, const Writer& writer) {
  if (!record_.setup.delete_at_success || !writer.finished ||
      !writer.is_finite || writer.fenced || writer.met_error) {
    return;
  }
  checks_.checkpoints_deleted.Instance();
  if (writer.has_deleted || (!writer.acknowledged && is_held_up_)) return;
  checks_.checkpoints_deleted.Breach(
      "not-deleted",
      fmt::format("{} finished, and has not deleted the checkpoints",
                  NameOf(by)));
}

// What a disk has forgotten that lies about syncs is owed to nobody.
void StoreModel::LosePower(const RecordEvent& event) {
  constexpr std::string_view kLyingDisk = "lying-fsync";
  if (event.detail != kLyingDisk) return;
  lied_ = true;
  saved_ = false;
  for (Checkpoint& one : all_) {
    one.acknowledged = one.gone = false;
    one.in_doubt = one.damaged = true;
  }
}

void StoreModel::CheckRefusal() {
  if (record_.launchers.empty() || !IsExit(record_.launchers.back().exit_code,
                                           {WorkerExit::kNoCheckpoint})) {
    return;
  }
  checks_.clean_refusal.Instance();
  bool is_any_left = false;
  bool is_any_bad = lied_ || deleting_;
  for (const Checkpoint& one : all_) {
    is_any_left = is_any_left || (one.acknowledged && !one.in_doubt);
    is_any_bad = is_any_bad || one.damaged;
    if (!IsOwed(one)) continue;
    checks_.clean_refusal.Breach(
        "unneeded-refusal",
        fmt::format("refused, but {} was acknowledged and not damaged",
                    one.name));
  }
  if (!is_any_bad) {
    checks_.clean_refusal.Breach("unneeded-refusal",
                                 "refused, but no checkpoint is bad");
  }
  if (record_.launchers.back().result) {
    checks_.clean_refusal.Breach(
        "with-a-result", fmt::format("refused, and yet says that it is {}",
                                     record_.launchers.back().result->status));
  }
  const Leftovers& left = record_.left;
  if (left.store_listed && is_any_left && left.checkpoints.empty() &&
      left.rejected.empty()) {
    checks_.clean_refusal.Breach("no-evidence-kept",
                                 "refused, and nothing is left to look at of "
                                 "what had been acknowledged");
  }
}

void StoreModel::End() {
  CheckRefusal();
  if (!record_.left.store_listed) return;
  for (const StoredCheckpoint& left : record_.left.checkpoints) CheckLeft(left);
  CheckNames();
  CheckMissing();
  if (!IsTidy()) return;
  checks_.store.Instance();
  CheckRetention();
  CheckTemporary();
}

void StoreModel::CheckLeft(const StoredCheckpoint& left) {
  checks_.store.Instance();
  const std::optional<size_t> index = Find(left.name);
  if (!index) {
    return checks_.store.Breach(
        "unknown",
        fmt::format("{} is there, whose save nobody had begun", left.name));
  }
  const Checkpoint& found = all_[*index];
  if (!left.valid && !found.damaged) {
    checks_.store.Breach(
        "does-not-verify",
        fmt::format("{} does not verify ({}), and nothing has damaged it",
                    left.name, left.reason));
  }
  if (found.gone && !found.damaged && !lied_) {
    checks_.store.Breach("came-back", fmt::format("{} is there, and had been "
                                                  "removed",
                                                  left.name));
  }
  if (!left.valid || !found.acknowledged) return;
  const bool same_state =
      found.digest.empty() ||
      (left.digest == found.digest &&
       left.not_finite_since == static_cast<uint64_t>(found.not_finite_since));
  if (same_state) return;
  checks_.store.Breach(
      "other-state",
      fmt::format("{} has state {} (not finite since step {}), saved was {} "
                  "(since step {})",
                  left.name, left.digest, left.not_finite_since, found.digest,
                  found.not_finite_since));
}

// What is set aside, or half written, is of a save that was begun.
void StoreModel::CheckNames() {
  constexpr std::string_view kSetAside = "rejected-";
  std::vector<std::string_view> names;
  for (std::string_view name : record_.left.rejected) {
    if (name.starts_with(kSetAside)) name.remove_prefix(kSetAside.size());
    names.push_back(name);
  }
  for (std::string_view name : record_.left.temporary) {
    if (!StepOfPath(name) || !name.ends_with(kBeingWritten)) continue;
    name.remove_suffix(kBeingWritten.size());
    names.push_back(name);
  }
  for (const std::string_view name : names) {
    if (Find(name)) continue;
    checks_.store.Breach(
        "unknown", fmt::format("something of {} is there, whose save nobody "
                               "had begun",
                               name));
  }
}

// All that is owed is there.
void StoreModel::CheckMissing() {
  for (const Checkpoint& one : all_) {
    if (!IsOwed(one)) continue;
    checks_.store.Instance();
    if (std::ranges::any_of(record_.left.checkpoints,
                            [&](const StoredCheckpoint& left) {
                              return left.name == one.name && left.valid;
                            })) {
      continue;
    }
    checks_.store.Breach(
        "newest-lost",
        fmt::format("{} was acknowledged, and is not left", one.name));
  }
}

// The newest claim's chief, where it ended in good order with nothing in its
// way: it leaves as many as retention keeps, and nothing half done.
bool StoreModel::IsTidy() const {
  if (!head_ || is_disturbed_ || lied_) return false;
  if (record_.launchers.empty() ||
      !IsOrderlyExit(record_.launchers.back().exit_code)) {
    return false;
  }
  const Writer& chief = writers_.at(claims_[*head_].chief);
  if (deleting_ && !chief.has_deleted) return false;
  return chief.ended_well && !chief.met_error;
}

// Beside the newest ones it may keep the newest finite one.
void StoreModel::CheckRetention() {
  const auto keep = static_cast<size_t>(record_.setup.keep);
  std::vector<const StoredCheckpoint*> counting;
  for (const StoredCheckpoint& left : record_.left.checkpoints) {
    const std::optional<size_t> index = Find(left.name);
    if (!left.valid || !index || !IsIn(lineage_, all_[*index])) continue;
    counting.push_back(&left);
  }
  std::ranges::stable_sort(counting, std::ranges::greater(),
                           &StoredCheckpoint::step);
  const auto finite = std::ranges::find(counting, uint64_t{0},
                                        &StoredCheckpoint::not_finite_since);
  const auto place = static_cast<size_t>(finite - counting.begin());
  const bool beside = finite != counting.end() && place >= keep;
  const size_t most = keep + (beside ? 1 : 0);
  if (keep == 0 || counting.size() <= most) return;
  checks_.store.Breach("retention",
                       fmt::format("{} checkpoints are left, expected at most "
                                   "{}",
                                   counting.size(), most));
}

void StoreModel::CheckTemporary() {
  for (const std::string& name : record_.left.temporary) {
    checks_.store.Breach("temporary", fmt::format("{} is left behind", name));
  }
}

}  // namespace gauntlet
