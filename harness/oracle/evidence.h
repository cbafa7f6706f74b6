// A record, put in order for the invariants: generations instead of files.
#ifndef GAUNTLET_HARNESS_ORACLE_EVIDENCE_H_
#define GAUNTLET_HARNESS_ORACLE_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// A save that somebody was told is there.
struct Acknowledged {
  uint64_t step = 0;
  std::string digest;
  std::string path;
};

// One membership of the cluster: the lives that belonged to it.
struct Generation {
  uint64_t number = 0;
  std::vector<const LifeEvents*> lives;  // by worker
  // Where it went on; nullopt: it started afresh, or never got that far.
  std::optional<uint64_t> resumed_step;
  std::optional<uint64_t> parent_step;  // of the checkpoint that it claimed
  bool cold_start = false;
  uint64_t last_step = 0;  // the last step that any of its workers finished
  std::optional<uint64_t> stop_step;  // all agreed to stop here
  std::vector<Acknowledged> saves;
  std::set<uint64_t> begun_saves;  // steps
  uint64_t failed_saves = 0;
  bool finished = false;  // a worker had done all its training

  // Stopped at the agreed step, and saved there.
  bool StoppedOrderly() const;
};

// A fault's appearance in the events.
struct Firing {
  const RecordFault* fault = nullptr;
  const LifeEvents* life = nullptr;
  size_t index = 0;  // of the event in the life
  const RecordEvent& event() const { return life->events[index]; }
};

struct Evidence {
  explicit Evidence(const Record& from);
  // Generations point into the record.
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  const Record& record;
  std::map<uint64_t, Generation> generations;
  std::vector<Firing> firings;  // in the order of time
  // Steps of checkpoints that a load set aside.
  std::set<uint64_t> rejected_steps;
  // How many checkpoints the plan's fired faults may have damaged; nullopt: any
  // number of them.
  std::optional<uint64_t> damage_budget = 0;

  // Whether the plan is to blame for a checkpoint of this step that does not
  // verify: it was found bad, and the plan has damaged some.
  bool IsDamaged(uint64_t step) const;
  // Whether generations before `number` have acknowledged as many later saves
  // as retention keeps: it may have removed this one, which is owed no more.
  // (It need not have said so: a death in the removal leaves it unsaid.)
  bool MayBeRetiredBefore(uint64_t number, uint64_t step) const;
  // Acknowledged in generations before `number`, without damaged ones and
  // without those that retention may have removed.
  std::vector<Acknowledged> GoodSavesBefore(uint64_t number) const;
  // The generation before, if any.
  const Generation* Before(uint64_t number) const;
  // The last launcher said "done".
  bool Done() const;
  // Steps that this generation did again of those that the one before did.
  uint64_t LostSteps(const Generation& generation) const;
};

// Of "…/step-000000150-g3" 150; nullopt for other names.
std::optional<uint64_t> StepOfPath(std::string_view path);
// The last part of a path.
std::string_view BaseName(std::string_view path);
// Whether it tells of a save: its beginning, or how it ended.
bool IsOfSave(const RecordEvent& event);
// "worker 1, life 2".
std::string NameOf(const LifeEvents& life);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_EVIDENCE_H_
