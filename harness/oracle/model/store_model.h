// Model of the checkpoint directory: its contents, and the checkpoints that
// must stay loadable. These are called "owed".
//
// A checkpoint is identified by its name and the claim that wrote it. It is
// owed as soon as its save is acknowledged. A claim names its parent
// checkpoint, and so determines its lineage: the checkpoints written under the
// claim itself, the parent, and the checkpoints before the parent in the
// lineage of the parent's claim. All other checkpoints are fenced.
//
// Each operation on the directory is recorded before it begins. Until its
// outcome is recorded, the model must allow for both: the operation has
// happened, or it has not. If the process is killed in between, the outcome is
// never known.
//
// A checkpoint is no longer owed after it was removed, rejected, fenced, or
// damaged by a fault; after a power loss on a disk that lies about syncs; or
// after all checkpoints were deleted. There is no other exception.
#ifndef GAUNTLET_HARNESS_ORACLE_MODEL_STORE_MODEL_H_
#define GAUNTLET_HARNESS_ORACLE_MODEL_STORE_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/disturbances.h"
#include "harness/oracle/history/history.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/record.h"

namespace gauntlet {

class StoreModel {
 public:
  struct Checkpoint {
    std::string_view name;  // points into the record, as `digest` does
    TrainingPosition position;
    size_t writer = 0;  // index of the claim that wrote it
    std::string_view digest;
    // First non-finite step of its training; 0: all steps are finite.
    int64_t not_finite_since = 0;
    bool acknowledged = false;  // or named by a claim as its parent
    bool for_good = false;      // retention never removes it
    bool in_doubt = false;      // its removal has begun
    bool gone = false;
    bool damaged = false;       // by a fault
    uint64_t damaged_at = 0;    // value of tries_ at that time
    bool sync_failed = false;   // a sync of its save failed: no acknowledgement
    bool failed = false;        // its save failed
    bool found_fenced = false;  // a chief has reported it as fenced

    bool was_damaged = false;  // by a fault, before it was loaded
    bool lost_power = false;   // the machine lost power after its save

    bool NeedNotVerify() const { return damaged || failed; }
    // Returns the end of a message about a checkpoint that does not verify: the
    // reason why it should verify.
    std::string_view WhyItMustVerify() const {
      if (was_damaged) return "and was loaded after a fault had damaged it";
      if (!lost_power) return "but nothing has damaged it";
      return acknowledged ? "but its save was acknowledged, so it must survive "
                            "the power loss"
                          : "but it was committed, so it must survive the "
                            "power loss";
    }
  };
  struct Claim {
    uint64_t number = 0;  // generation
    Emitter chief;
    std::optional<size_t> parent;  // index of the checkpoint
    bool behind_saves = false;     // made after an acknowledged save
  };

  StoreModel(const Record& record, Checks& checks);

  // Processes the next event. REQUIRES: events come in the order of the
  // history.
  void On(const HistoryEvent& entry);
  // Checks what is left in the directory. Called after the last event.
  void End();

  // Returns the newest checkpoint with that name. A path stands for its last
  // part.
  std::optional<size_t> Find(std::string_view path) const;
  // Returns the newest claim of generation `number`, or null.
  const Claim* ClaimOf(uint64_t number) const;
  const Checkpoint& checkpoint(size_t index) const {
    return checkpoints_[index];
  }
  // Returns true iff any claim was made.
  bool is_used() const { return is_used_; }

 private:
  // One attempt to claim a generation, and the checkpoints that the claimant
  // reported in it.
  struct ClaimTry {
    std::optional<int64_t> number;  // nullopt once the claim is made
    uint64_t tries = 0;             // value of tries_ when it began
    std::set<size_t> rejected;
    std::set<size_t> set_aside;
    std::set<size_t> found_fenced;
    bool others_were_there = false;  // other claimants ran when it began
    bool beside_deletion = false;    // a deletion ended since it began
  };
  // A removal that has begun and whose outcome is not reported yet.
  struct Removal {
    std::optional<size_t> checkpoint;
    bool is_owed = false;    // the checkpoint was owed when the removal began
    bool met_error = false;  // an operation returned an error since then
  };
  struct Ending {
    std::optional<int64_t> finished_ns;  // end of its training
    bool is_finite = true;               // its final state is finite
    bool is_acknowledged = false;        // its result was acknowledged
    bool is_fenced = false;
    bool is_orderly = false;   // its exit event has an orderly exit code
    bool is_gone = false;      // its process has ended
    bool is_given_up = false;  // its launcher declared it unreachable
  };
  // State of one process.
  struct Writer {
    std::optional<size_t> claim;   // its newest claim
    std::optional<size_t> joined;  // claim of the generation it trains in
    size_t first_claim = 0;        // number of claims at its first event
    ClaimTry last_try;
    std::optional<size_t> saves;  // checkpoint whose save is in progress
    Removal removal;
    std::optional<std::string_view> deletes;  // directory being deleted
    bool has_deleted = false;
    bool may_free_room = false;  // its last save found the disk full
    bool met_error = false;
    Ending end;
  };
  // A lineage: for each of its claims (by index), the position of the claim's
  // last checkpoint in the lineage.
  using Lineage = std::map<size_t, TrainingPosition>;

  void NoteEnd(const RecordEvent& event);
  bool AreOthersThere(const Emitter& by) const;
  bool IsAParentsState(const Checkpoint& checkpoint) const;
  void Join(const Emitter& by, Writer& writer, const RecordEvent& event);
  void Fire(const Emitter& by, Writer& writer, const RecordEvent& event);
  void OnWorker(const Emitter& by, Writer& writer, const RecordEvent& event);
  void OnRemoval(const Emitter& by, Writer& writer, const RecordEvent& event);
  void ClaimBegin(const Emitter& by, Writer& writer, const RecordEvent& event);
  void Claimed(const Emitter& by, Writer& writer, const RecordEvent& event);
  void NoteState(Checkpoint& one, const RecordEvent& event);
  void CheckParent(const Emitter& by, const RecordEvent& event,
                   std::optional<size_t> parent);
  void Initialized(const Emitter& by, const RecordEvent& event);
  void SaveBegin(const Emitter& by, Writer& writer, const RecordEvent& event);
  void Acknowledged(const Emitter& by, Writer& writer,
                    const RecordEvent& event);
  void FailSync(const Writer& writer, const RecordEvent& fired);
  void SaveFailed(const Emitter& by, Writer& writer, const RecordEvent& event);
  void RetireBegin(const Emitter& by, Writer& writer, const RecordEvent& event);
  void CheckRetirement(const Emitter& by, const Writer& writer,
                       const Checkpoint& retired);
  void Retired(const Emitter& by, Writer& writer, const RecordEvent& event);
  void CheckRemovalIsOver(const Emitter& by, Writer& writer);
  void Rejected(const Emitter& by, Writer& writer, const RecordEvent& event);
  void FencedFound(const Emitter& by, Writer& writer, const RecordEvent& event);
  void CheckFencedFound(const Emitter& by, const Writer& writer);
  void Loaded(const Emitter& by, const Writer& writer,
              const RecordEvent& event);
  void Damage(const RecordEvent& event);
  void DeleteBegin(const Emitter& by, Writer& writer, const RecordEvent& event);
  void Deleted(const Emitter& by, Writer& writer, const RecordEvent& event);
  void EndDeletion(const Emitter& by);
  void Unsettle();
  void CheckEndOf(const Emitter& by, Writer& writer, const RecordEvent& event);
  void CheckDeletion(const Emitter& by, const Writer& writer);
  void LosePower(const RecordEvent& event);
  void CheckRefusal();

  void CheckLeft(const StoredCheckpoint& left);
  void CheckNames();
  void CheckMissing();
  bool HasNoLeftovers() const;
  const StoredCheckpoint* FindLeft(const Checkpoint& one) const;
  bool IsLeftValid(const Checkpoint& one) const;
  std::string_view VerificationText(const Checkpoint& one) const;
  void CheckRetention();
  void CheckTemporary();

  Lineage LineageOf(std::optional<size_t> claim) const;
  bool IsIn(const Lineage& lineage, const Checkpoint& checkpoint) const;
  // Returns true iff a parent in the lineage has that position. If a digest is
  // given, the parent's state must have it too.
  bool HasParentAt(const TrainingPosition& position,
                   std::optional<std::string_view> digest = {}) const;
  bool IsOwed(const Checkpoint& checkpoint) const;
  // Returns true iff a power loss or a deletion makes it uncertain whether the
  // claim and its checkpoints exist.
  bool IsUnsettled(size_t claim) const {
    return claim < unsettled_ || !deleters_.empty();
  }
  const Checkpoint* NewestOwed() const;

  const Record& record_;
  Checks& checks_;
  std::string_view directory_;  // checkpoint directory
  std::vector<Checkpoint> checkpoints_;
  std::map<std::string_view, size_t> newest_;  // by name
  std::vector<Claim> claims_;
  std::optional<size_t> head_;  // newest claim
  Lineage lineage_;             // lineage of the newest claim
  std::map<Emitter, Writer> writers_;
  uint64_t tries_ = 0;  // attempts to claim
  bool is_used_ = false;
  bool is_any_acknowledged_ = false;  // a checkpoint, since unsettled_ was set
  // Number of claims made before the last power loss of a disk that lies about
  // syncs.
  size_t forgotten_ = 0;
  // Number of claims made before the last such power loss or the end of the
  // last deletion, whichever came later.
  size_t unsettled_ = 0;
  std::set<Emitter> deleters_;  // processes that are deleting all checkpoints
  Disturbances hold_ups_;       // faults that may delay a result
  // Generations whose claim file was damaged, so their lineage cannot be read.
  std::set<uint64_t> damaged_claims_;
  // True if processes of older claims may have changed the directory since the
  // newest claim.
  bool is_disturbed_ = false;
  std::set<std::string_view> damaged_names_;  // damaged before a save began
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_MODEL_STORE_MODEL_H_
