// The store of checkpoints: what is in it, and what it owes to the next claim.
//
// A checkpoint is known by its name and by the claim that wrote it; it is owed
// from its acknowledgement on. A claim, with the checkpoint that it names as
// its parent, decides which checkpoints still count: its own, its parent, and
// what came before that in the lineage; all others are void. Each act on the
// store is recorded before it is begun. Between that and its outcome both are
// possible: who is killed in between leaves it open. What a fault does to a
// checkpoint, or a power cut on a disk that lies about syncs, changes what is
// owed, and nothing else is an excuse.
#ifndef GAUNTLET_HARNESS_ORACLE_STORE_MODEL_H_
#define GAUNTLET_HARNESS_ORACLE_STORE_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/check.h"
#include "harness/oracle/disturbances.h"
#include "harness/oracle/history.h"
#include "harness/oracle/moment.h"
#include "harness/record/record.h"

namespace gauntlet {

// Suffix of the directory of a checkpoint that is being written.
inline constexpr std::string_view kBeingWritten = ".tmp";

class StoreModel {
 public:
  struct Checkpoint {
    std::string_view name;  // lies in the record, as `digest` does
    Moment moment;
    size_t writer = 0;  // index of its claim
    std::string_view digest;
    // The first step of its run that was not finite; 0: all were.
    int64_t not_finite_since = 0;
    bool acknowledged = false;  // or named by a claim as its parent
    bool for_good = false;      // retention never removes it
    bool in_doubt = false;      // its removal has begun
    bool gone = false;
    bool damaged = false;       // by a fault
    uint64_t damaged_at = 0;    // number of tries for claims by then
    bool sync_failed = false;   // so its save may not be acknowledged
    bool failed = false;        // its save was given up
    bool found_fenced = false;  // a chief has seen it there

    bool NeedNotVerify() const { return damaged || failed; }
  };
  struct Claim {
    uint64_t number = 0;  // of the generation
    Emitter chief;
    std::optional<size_t> parent;  // index of the checkpoint
    bool behind_saves = false;     // made behind an acknowledged save
  };

  StoreModel(const Record& record, Checks& checks);

  // Takes the events in the order of the history.
  void On(const HistoryEvent& entry);
  // Checks what is left in the directory, after the last event.
  void End();

  // Returns the newest checkpoint of that name, or path.
  std::optional<size_t> Find(std::string_view path) const;
  // Returns the newest claim of the number, or null.
  const Claim* ClaimOf(uint64_t number) const;
  const Checkpoint& checkpoint(size_t index) const {
    return checkpoints_[index];
  }
  // Returns true iff any claim was made.
  bool is_used() const { return is_used_; }

 private:
  // A try for a claim, and what it found.
  struct ClaimTry {
    std::optional<int64_t> number;  // until the claim is made
    uint64_t tries = 0;             // of all processes so far
    std::set<size_t> rejected;
    std::set<size_t> set_aside;
    std::set<size_t> found_fenced;
        bool others_were_there = false;  // as it began
    bool beside_deletion = false;    // one ended since it began

  };
  // The removal of a checkpoint, until its outcome is emitted.
  struct Removal {
    std::optional<size_t> checkpoint;
    bool is_owed = false;  // had to be kept until then
    bool met_error = false;
  };
  struct Ending {
    std::optional<int64_t> finished_ns;  // all of its training
    bool is_finite = true;               // the state that it finished with
    bool is_acknowledged = false;        // its result
    bool is_fenced = false;
    bool is_orderly = false;   // its last event gives such an exit code
    bool is_gone = false;      // its process
    bool is_given_up = false;  // by its launcher, which cannot reach it
  };
  // State of one process.
  struct Writer {
    std::optional<size_t> claim;   // its newest
    std::optional<size_t> joined;  // claim of the generation it trains in
    size_t first_claim = 0;        // number of claims at its first event
    ClaimTry last_try;
    std::optional<size_t> saves;
    Removal removal;
    std::optional<std::string_view> deletes;  // the directory
    bool has_deleted = false;
    bool may_free_room = false;  // its last save had no room
    bool met_error = false;
    Ending end;
  };
  using Lineage = std::map<size_t, Moment>;  // by writer: up to which moment

  void NoteEnd(const RecordEvent& event);
  bool AreOthersThere(const Emitter& by) const;
  bool IsAParentsState(const Checkpoint& checkpoint) const;
  void Join(const Emitter& by, Writer& writer, const RecordEvent& event);
  void Fire(const Emitter& by, Writer& writer, const RecordEvent& event);
  void OnWorker(const Emitter& by, Writer& writer, const RecordEvent& event);
  void OnRemoval(const Emitter& by, Writer& writer, const RecordEvent& event);
  void ClaimBegin(const Emitter& by, Writer& writer, const RecordEvent& event);
  void Claimed(const Emitter& by, Writer& writer, const RecordEvent& event);
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
  bool IsTidy() const;
  bool IsLeftValid(const Checkpoint& one) const;
  void CheckRetention();
  void CheckTemporary();

  Lineage LineageOf(std::optional<size_t> claim) const;
  bool IsIn(const Lineage& lineage, const Checkpoint& checkpoint) const;
  bool IsOwed(const Checkpoint& checkpoint) const;
  // Returns true iff the claim, and what it saved, may be gone or may be back.
  bool IsUnsettled(size_t claim) const {
    return claim < unsettled_ || !deleters_.empty();
  }
  const Checkpoint* NewestOwed() const;

  const Record& record_;
  Checks& checks_;
  std::string_view directory_;  // of the checkpoints
  std::vector<Checkpoint> checkpoints_;
  std::map<std::string_view, size_t> newest_;  // by name
  std::vector<Claim> claims_;
  std::optional<size_t> head_;  // the newest claim
  Lineage lineage_;             // of the head
  std::map<Emitter, Writer> writers_;
  uint64_t tries_ = 0;  // for claims
  bool is_used_ = false;
  bool is_any_acknowledged_ = false;  // a checkpoint, and not deleted since
  // Number of claims when a disk that lies last lost power.
  size_t forgotten_ = 0;
  // Number of claims then, or at the end of the last deletion.
  size_t unsettled_ = 0;
  std::set<Emitter> deleters_;  // processes that delete all checkpoints
  Disturbances hold_ups_;       // of results, and their acknowledgement
  // Generations whose claim cannot be read: nobody knows what it makes void.
  std::set<uint64_t> damaged_claims_;
  bool is_disturbed_ = false;  // the newest claim, by processes of older ones
  std::set<std::string_view> damaged_names_;  // of saves not begun yet
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_STORE_MODEL_H_
