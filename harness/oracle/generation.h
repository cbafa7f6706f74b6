// One membership of the cluster, as its workers tell of it.
#ifndef GAUNTLET_HARNESS_ORACLE_GENERATION_H_
#define GAUNTLET_HARNESS_ORACLE_GENERATION_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "harness/oracle/moment.h"
#include "harness/record/event.h"
#include "harness/record/record.h"

namespace gauntlet {

// A save that somebody was told is there.
struct Acknowledged {
  Moment moment;
  std::string_view digest;  // lies in the record
  bool finite = true;       // its state, and the loss
};

// Which generation: by the number that it claimed. A power cut on a disk that
// lies may take the claim away, and then its number is given out again: an era
// is what is between two power cuts, from 0 on. So may a finished run that
// deletes its store: `store` is what is between two such deletions.
struct GenerationId {
  uint64_t store = 0;
  uint64_t era = 0;
  uint64_t number = 0;

  auto operator<=>(const GenerationId&) const = default;
};

// What a generation did again of what earlier ones had done: where it went on,
// and the furthest that any had come to and that was not given up before. A
// generation that ended before its first step has come to nothing new.
struct Redone {
  uint64_t from = 0;  // the step
  uint64_t to = 0;
  GenerationId of;  // which had come so far

  uint64_t steps() const { return to > from ? to - from : 0; }
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
  int64_t started_ns = INT64_MAX;  // when its first worker had a state
  uint64_t last_step = 0;      // the last step that any of its workers finished
  std::optional<Moment> stop;  // all agreed to stop here
  std::vector<Acknowledged> saves;
  std::set<Moment> begun_saves;
  std::vector<uint64_t> failed_saves;  // their steps
  int finished_workers = 0;            // that had done all their training
  std::optional<Redone> redone;  // nullopt: it did not start, or was the first

  // From the store or from memory.
  std::optional<Moment> started_at() const {
    return carried_on ? carried_on : resumed;
  }
  bool has_started() const { return started_at() || cold_start; }
  // Takes what a life that belongs to it says; `now` has taken it too.
  void Take(const RecordEvent& event, const MomentOfLife& now);
  // Stopped at the agreed moment, and saved there.
  bool StoppedOrderly() const;
};

// How many workers that life of the job has.
int WorkersIn(const RunSetup& setup, int life);

// Of the events of a life, or of what lies between two times that it left a
// generation to rejoin: the last that it names, as some of them name none.
// 0: it never got so far.
uint64_t GenerationOf(const LifeEvents& life);
// The last moment that it came to by training, or took over.
std::optional<Moment> TrainedTo(const LifeEvents& life);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_GENERATION_H_
