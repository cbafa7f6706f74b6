// What a run did, in outline: which faults fired, and what each generation came
// to. It judges nothing.
#ifndef GAUNTLET_HARNESS_ORACLE_OUTLINE_H_
#define GAUNTLET_HARNESS_ORACLE_OUTLINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/history.h"
#include "harness/oracle/moment.h"
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

// What a generation did again of what earlier ones had done: from the step that
// it went on from to the furthest that any had come to.
struct Redone {
  uint64_t from = 0;
  uint64_t to = 0;

  uint64_t steps() const { return to > from ? to - from : 0; }
};

// One membership of the cluster.
struct Generation {
  uint64_t number = 0;
  std::set<Emitter> workers;
  std::optional<Moment> resumed;     // from a checkpoint
  std::optional<Moment> carried_on;  // from a worker's memory
  bool cold_start = false;
  uint64_t last_step = 0;     // that any of its workers finished
  std::vector<Moment> saves;  // acknowledged
  uint64_t failed_saves = 0;
  std::set<uint64_t> epochs;     // that ended in it
  size_t finished_workers = 0;   // that had done all their training
  bool some_left = false;        // to rejoin
  std::optional<Redone> redone;  // nullopt: it did not start, or was the first

  // From the store or from memory.
  std::optional<Moment> started_at() const {
    return carried_on ? carried_on : resumed;
  }
  bool has_started() const { return started_at() || cold_start; }
  bool HaveAllFinished() const {
    return finished_workers > 0 && finished_workers >= workers.size();
  }
};

struct Outline {
  // The record outlives it.
  explicit Outline(const Record& of);
  Outline(const Record& of, const std::vector<HistoryEvent>& history);

  const Record& record;
  std::vector<Firing> firings;  // in the order of time
  std::vector<Generation> generations;

  // The last launcher said "done".
  bool IsDone() const;

 private:
  void FindFirings();
  void FindGenerations(const std::vector<HistoryEvent>& history);
  void FindRedone();
};

// Whether both are of one process.
bool IsSameLife(const LifeEvents& a, const LifeEvents& b);

// "worker 1, incarnation 2".
std::string NameOf(const LifeEvents& life);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_OUTLINE_H_
