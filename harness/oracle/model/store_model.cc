#include "harness/oracle/model/store_model.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr TrainingPosition kEndOfTime = {.step = UINT64_MAX};

// Returns true iff the name has this step and generation: "step-000000150-g3"
// has step 150 and generation 3.
bool NamesPosition(std::string_view name, const TrainingPosition& position,
                   uint64_t generation) {
  return StepOfPath(name) == position.step &&
         name.ends_with(fmt::format("-g{}", generation));
}

// Returns 2 for "…/gen-000002.tmp"; nullopt if the name is not that of a claim.
std::optional<uint64_t> GenerationOfClaim(std::string_view path) {
  constexpr std::string_view kClaim = "gen-";
  const std::string_view name = BaseName(path);
  if (!name.starts_with(kClaim)) return std::nullopt;
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data() + kClaim.size(), end, number).ec !=
      std::errc()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

StoreModel::StoreModel(const Record& record, Checks& checks)
    : record_(record), checks_(checks) {}

void StoreModel::On(const HistoryEvent& entry) {
  const RecordEvent& event = *entry.event;
  switch (entry.by.kind) {
    case Emitter::Kind::kWorker: {
      const auto [at, is_new] = writers_.try_emplace(entry.by);
      if (is_new) at->second.first_claim = claims_.size();
      return OnWorker(entry.by, at->second, event);
    }
    case Emitter::Kind::kMachine:
      if (event.kind == RecordKind::kPowerCut && !event.about) LosePower(event);
      if (event.kind == RecordKind::kProcessEnded) NoteEnd(event);
      return;
    case Emitter::Kind::kLauncher:
      if (event.kind == RecordKind::kExited) NoteEnd(event);
      return;
  }
}

void StoreModel::NoteEnd(const RecordEvent& event) {
  if (!event.about) return;
  const auto at = writers_.find(WorkerAbout(event));
  if (at == writers_.end()) return;
  if (event.reason == RecordReason::kUnreachable) {
    at->second.end.is_given_up = true;
    return;
  }
  at->second.end.is_gone = true;
  hold_ups_.Ended(at->first, event.t_ns);
  EndDeletion(at->first);
}

void StoreModel::OnWorker(const Emitter& by, Writer& writer,
                          const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kClaimBegin:
      return ClaimBegin(by, writer, event);
    case RecordKind::kGeneration:
      return Claimed(by, writer, event);
    case RecordKind::kInitialized:
    case RecordKind::kResumed:
    case RecordKind::kResumedFromMemory:
      return Join(by, writer, event);
    case RecordKind::kSaveBegin:
      // Training may continue during a removal, but the next save begins only
      // after the removal has ended.
      CheckRemovalIsOver(by, writer);
      return SaveBegin(by, writer, event);
    case RecordKind::kSaveAcknowledged:
      return Acknowledged(by, writer, event);
    case RecordKind::kSaveFailed:
      return SaveFailed(by, writer, event);
    case RecordKind::kLoaded:
    case RecordKind::kLoadFailed:
      return Loaded(by, writer, event);
    case RecordKind::kDamaged:
      return Damage(event);
    case RecordKind::kWorkerExited:
      return CheckEndOf(by, writer, event);
    case RecordKind::kFinished:
      if (!record_.setup.async_saves) CheckRemovalIsOver(by, writer);
      writer.end.finished_ns = event.t_ns;
      writer.end.is_finite = event.count == 0;
      return;
    case RecordKind::kResultAcknowledged:
      writer.end.is_acknowledged = true;
      return;
    case RecordKind::kFencedOut:
      writer.end.is_fenced = true;
      return;
    case RecordKind::kFaultFired:
    case RecordKind::kFaultAgain:
      return Fire(by, writer, event);
    default:
      return OnRemoval(by, writer, event);
  }
}

void StoreModel::Join(const Emitter& by, Writer& writer,
                      const RecordEvent& event) {
  const Claim* const claim = ClaimOf(event.generation);
  writer.joined.reset();
  if (claim != nullptr) {
    writer.joined = static_cast<size_t>(claim - claims_.data());
  }
  CheckFencedFound(by, writer);
  if (event.kind == RecordKind::kInitialized) Initialized(by, event);
}

void StoreModel::Fire(const Emitter& by, Writer& writer,
                      const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record_, event.detail);
  if (fault == nullptr) return;
  const FaultTraits traits = TraitsOf(*fault);
  if (traits.reports_error) writer.met_error = writer.removal.met_error = true;
  if (traits.may_end_incarnation) hold_ups_.Fired(*fault, by, event.t_ns);
  if (fault->kind == "fsync_fails") FailSync(writer, event);
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
  TrainingPosition until = kEndOfTime;
  while (claim && lineage.try_emplace(*claim, until).second) {
    const std::optional<size_t>& parent = claims_[*claim].parent;
    if (!parent) break;
    until = checkpoints_[*parent].position;
    claim = checkpoints_[*parent].writer;
  }
  return lineage;
}

bool StoreModel::IsIn(const Lineage& lineage,
                      const Checkpoint& checkpoint) const {
  const auto writer = lineage.find(checkpoint.writer);
  return writer != lineage.end() && checkpoint.position <= writer->second;
}

bool StoreModel::HasParentAt(const TrainingPosition& position,
                             std::optional<std::string_view> digest) const {
  return std::ranges::any_of(lineage_, [&](const auto& member) {
    const std::optional<size_t>& parent = claims_[member.first].parent;
    return parent && checkpoints_[*parent].position == position &&
           (!digest || checkpoints_[*parent].digest == *digest);
  });
}

bool StoreModel::IsOwed(const Checkpoint& checkpoint) const {
  return checkpoint.acknowledged && !checkpoint.in_doubt && !checkpoint.gone &&
         !checkpoint.damaged && IsIn(lineage_, checkpoint);
}

const StoreModel::Checkpoint* StoreModel::NewestOwed() const {
  const Checkpoint* newest = nullptr;
  for (const Checkpoint& one : checkpoints_) {
    if (!IsOwed(one)) continue;
    if (newest == nullptr || one.position >= newest->position) newest = &one;
  }
  return newest;
}

// Returns true iff another process that has claimed a generation is still
// running.
bool StoreModel::AreOthersThere(const Emitter& by) const {
  return std::ranges::any_of(writers_, [&](const auto& other) {
    return other.first != by && other.second.claim && !other.second.end.is_gone;
  });
}

void StoreModel::ClaimBegin(const Emitter& by, Writer& writer,
                            const RecordEvent& event) {
  if (writer.last_try.number == event.count && !writer.met_error) {
    checks_.history_consistent.Fail(
        "claims", fmt::format("{} tries twice to claim generation {}",
                              NameOf(by), event.count));
  }
  writer.last_try = {.number = event.count, .tries = ++tries_};
  is_disturbed_ = is_disturbed_ || (head_ && claims_[*head_].chief != by);
  writer.last_try.others_were_there = AreOthersThere(by);
  writer.saves.reset();
  writer.removal = {};
}

void StoreModel::Claimed(const Emitter& by, Writer& writer,
                         const RecordEvent& event) {
  is_used_ = true;
  if (writer.last_try.number != static_cast<int64_t>(event.generation)) {
    checks_.history_consistent.Fail(
        "claims", fmt::format("{} claimed generation {}, but had not begun to",
                              NameOf(by), event.generation));
  }
  writer.last_try.number.reset();
  if (head_ && !IsUnsettled(*head_) &&
      claims_[*head_].number >= event.generation) {
    checks_.history_consistent.Fail(
        "claims",
        fmt::format("{} claimed generation {} after generation {}", NameOf(by),
                    event.generation, claims_[*head_].number));
  }
  const std::optional<size_t> parent = Find(event.path);
  CheckParent(by, event, parent);
  claims_.push_back({.number = event.generation,
                     .chief = by,
                     .parent = parent,
                     .behind_saves = is_any_acknowledged_});
  if (is_any_acknowledged_) checks_.no_cold_start.Count();
  // A process that was running when the claim began may have written files
  // after the claimant listed the directory.
  is_disturbed_ = writer.last_try.others_were_there || AreOthersThere(by);
  head_ = writer.claim = claims_.size() - 1;
  if (parent) {
    Checkpoint& of_parent = checkpoints_[*parent];
    NoteState(of_parent, event);
    of_parent.acknowledged = true;
    of_parent.in_doubt = of_parent.gone = false;
    // In this attempt to claim, the claimant has verified every byte of the
    // parent. So damage from before the attempt did no harm.
    if (of_parent.damaged_at < writer.last_try.tries) {
      of_parent.was_damaged |= std::exchange(of_parent.damaged, false);
    }
    of_parent.failed = false;
    is_any_acknowledged_ = true;
  }
  if (std::exchange(writer.last_try.beside_deletion, false)) Unsettle();
  lineage_ = LineageOf(head_);
}

// Notes the digest and the first non-finite step of a checkpoint, from its
// acknowledgement or from a claim that names it as the parent. Reports a change
// of either.
void StoreModel::NoteState(Checkpoint& one, const RecordEvent& event) {
  if (one.digest.empty()) {
    one.digest = event.digest;
    one.not_finite_since = event.count;
  }
  if (one.digest == event.digest && one.not_finite_since == event.count) return;
  checks_.resume_point.Fail(
      "other-state",
      fmt::format("{}: state {}, not finite since step {}; before it was {}, "
                  "not finite since step {} (0: finite)",
                  one.name, event.digest, event.count, one.digest,
                  one.not_finite_since));
}

void StoreModel::CheckParent(const Emitter& by, const RecordEvent& event,
                             std::optional<size_t> parent) {
  checks_.resume_point.Count();
  const Checkpoint* const owed = NewestOwed();
  if (!event.path.empty() && !parent) {
    return checks_.resume_point.Fail(
        "unknown-checkpoint",
        fmt::format("{} resumes from {}, but no save of it was begun",
                    NameOf(by), BaseName(event.path)));
  }
  if (owed != nullptr &&
      (!parent || checkpoints_[*parent].position < owed->position)) {
    return checks_.resume_point.Fail(
        FindingKind::kStaleResume,
        fmt::format("{} resumes from {}, but {} was acknowledged", NameOf(by),
                    parent ? checkpoints_[*parent].name : "nothing",
                    owed->name));
  }
  if (!parent) return;
  const Checkpoint& chosen = checkpoints_[*parent];
  // A fenced checkpoint may be read if a parent in the lineage has the same
  // state (engine/ckpt/protocol/lineage.h).
  const bool is_as_a_parent =
      !event.digest.empty() && HasParentAt(chosen.position, event.digest);
  if (chosen.gone && !IsUnsettled(chosen.writer)) {
    checks_.resume_point.Fail(
        "unknown-checkpoint",
        fmt::format("{} resumes from {}, which was removed or rejected",
                    NameOf(by), chosen.name));
  } else if (head_ && !IsUnsettled(*head_) && !IsIn(lineage_, chosen) &&
             !is_as_a_parent &&
             !damaged_claims_.contains(claims_[*head_].number)) {
    checks_.store.Fail(
        "fenced-read",
        fmt::format("{} resumes from {}, which its lineage fences", NameOf(by),
                    chosen.name));
  }
}

// Checks that a cold start happens only if no checkpoint was acknowledged
// before. After a power loss on a disk that lies about syncs, it suffices that
// the claim found none of the checkpoints from before the power loss.
void StoreModel::Initialized(const Emitter& by, const RecordEvent& event) {
  const Claim* const claim = ClaimOf(event.generation);
  if (record_.setup.allow_cold_start || claim == nullptr) return;
  const Writer& chief = writers_.at(claim->chief);
  const auto is_old = [this](size_t index) {
    return checkpoints_[index].writer < forgotten_;
  };
  if (!claim->behind_saves &&
      std::ranges::none_of(chief.last_try.found_fenced, is_old) &&
      std::ranges::none_of(chief.last_try.rejected, is_old)) {
    return;
  }
  checks_.no_cold_start.Fail(
      "cold-start",
      fmt::format("{} made a cold start, but a checkpoint had been "
                  "acknowledged",
                  NameOf(by)));
}

void StoreModel::SaveBegin(const Emitter& by, Writer& writer,
                           const RecordEvent& event) {
  if (writer.saves) {
    checks_.store.Fail("no-outcome",
                       fmt::format("{} saves {}, but emitted no outcome of the "
                                   "save of {}",
                                   NameOf(by), BaseName(event.path),
                                   checkpoints_[*writer.saves].name));
  }
  const std::string_view name = BaseName(event.path);
  if (const size_t end = event.path.rfind('/'); end != event.path.npos) {
    directory_ = std::string_view(event.path).substr(0, end);
  }
  const TrainingPosition position = PositionOf(event);
  if (!writer.claim || claims_[*writer.claim].number != event.generation ||
      !NamesPosition(name, position, event.generation)) {
    checks_.store.Fail(
        "name",
        fmt::format("{} saves step {} of generation {} as {}", NameOf(by),
                    ToText(position), event.generation, name));
  }
  checkpoints_.push_back({.name = name,
                          .position = position,
                          .writer = writer.claim.value_or(0),
                          .damaged = damaged_names_.contains(name)});
  writer.saves = newest_[name] = checkpoints_.size() - 1;
}

void StoreModel::Acknowledged(const Emitter& by, Writer& writer,
                              const RecordEvent& event) {
  const std::optional<size_t> saves = std::exchange(writer.saves, {});
  checks_.store.Count();
  if (!saves || checkpoints_[*saves].name != BaseName(event.path) ||
      checkpoints_[*saves].position != PositionOf(event)) {
    return checks_.store.Fail(
        "not-begun", fmt::format("{} acknowledged {}, but had not begun to "
                                 "save it",
                                 NameOf(by), BaseName(event.path)));
  }
  Checkpoint& saved = checkpoints_[*saves];
  if (saved.sync_failed) {
    checks_.store.Fail("failed-sync",
                       fmt::format("{} acknowledged {}, but a sync of it had "
                                   "failed",
                                   NameOf(by), saved.name));
  }
  NoteState(saved, event);
  saved.for_good = event.reason == RecordReason::kKeptPermanently;
  saved.acknowledged = true;
  saved.in_doubt = false;
  is_any_acknowledged_ = true;
  writer.may_free_room = false;
  const bool is_superseded = saved.writer + 1 < claims_.size();
  if (!is_superseded || IsUnsettled(saved.writer + 1)) return;
  if (IsIn(LineageOf(saved.writer + 1), saved)) return;
  checks_.resume_point.Fail(
      "fenced-save",
      fmt::format("{} of generation {} acknowledged {}, but the lineage of "
                  "generation {} does not have it",
                  NameOf(by), event.generation, saved.name,
                  claims_[saved.writer + 1].number));
}

// After a failed sync, marks the save in progress: it must fail too. A second
// sync may succeed although the bytes never reached the disk.
void StoreModel::FailSync(const Writer& writer, const RecordEvent& fired) {
  constexpr std::string_view kOfTheSave[] = {
      "ckpt.shard.fsync", "ckpt.manifest.fsync", "ckpt.index.fsync"};
  if (std::ranges::find(kOfTheSave, fired.path) == std::end(kOfTheSave)) return;
  if (!writer.joined) return;
  const Writer& chief = writers_.at(claims_[*writer.joined].chief);
  if (chief.saves && checkpoints_[*chief.saves].writer == *writer.joined) {
    checkpoints_[*chief.saves].sync_failed = true;
  }
}

void StoreModel::SaveFailed(const Emitter& by, Writer& writer,
                            const RecordEvent& event) {
  writer.may_free_room = event.reason == RecordReason::kDiskFull;
  const std::optional<size_t> saves = std::exchange(writer.saves, {});
  // An empty path means that the save failed before its checkpoint had a name.
  // The chief has not reported the begin of such a save.
  if (event.path.empty()) return;
  if (!saves || checkpoints_[*saves].name != BaseName(event.path) ||
      checkpoints_[*saves].position.step != event.step) {
    return checks_.store.Fail(
        "not-begun",
        fmt::format("{} reports a failed save of {}, but had not begun it",
                    NameOf(by), BaseName(event.path)));
  }
  checkpoints_[*saves].failed = true;
}

void StoreModel::Loaded(const Emitter& by, const Writer& writer,
                        const RecordEvent& event) {
  checks_.store.Count();
  const std::optional<size_t> index = Find(event.path);
  if (!index) {
    return checks_.store.Fail(
        "unknown", fmt::format("{} loads {}, but no save of it was begun",
                               NameOf(by), BaseName(event.path)));
  }
  const Checkpoint& loaded = checkpoints_[*index];
  if (event.kind == RecordKind::kLoadFailed) {
    const bool may_be_bad =
        loaded.NeedNotVerify() || loaded.in_doubt || loaded.gone;
    if (may_be_bad || writer.met_error) return;
    return checks_.store.Fail(
        FindingKind::kDoesNotVerify,
        fmt::format("{} cannot load {} ({}), {}", NameOf(by), loaded.name,
                    RecordReasonName(event.reason), loaded.WhyItMustVerify()));
  }
  if (event.step != loaded.position.step ||
      (!loaded.digest.empty() && event.digest != loaded.digest)) {
    checks_.store.Fail(
        "torn-load",
        fmt::format("{} loaded state {} of step {} from {}, but {} was saved",
                    NameOf(by), event.digest, event.step, loaded.name,
                    loaded.digest));
  }
  // The process may act under the claim that was the newest at its start, or
  // under any later one. The load is fenced only if all of these claims fence
  // the checkpoint.
  const size_t first = writer.first_claim == 0 ? 0 : writer.first_claim - 1;
  bool is_fenced = !claims_.empty() && !IsUnsettled(first);
  for (size_t claim = first; claim < claims_.size() && is_fenced; ++claim) {
    is_fenced = !IsIn(LineageOf(claim), loaded);
  }
  if (!is_fenced) return;
  checks_.store.Fail("fenced-read",
                     fmt::format("{} loaded {}, which its lineage fences",
                                 NameOf(by), loaded.name));
}

void StoreModel::Damage(const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record_, event.detail);
  if (fault == nullptr || !TraitsOf(*fault).damages_store) return;
  if (const auto number = GenerationOfClaim(event.path)) {
    damaged_claims_.insert(*number);
  }
  const std::string_view name = CheckpointOfFile(event.path);
  if (const std::optional<size_t> index = Find(name)) {
    checkpoints_[*index].damaged = true;
    checkpoints_[*index].damaged_at = tries_;
  } else {
    damaged_names_.insert(name);
  }
}

void StoreModel::CheckEndOf(const Emitter& by, Writer& writer,
                            const RecordEvent& event) {
  if (IsOrderlyExit(event.count) && writer.saves) {
    checks_.store.Fail(
        "no-outcome",
        fmt::format("{} emitted no outcome of the save of {}", NameOf(by),
                    checkpoints_[*writer.saves].name));
  }
  if (IsOrderlyExit(event.count)) CheckRemovalIsOver(by, writer);
  if (writer.claim && IsExit(event.count, {WorkerExit::kDone})) {
    CheckDeletion(by, writer);
  }
  writer.end.is_orderly = IsOrderlyExit(event.count);
  EndDeletion(by);
}

// A disk that lies about syncs may have lost everything. So after the power
// loss, no checkpoint from before it has to be loadable.
void StoreModel::LosePower(const RecordEvent& event) {
  for (Checkpoint& one : checkpoints_) one.lost_power = true;
  if (event.detail != kLyingDisk) return;
  forgotten_ = unsettled_ = claims_.size();
  is_any_acknowledged_ = false;
  for (Checkpoint& one : checkpoints_) {
    one.acknowledged = one.gone = false;
    one.in_doubt = one.damaged = true;
  }
  for (auto& [by, writer] : writers_) writer.end.is_orderly = false;
}

}  // namespace gauntlet
