// Outline of a run: the faults that fired, and the course of each generation.
// It makes no judgement.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_OUTLINE_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_OUTLINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/history/history.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/fault_traits.h"
#include "harness/record/record.h"

namespace gauntlet {

// One event of a fault that fired.
struct FaultOccurrence {
  const RecordFault* fault = nullptr;
  FaultTraits traits;  // effects of the fault in this run
  const IncarnationEvents* incarnation = nullptr;
  size_t index = 0;  // index of the event in its process
  const RecordEvent& event() const { return incarnation->events[index]; }
};

// Steps that a generation trains once more: from its own start to the last step
// of the generation that started just before it.
struct RecomputedSteps {
  uint64_t from = 0;
  uint64_t to = 0;

  uint64_t steps() const { return to > from ? to - from : 0; }
};

// One membership of the cluster.
struct Generation {
  uint64_t number = 0;
  std::set<Emitter> workers;
  std::optional<TrainingPosition> resumed;  // from a checkpoint
  std::optional<TrainingPosition>
      resumed_from_memory;  // from a worker's memory
  bool cold_start = false;
  uint64_t last_step = 0;  // last step that any worker finished or holds
  std::vector<TrainingPosition> saves;  // acknowledged
  uint64_t failed_saves = 0;
  std::set<uint64_t> epochs;    // ended in this generation
  size_t finished_workers = 0;  // workers that finished all training
  bool some_left = false;       // a worker left to rejoin
  // nullopt: the generation did not start, or was the first to start.
  std::optional<RecomputedSteps> recomputed;

  // Position that the generation resumed from; nullopt: it started cold, or not
  // at all.
  std::optional<TrainingPosition> started_at() const {
    return resumed_from_memory ? resumed_from_memory : resumed;
  }
  bool has_started() const { return started_at() || cold_start; }
  bool HaveAllFinished() const {
    return finished_workers > 0 && finished_workers >= workers.size();
  }
};

struct Outline {
  // The record must outlive this object.
  explicit Outline(const Record& of);
  Outline(const Record& of, const std::vector<HistoryEvent>& history);

  const Record& record;
  std::vector<FaultOccurrence> occurrences;  // in the order of time
  std::vector<Generation> generations;

  // Returns true iff the last launcher's result is "done".
  bool IsDone() const;

 private:
  void FindOccurrences();
  void FindGenerations(const std::vector<HistoryEvent>& history);
  void FindRecomputed();
};

// Returns true iff both have the events of the same process.
bool IsSameIncarnation(const IncarnationEvents& a, const IncarnationEvents& b);

// Returns "worker 1, incarnation 2".
std::string NameOf(const IncarnationEvents& incarnation);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_OUTLINE_H_
