// A record, put in order for the invariants: generations instead of files.
#ifndef GAUNTLET_HARNESS_ORACLE_EVIDENCE_H_
#define GAUNTLET_HARNESS_ORACLE_EVIDENCE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/generation.h"
#include "harness/oracle/moment.h"
#include "harness/oracle/store_deletions.h"
#include "harness/record/record.h"

namespace gauntlet {

// A fault's appearance in the events.
struct Firing {
  const RecordFault* fault = nullptr;
  FaultTraits traits;  // its own
  const LifeEvents* life = nullptr;
  size_t index = 0;  // of the event in the life
  const RecordEvent& event() const { return life->events[index]; }
};

class Evidence {
 public:
  explicit Evidence(const Record& from);
  // Generations point into the record.
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  const Record& record;
  std::map<GenerationId, Generation> generations;
  std::vector<Firing> firings;  // in the order of time
  const StoreDeletions deletions;
  CheckpointNames names;
  // Checkpoints that a load set aside, and when the first of that moment was.
  std::map<Moment, int64_t> rejected;
  // Those that a claim passed over, by a life that a fault kept from setting
  // them aside and from saying so, and when.
  std::map<Moment, int64_t> passed_over;
  // Checkpoints with files that the plan's faults damaged, by name, beside
  // those that a disk forgot.
  std::map<Moment, std::set<std::string, std::less<>>> damaged_files;
  // A power cut met a disk that lied about syncs: of what was there before it,
  // nothing is owed but what is seen after it.
  bool disk_forgot = false;

  // Moments whose state or loss is not finite, as saves, claims and loads said.
  std::set<Moment> not_finite;
  // True also where nobody said it.
  bool IsFinite(const Moment& moment) const {
    return !not_finite.contains(moment);
  }

  uint64_t EraOf(const LifeEvents& life) const;
  // The generation of that number that the life belonged to.
  GenerationId IdOf(const LifeEvents& life, uint64_t number) const;
  // Behind all generations, power cuts and deletions.
  GenerationId End() const;
  // True iff the disk may have damaged the checkpoint of this name, as it is in
  // an era, since it was written or last verified.
  bool IsForgotten(std::string_view path, uint64_t era) const;
  // Whether the plan is to blame for a checkpoint of this moment that does not
  // verify: it was found bad or passed over, and the plan has damaged one.
  bool IsDamaged(const Moment& moment) const;
  // Whether generations of its store before that one have acknowledged as many
  // later saves as retention keeps, or one where a later save had no room, and
  // a finite one among them if this one is: it may have removed this one, which
  // is owed no more. (It need not have said so: a death in the removal leaves
  // it unsaid.)
  bool MayBeRetiredBefore(const GenerationId& id, const Moment& moment) const;
  // Acknowledged in generations before that one, and owed to it: without
  // damaged, forgotten and deleted ones and those that retention may have
  // removed.
  std::vector<Acknowledged> GoodSavesBefore(const GenerationId& id) const;
  // Whether all of its workers had done all their training: only then is a
  // store deleted.
  bool HaveAllFinished(const Generation& generation) const;
  // Whether all of its workers had finished, and its chief deleted the store or
  // may have begun to: it said so, or died or failed where it would.
  bool MayHaveDeleted(const Generation& generation) const;
  // Of any from the first on and before the other.
  bool MayHaveDeleted(const GenerationId& first,
                      const GenerationId& before) const;
  // Whether the save of a generation is owed to a later one, if it is neither
  // damaged nor retired.
  bool IsOwed(const Acknowledged& save, const Generation& of,
              const GenerationId& before) const;
  // Whether some worker of that life of the job had begun a save by then, and
  // none had seen its end: only the chief tells of saves.
  bool IsSaving(int life, int64_t t_ns) const;
  // The last launcher said "done".
  bool Done() const;

 private:
  void FindFirings();
  uint64_t StoreOf(const LifeEvents& life, uint64_t number) const;
  void AddLife(const LifeEvents& life);
  void AddPart(const LifeEvents& part, const std::optional<Moment>& brought);
  void NameCheckpoints();
  void FindNotFinite();
  void FindRedone();
  void FindFreed();
  void FindDamagedFiles();
  void FindDamage();
  void FindPassedOver(const Generation& generation);
  void AddDamaged(std::string_view path, uint64_t era);
  bool WasDeletedBetween(const GenerationId& first,
                         const GenerationId& before) const;

  std::set<Moment> damaged_;
  // Removed behind a save that had no room, or perhaps, as the chief died there
  // (`any_freed_`): then whatever is older than the newest.
  std::set<Moment> freed_;
  bool any_freed_ = false;
  std::deque<LifeEvents> parts_;  // of lives that were of several generations
};

// Whether both are of one process.
bool IsSameLife(const LifeEvents& a, const LifeEvents& b);

// "worker 1, life 2".
std::string NameOf(const LifeEvents& life);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_EVIDENCE_H_
