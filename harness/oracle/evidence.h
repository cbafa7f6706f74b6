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

#include "harness/oracle/moment.h"
#include "harness/record/record.h"

namespace gauntlet {

// A save that somebody was told is there.
struct Acknowledged {
  Moment moment;
  std::string digest;
  std::string path;
};

// Which generation: by the number that it claimed. A power cut on a disk that
// lies may take the claim away, and then its number is given out again: an era
// is what is between two power cuts, from 0 on.
struct GenerationId {
  uint64_t era = 0;
  uint64_t number = 0;

  auto operator<=>(const GenerationId&) const = default;
};

// One membership of the cluster: the lives that belonged to it. Of a life that
// rejoined, each generation has the part that is its own.
struct Generation {
  GenerationId id;
  std::vector<const LifeEvents*> lives;  // by worker
  // Where it went on; nullopt: it started afresh, or never got that far.
  std::optional<Moment> resumed;
  // Where it went on from the state that a worker held in memory.
  std::optional<Moment> carried_on;
  // The furthest that a life that came from an earlier generation had trained.
  std::optional<Moment> brought;
  std::optional<Moment> parent;  // of the checkpoint that it claimed
  bool cold_start = false;
  uint64_t last_step = 0;      // the last step that any of its workers finished
  std::optional<Moment> stop;  // all agreed to stop here
  std::vector<Acknowledged> saves;
  std::set<Moment> begun_saves;
  uint64_t failed_saves = 0;
  int finished_workers = 0;  // that had done all their training

  // From the store or from memory.
  std::optional<Moment> started_at() const {
    return carried_on ? carried_on : resumed;
  }
  // Stopped at the agreed moment, and saved there.
  bool StoppedOrderly() const;
};

// A fault's appearance in the events.
struct Firing {
  const RecordFault* fault = nullptr;
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
  CheckpointNames names;
  // Checkpoints that a load set aside.
  std::set<Moment> rejected;
  // Those that a claim passed over, by a life that a fault kept from setting
  // them aside and from saying so.
  std::set<Moment> passed_over;
  // How many checkpoints the plan's faults may have damaged, beside those that
  // a disk forgot; nullopt: any number of them.
  std::optional<uint64_t> damage_budget = 0;
  // A power cut met a disk that lied about syncs: of what was there before it,
  // nothing is owed but what is seen after it.
  bool disk_forgot = false;

  uint64_t EraOf(const LifeEvents& life) const;
  // Behind all generations.
  GenerationId End() const;
  // Whether a checkpoint that bears this name in an era may have been damaged
  // by the disk since it got it.
  bool IsForgotten(std::string_view path, uint64_t era) const;
  // Whether the plan is to blame for a checkpoint of this moment that does not
  // verify: it was found bad or passed over, and the plan has damaged some.
  bool IsDamaged(const Moment& moment) const;
  // Whether generations before that one have acknowledged as many later saves
  // as retention keeps: it may have removed this one, which is owed no more.
  // (It need not have said so: a death in the removal leaves it unsaid.)
  bool MayBeRetiredBefore(const GenerationId& id, const Moment& moment) const;
  // Acknowledged in generations before that one, and owed to it: without
  // damaged and forgotten ones and those that retention may have removed.
  std::vector<Acknowledged> GoodSavesBefore(const GenerationId& id) const;
  // The generation before, if any.
  const Generation* Before(const GenerationId& id) const;
  // Whether all of its workers had done all their training: only then is a
  // store deleted.
  bool HaveAllFinished(const Generation& generation) const;
  // Whether some worker of that life of the job had begun a save by then, and
  // none had seen its end: only the chief tells of saves.
  bool IsSaving(int life, int64_t t_ns) const;
  // The last launcher said "done".
  bool Done() const;
  // Steps that this generation did again of those that the one before did.
  uint64_t LostSteps(const Generation& generation) const;

 private:
  void FindFirings();
  void AddLife(const LifeEvents& life);
  void AddPart(const LifeEvents& part, const std::optional<Moment>& brought);
  void NameCheckpoints();
  void FindDamage();
  void FindPassedOver(const Generation& generation);
  void AddDamaged(std::string_view path, uint64_t era);
  bool IsOwed(const Acknowledged& save, const Generation& of,
              const GenerationId& before) const;

  std::set<Moment> damaged_;
  std::deque<LifeEvents> parts_;  // of lives that were of several generations
};

// Whether both are of one process.
bool IsSameLife(const LifeEvents& a, const LifeEvents& b);

// "worker 1, life 2".
std::string NameOf(const LifeEvents& life);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_EVIDENCE_H_
