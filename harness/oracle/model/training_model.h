// Model of training: each worker follows the reference run, state by state.
//
// Each training event of a worker is the next one of the reference run. A
// worker starts where its generation starts: at the parent checkpoint of the
// claim, at a state that one of the workers held in memory, or at step 0. A
// generation begins a save whenever one is due, stops at the step on which all
// workers agreed, and uses the same samples as the reference.
#ifndef GAUNTLET_HARNESS_ORACLE_MODEL_TRAINING_MODEL_H_
#define GAUNTLET_HARNESS_ORACLE_MODEL_TRAINING_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/disturbances.h"
#include "harness/oracle/history/history.h"
#include "harness/oracle/history/training_position.h"
#include "harness/oracle/model/reference.h"
#include "harness/oracle/model/store_model.h"
#include "harness/record/record.h"

namespace gauntlet {

class TrainingModel {
 public:
  // The arguments must outlive this object.
  TrainingModel(const Record& record, const StoreModel& store, Checks& checks);

  // Processes the next event. REQUIRES: events come in the order of the
  // history, and the store model has processed this event before.
  void On(const HistoryEvent& entry);
  // Checks the run as a whole. Called after the last event.
  void End();

 private:
  // One process.
  struct Worker {
    int rank = 0;
    std::optional<TrainingPosition> state;
    std::optional<size_t> at;  // index of its state in the reference
    // Last state that the worker trained itself, or took from another worker's
    // memory.
    std::optional<TrainingPosition> trained;
    std::optional<size_t> generation;  // index of its generation
    bool stops = false;                // has agreed to stop
    bool finished = false;
    bool acknowledged = false;  // its result was acknowledged
    bool saves = false;         // its save is in progress
    bool copied = false;        // has copied its part of the save
    bool met_error = false;
    bool announced_leaving = false;    // has reported that it leaves
    bool reported_not_finite = false;  // has reported a non-finite value
    uint64_t not_finite_since = 0;     // first non-finite step; 0: not known
    uint32_t loss_bits = 0;            // last loss that it emitted
    bool owes_not_finite = false;      // must report a non-finite state
    uint64_t left = 0;                 // newest generation that it left
    std::vector<const RecordEvent*> losses;  // in this generation

    void NoteNotFinite(uint64_t step) {
      not_finite_since =
          not_finite_since == 0 ? step : std::min(not_finite_since, step);
    }
    std::string_view loaded;  // name of the checkpoint that it last loaded
    std::string_view loaded_digest;  // digest of the state that it loaded
    // Newest event of each fault that fired in the process, by the fault's id.
    std::map<std::string_view, const RecordEvent*> fired;
    // Files that faults damaged: pairs of fault and file.
    std::set<std::pair<std::string_view, std::string_view>> damaged;
  };
  // Samples of a step that workers have emitted so far.
  struct StepSamples {
    std::vector<uint32_t> samples;
    size_t tellers = 0;  // number of these workers
  };
  // First event of its kind and position in a generation: the events of other
  // workers must agree with it.
  struct First {
    Emitter by;
    const RecordEvent* event = nullptr;
  };
  // One membership of the cluster.
  struct Generation {
    uint64_t number = 0;
    std::vector<Emitter> members;  // workers that have started in it
    std::optional<TrainingPosition> start;
    int64_t started_ns = 0;
    uint64_t last_step = 0;
    // Step of the newest save whose outcome is known, and step of the newest
    // save that has begun; the step of the start if there is no such save.
    uint64_t settled_to = 0;
    uint64_t saved_to = 0;
    std::optional<TrainingPosition> not_finite_at;  // first report by a member
    std::optional<uint64_t> stop;                   // step at which all stop
    std::map<uint64_t, int> failed;  // number of failed saves, by step
    // Steps whose samples some members have emitted, but not all.
    std::map<uint64_t, StepSamples> open;
    size_t finished = 0;
    std::map<std::tuple<RecordKind, uint64_t, RecordPhase>, First> firsts;
  };

  void OnLauncher(int start, const RecordEvent& event);
  void OnWorker(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CheckGeneration(const Emitter& by, const Generation* generation,
                       const RecordEvent& event);
  void CheckResult(const Worker& chief, const FinalResult& result,
                   const RecordEvent& event);
  void FailRepetition(const Emitter& by, const RecordEvent& event);
  void CheckNumber(const Emitter& by, const Generation& generation,
                   const RecordEvent& event);
  void CheckEventPosition(const Emitter& by, const Worker& worker,
                          const RecordEvent& event);
  void Load(const Emitter& by, Worker& worker, const RecordEvent& event);
  void Lose(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CheckIsConnected(const Emitter& by, const Worker& worker,
                        const Generation& generation, const RecordEvent& event);
  void NotFinite(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CheckReportsNotFinite(const Emitter& by, Worker& worker,
                             const Generation& generation,
                             const RecordEvent& event);
  void CheckNotFiniteSince(const Emitter& by, Worker& worker,
                           const RecordEvent& event);
  void CheckDamage(const Emitter& by, Worker& worker, const RecordEvent& event);
  void Join(const Emitter& by, Worker& worker, const RecordEvent& event);
  size_t GenerationFor(const Emitter& by, const RecordEvent& event);
  uint64_t SavedBy(uint64_t number, uint64_t settled_to) const;
  void CopyNotFiniteSince(Worker& worker);
  void CheckStart(const Emitter& by, const Worker& worker,
                  const Generation& generation, const RecordEvent& event);
  void CheckResumed(const Emitter& by, const Worker& worker,
                    const RecordEvent& event);
  void CheckResumeFromMemory(const Emitter& by, const Worker& worker,
                             const Generation& generation,
                             const RecordEvent& event);
  void CheckMemory(const Generation& before, const Generation& after,
                   const TrainingPosition& from);
  void CheckPlace(const Emitter& by, const Worker& worker,
                  const RecordEvent& event);
  void Train(const Emitter& by, Worker& worker, const RecordEvent& event);
  std::string WhyNotInReference(const RecordEvent& event) const;
  void CheckAgainstReference(const Emitter& by, Worker& worker,
                             const RecordEvent& event);
  void CheckReplicas(const Emitter& by, Generation& generation,
                     const RecordEvent& event);
  void NoteProgress(const Worker& worker, uint64_t step);
  void TakeStep(const Emitter& by, Generation& generation,
                const RecordEvent& event);
  void CheckDue(const Emitter& by, Generation& generation,
                const RecordEvent& event);
  void CloseSteps(const Generation& generation);
  static void NoteSaveOutcome(Generation* generation, const RecordEvent& event);
  void CheckSave(const Emitter& by, Worker& worker, const RecordEvent& event);
  void BeginSave(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CopyForSave(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CheckCopies(const Emitter& by, const Worker& worker,
                   const RecordEvent& event);
  void CheckStateOf(const Emitter& by, const RecordEvent& event,
                    const TrainingPosition& position);
  void Stop(const Emitter& by, Worker& worker, const RecordEvent& event);
  const PlannedLaunch* LaunchOf(const Emitter& by) const;
  const PlannedLaunch* PlanOf(const LauncherRun& launcher) const;
  bool IsTheEnd(size_t at, const PlannedLaunch* launch) const;
  void CheckLaunch(const Emitter& by, const Generation& generation,
                   const RecordEvent& event);
  void Finish(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CheckDeletion(const Emitter& by, const Worker& worker);
  void Leave(const Emitter& by, Worker& worker, const RecordEvent& event);
  void CheckWorkerExit(const Emitter& by, const Worker& worker,
                       const RecordEvent& event);
  void CheckGivenUp(const Emitter& by, const Worker& worker,
                    const RecordEvent& event);
  void Fire(const Emitter& by, Worker& worker, const RecordEvent& event);
  size_t EndOf(const PlannedLaunch* launch) const;
  void CheckIsComplete(const LauncherRun& last_launch);
  void CountSteps(uint64_t found, uint64_t expected);
  void CheckReferenceSamples(const FinalResult& result);

  Generation* Of(const Worker& worker);

  const Record& record_;
  const StoreModel& store_;
  Checks& checks_;
  const Reference reference_;
  const bool reports_samples_;

  std::map<Emitter, Worker> workers_;
  std::vector<Generation> generations_;
  std::map<uint64_t, size_t> newest_;  // newest generation of each number
  std::optional<size_t> newest_started_;
  std::set<uint64_t> steps_;   // trained so far
  std::set<uint64_t> epochs_;  // ended so far
  // True between the begin of a launcher and the first start of a generation
  // after it.
  bool is_launched_anew_ = false;
  // Faults that do more than kill one process.
  Disturbances disturbances_;
  std::set<int> started_;  // workers that have started in the attempt
  int restarts_without_progress_ = 0;  // since the last new step
  uint64_t furthest_ = 0;              // newest step that any chief reached
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_MODEL_TRAINING_MODEL_H_
