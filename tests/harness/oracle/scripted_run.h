// A run that is written down event by event, as the engine emits it.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_RUN_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/oracle/history/training_position.h"
#include "harness/record/record.h"
#include "tests/harness/oracle/run_events.h"

namespace gauntlet {

inline constexpr uint64_t kStepsPerEpoch = 4;
inline constexpr uint64_t kEpochs = 2;
inline constexpr uint64_t kLastStep = kEpochs * kStepsPerEpoch;

// The state after so many steps, at a phase.
std::string DigestAt(uint64_t step, RecordPhase phase = RecordPhase::kInEpoch);
// Phase of the state right after the step.
RecordPhase PhaseAfter(uint64_t step);
// "step-000000004-evaluation_due-g1".
std::string NameOfSave(uint64_t step, uint64_t generation);
std::string NameOfSave(const TrainingPosition& moment, uint64_t generation);
// The last save of all: "step-000000008-finished-g1".
std::string NameOfLastSave(uint64_t generation);

// Two workers, two epochs of four steps of four rows, a save every two steps
// and at the end, of which three are kept.
class ScriptedRun {
 public:
  explicit ScriptedRun(int workers = 2);

  // All but the events: set-up, plan, results, and what is left. `left` follows
  // the saves as they are written and removed.
  Record facts;
  RunEvents events;

  Record record() const;

  // The launcher, and processes.
  void Launch();
  void Start(int worker);
  void StartAll();
  // Starts the launcher and all workers.
  void LaunchAll();
  void Restart(int to_blame);
  // The fault is planned, and fires before the worker's next step.
  void Fire(int worker, RecordFault fault);
  // The worker sees a termination notice.
  void SeeNotice(int worker);
  // It ends without a word.
  void Die(int worker, int64_t exit_code = 70);
  void Exit(int worker, int64_t exit_code,
            RecordReason reason = RecordReason::kNone, uint64_t unsaved = 0);
  // It finds a rank gone, and leaves its generation.
  void Lose(int worker, int rank, RecordReason reason = RecordReason::kClosed);
  void LeaveToRejoin(int worker);
  void EndLauncher(int exit_code, const std::string& status = "");
  // On the machine's disk: all processes are gone.
  void CutPower(const std::string& disk);

  // The chief claims the next generation, or that one.
  void Claim(const std::string& parent = "");
  void ClaimNumber(uint64_t number, const std::string& parent = "");
  void Initialize();
  void Resume(const std::string& name, const TrainingPosition& moment);
  void CarryOn(int holder);

  void Step(int worker, uint64_t step);
  // All workers do.
  void StepAll(uint64_t step);
  void Evaluate();
  void EndEpoch();
  // Trains to that step, with the saves and epoch ends on the way.
  void TrainTo(uint64_t step);
  void StopAgreed();
  // Saves the state of all, and removes what retention does not keep.
  void Save();
  void Keep();
  void BeginSave();
  void CopyForSave();
  void Acknowledge();
  void Retire(const std::string& name);
  // To the end: the last save, the result, and out. Deletes all checkpoints
  // where the set-up says so.
  void Finish();
  // … and not out yet.
  void SendResult();
  void FinishTraining();

  Emitter By(int worker) const;
  uint64_t generation() const { return generation_; }
  const TrainingPosition& moment() const { return moments_.front(); }

 private:
  void Say(int worker, RecordEvent event);
  void SayAll(const RecordEvent& event);
  void Launcher(RecordEvent event);
  void Gone(int worker, int64_t code, RecordReason reason);
  void DeleteAll();
  RecordEvent StateEvent(RecordKind kind, int worker) const;
  bool IsThere(int worker) const { return there_[static_cast<size_t>(worker)]; }

  const int workers_;
  int launches_ = 0;
  uint64_t generation_ = 0;
  std::vector<int> incarnations_;
  std::vector<bool> there_;
  std::vector<TrainingPosition> moments_;  // by worker
  std::string saving_;                     // name of the newest save
  TrainingPosition saved_moment_;
};

// "resume-point/stale-resume" of each finding, in the order of invariants.
std::vector<std::string> FindingsOf(const Record& record);
std::vector<std::string> FindingsOf(const ScriptedRun& run);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_RUN_H_
