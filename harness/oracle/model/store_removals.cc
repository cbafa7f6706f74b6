// Checks removals: by retention, of fenced or bad checkpoints, and after a
// finished run.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracle/model/store_model.h"
#include <fmt/format.h>

namespace gauntlet {

void StoreModel::OnRemoval(const Emitter& by, Writer& writer,
                           const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kRetireBegin:
      return RetireBegin(by, writer, event);
    case RecordKind::kRetired:
      return Retired(by, writer, event);
    case RecordKind::kRejected:
    case RecordKind::kRejectBegin:
      return Rejected(by, writer, event);
    case RecordKind::kFencedFound:
      return FencedFound(by, writer, event);
    case RecordKind::kDeleteBegin:
      return DeleteBegin(by, writer, event);
    case RecordKind::kBackupDeleted:
      return Deleted(by, writer, event);
    default:
      return;
  }
}

void StoreModel::RetireBegin(const Emitter& by, Writer& writer,
                             const RecordEvent& event) {
  CheckRemovalIsOver(by, writer);
  const std::optional<size_t> index = Find(event.path);
  if (!index) return;  // a rejected directory
  Checkpoint& retired = checkpoints_[*index];
  const bool is_owed =
      !writer.deletes && writer.claim == head_ && IsOwed(retired);
  if (is_owed) CheckRetirement(by, writer, retired);
  writer.removal = {.checkpoint = index, .is_owed = is_owed};
  retired.in_doubt = true;
}

// Returns true iff the checkpoint is fenced but at the same position as a
// parent in the lineage. The states of both are then bitwise identical, and the
// engine's retention counts this checkpoint.
bool StoreModel::IsAParentsState(const Checkpoint& checkpoint) const {
  return checkpoint.found_fenced && !checkpoint.gone && !checkpoint.in_doubt &&
         !checkpoint.damaged && HasParentAt(checkpoint.position);
}

// Checks that a removal leaves as many newer checkpoints as retention must
// keep, and a finite one among them. A checkpoint whose save failed, but which
// was not removed, counts if it is valid after the run.
void StoreModel::CheckRetirement(const Emitter& by, const Writer& writer,
                                 const Checkpoint& retired) {
  checks_.store.Count();
  int newer = 0;
  bool finite = false;
  for (const Checkpoint& one : checkpoints_) {
    const bool counts =
        (one.acknowledged && !one.gone && !one.in_doubt) ||
        (writer.claim && one.writer < *writer.claim && IsLeftValid(one));
    const bool is_member = counts && IsIn(lineage_, one);
    if (one.position <= retired.position ||
        (!is_member && !IsAParentsState(one))) {
      continue;
    }
    ++newer;
    finite = finite || one.not_finite_since == 0;
  }
  const int least = writer.may_free_room ? 1 : std::max(1, record_.setup.keep);
  if (newer < least) {
    checks_.store.Fail(
        "retired-newest",
        fmt::format("{} retired {} with {} newer checkpoints, expected at "
                    "least {}",
                    NameOf(by), retired.name, newer, least));
  }
  if (retired.for_good) {
    checks_.store.Fail("retired-for-good",
                       fmt::format("{} retired {}, which is kept for good",
                                   NameOf(by), retired.name));
  }
  if (retired.not_finite_since == 0 && !finite) {
    checks_.store.Fail("retired-finite",
                       fmt::format("{} retired {}, but no later checkpoint "
                                   "has a finite state",
                                   NameOf(by), retired.name));
  }
}

void StoreModel::Retired(const Emitter& by, Writer& writer,
                         const RecordEvent& event) {
  const std::optional<size_t> removes =
      std::exchange(writer.removal, {}).checkpoint;
  checks_.store.Count();
  if (!removes || checkpoints_[*removes].name != BaseName(event.path)) {
    return checks_.store.Fail(
        "not-begun", fmt::format("{} reports the removal of {}, but had not "
                                 "begun it",
                                 NameOf(by), BaseName(event.path)));
  }
  Checkpoint& retired = checkpoints_[*removes];
  retired.gone = true;
  const bool is_parent =
      writer.claim &&
      std::any_of(claims_.begin() + static_cast<ptrdiff_t>(*writer.claim) + 1,
                  claims_.end(),
                  [&](const Claim& claim) { return claim.parent == removes; });
  if (!is_parent) return;
  checks_.store.Fail(
      "retired-parent",
      fmt::format("{} retired {}, which a newer generation had claimed as its "
                  "parent",
                  NameOf(by), retired.name));
}

// Checks that the process has reported the outcome of its last removal. No
// report is required if the checkpoint did not have to stay loadable, if an
// operation returned an error, or if a newer claim exists.
void StoreModel::CheckRemovalIsOver(const Emitter& by, Writer& writer) {
  const Removal removal = std::exchange(writer.removal, {});
  if (!removal.checkpoint || !removal.is_owed || removal.met_error ||
      writer.claim != head_) {
    return;
  }
  checks_.store.Fail(
      "no-outcome",
      fmt::format("{} emitted no outcome of the removal of {}", NameOf(by),
                  checkpoints_[*removal.checkpoint].name));
}

void StoreModel::Rejected(const Emitter& by, Writer& writer,
                          const RecordEvent& event) {
  const std::optional<size_t> index = Find(event.path);
  if (event.kind == RecordKind::kRejectBegin) {
    const bool is_new =
        index && writer.last_try.set_aside.insert(*index).second;
    if (is_new && writer.last_try.rejected.contains(*index)) return;
    if (index && !is_new && writer.met_error) return;
    return checks_.store.Fail(
        "not-begun",
        fmt::format("{} sets {} aside twice, or without rejecting it first",
                    NameOf(by), BaseName(event.path)));
  }
  checks_.store.Count();
  if (!index) {
    return checks_.store.Fail(
        "unknown", fmt::format("{} rejects {}, but no save of it was begun",
                               NameOf(by), BaseName(event.path)));
  }
  Checkpoint& bad = checkpoints_[*index];
  // After a disk error a chief may reject the same checkpoint a second time.
  const bool is_new = writer.last_try.rejected.insert(*index).second;
  if (!is_new && !writer.met_error) {
    checks_.store.Fail(
        "twice", fmt::format("{} rejects {} twice", NameOf(by), bad.name));
  }
  if (!bad.NeedNotVerify()) {
    checks_.store.Fail(
        FindingKind::kDoesNotVerify,
        fmt::format("{} rejects {} ({}), {}", NameOf(by), bad.name,
                    event.detail, bad.WhyItMustVerify()));
  }
  bad.damaged = bad.gone = true;
}

void StoreModel::FencedFound(const Emitter& by, Writer& writer,
                             const RecordEvent& event) {
  checks_.store.Count();
  const std::optional<size_t> index = Find(event.path);
  if (!index) {
    return checks_.store.Fail(
        "unknown", fmt::format("{} reports {} as fenced, but no save of it was "
                               "begun",
                               NameOf(by), BaseName(event.path)));
  }
  const Checkpoint& found = checkpoints_[*index];
  checkpoints_[*index].found_fenced = true;
  if (!writer.last_try.found_fenced.insert(*index).second) {
    checks_.store.Fail("twice", fmt::format("{} reports {} as fenced twice",
                                            NameOf(by), found.name));
  }
  // The lineage of a damaged checkpoint cannot be read, so such a checkpoint
  // may be reported as fenced.
  if (IsUnsettled(found.writer) || found.NeedNotVerify() ||
      !IsIn(LineageOf(writer.claim), found)) {
    return;
  }
  checks_.store.Fail(
      "false-fenced",
      fmt::format("{} reports {} as fenced, but the state of generation {} "
                  "descends from it",
                  NameOf(by), found.name, claims_[*writer.claim].number));
}

// Checks that a process which claims a generation reports each checkpoint that
// its claim fences, and sets aside each checkpoint that it rejects.
void StoreModel::CheckFencedFound(const Emitter& by, const Writer& writer) {
  if (!writer.claim || !deleters_.empty()) return;
  for (const size_t rejected : writer.last_try.rejected) {
    if (writer.last_try.set_aside.contains(rejected) || writer.met_error)
      continue;
    checks_.store.Fail("not-set-aside",
                       fmt::format("{} rejected {}, but has not set it aside",
                                   NameOf(by), checkpoints_[rejected].name));
  }
  const Lineage lineage = LineageOf(writer.claim);
  for (size_t i = 0; i < checkpoints_.size(); ++i) {
    const Checkpoint& one = checkpoints_[i];
    const bool is_there = one.acknowledged && !one.in_doubt && !one.gone &&
                          !one.damaged && newest_.at(one.name) == i;
    if (!is_there || one.writer >= *writer.claim || IsIn(lineage, one) ||
        writer.last_try.found_fenced.contains(i)) {
      continue;
    }
    checks_.store.Fail(
        "fenced-not-found",
        fmt::format("{} was acknowledged, but {} claimed generation {} and "
                    "found nothing of it",
                    one.name, NameOf(by), claims_[*writer.claim].number));
  }
}

void StoreModel::DeleteBegin(const Emitter& by, Writer& writer,
                             const RecordEvent& event) {
  checks_.checkpoints_deleted.Count();
  if (!record_.setup.delete_at_success) {
    checks_.checkpoints_deleted.Fail(
        "deleted",
        fmt::format("{} deletes checkpoints that must be kept", NameOf(by)));
  }
  const bool elsewhere = !directory_.empty() && event.path != directory_;
  if (writer.deletes || elsewhere) {
    checks_.checkpoints_deleted.Fail(
        "deleted", fmt::format("{} deletes {}, but the checkpoints are in {}{}",
                               NameOf(by), event.path, directory_,
                               writer.deletes ? "; it had begun before" : ""));
  }
  if (!writer.claim || writer.claim != head_) {
    checks_.checkpoints_deleted.Fail(
        "deleted", fmt::format("{} deletes the checkpoints of a later "
                               "generation",
                               NameOf(by)));
  }
  CheckRemovalIsOver(by, writer);
  writer.deletes = event.path;
  deleters_.insert(by);
  is_any_acknowledged_ = false;
  for (Checkpoint& one : checkpoints_) one.in_doubt = true;
}

void StoreModel::Deleted(const Emitter& by, Writer& writer,
                         const RecordEvent& event) {
  writer.has_deleted = true;
  if (std::exchange(writer.deletes, std::nullopt) != event.path) {
    checks_.checkpoints_deleted.Fail(
        "deleted", fmt::format("{} reports deleted checkpoints, but had not "
                               "begun to delete them",
                               NameOf(by)));
  }
  EndDeletion(by);
  for (Checkpoint& one : checkpoints_) {
    if (writer.claim && one.writer <= *writer.claim) one.gone = true;
  }
}

// Handles the end of a deletion of all checkpoints. The deletion may have
// removed the files of all claims made so far, and also the parent of a claim
// that is in progress.
void StoreModel::EndDeletion(const Emitter& by) {
  if (deleters_.erase(by) == 0) return;
  Unsettle();
  for (auto& [emitter, writer] : writers_) {
    if (writer.last_try.number) writer.last_try.beside_deletion = true;
  }
}

// Notes that the claims made so far, and their checkpoints, may be gone.
void StoreModel::Unsettle() {
  unsettled_ = claims_.size();
  is_any_acknowledged_ = false;
  for (Checkpoint& one : checkpoints_) one.in_doubt = true;
}

// Checks that a finished chief deletes all checkpoints if the set-up requires
// it. Before that, the chief waits until its result is acknowledged; if a fault
// delays the acknowledgement, the chief need not delete anything.
void StoreModel::CheckDeletion(const Emitter& by, const Writer& writer) {
  if (!record_.setup.delete_at_success || !writer.end.finished_ns ||
      !writer.end.is_finite || writer.end.is_fenced || writer.met_error) {
    return;
  }
  checks_.checkpoints_deleted.Count();
  const bool was_held_up =
      writer.end.is_given_up || hold_ups_.AnySince(*writer.end.finished_ns);
  if (writer.has_deleted || (!writer.end.is_acknowledged && was_held_up))
    return;
  checks_.checkpoints_deleted.Fail(
      "not-deleted",
      fmt::format("{} finished, but has not deleted the checkpoints",
                  NameOf(by)));
}

}  // namespace gauntlet
