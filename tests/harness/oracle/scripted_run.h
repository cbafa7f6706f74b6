// A run written event by event, as the engine emits it.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_RUN_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_RUN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/history/training_position.h"
#include "harness/record/record.h"
#include "tests/harness/oracle/run_events.h"

namespace gauntlet {

inline constexpr uint64_t kStepsPerEpoch = 4;
inline constexpr uint64_t kEpochs = 2;
inline constexpr uint64_t kLastStep = kEpochs * kStepsPerEpoch;

// Returns the digest of the state after `step` steps, in a phase.
std::string DigestAt(uint64_t step, RecordPhase phase = RecordPhase::kInEpoch);
// Returns the phase of the state directly after the step.
RecordPhase PhaseAfter(uint64_t step);
// Returns a name like "step-000000004-evaluation_due-g1".
std::string NameOfSave(uint64_t step, uint64_t generation);
std::string NameOfSave(const TrainingPosition& position, uint64_t generation);
// Returns the name of the run's last save, "step-000000008-finished-g1".
std::string NameOfLastSave(uint64_t generation);

// A run of two epochs; an epoch has four steps, a step four samples. The
// workers save every two steps and at the end, and keep three checkpoints.
class ScriptedRun {
 public:
  explicit ScriptedRun(int workers = 2);

  // Everything except the events: set-up, plan, results, and the contents of
  // the disk at the end. The functions below that write or remove a save also
  // change `facts.left`.
  Record facts;
  RunEvents events;

  Record record() const;
  // Returns the digest of the save; "" if it is no longer on the disk.
  std::string DigestOfSave(std::string_view name) const;

  // Start and end of the launcher and of processes.
  void Launch();
  void Start(int worker);
  void StartAll();
  // Starts the launcher and all workers.
  void LaunchAll();
  void Restart(int to_blame);
  // Adds the fault to the plan, and fires it before the worker's next step.
  void Fire(int worker, RecordFault fault);
  // The worker detects a preemption notice.
  void SeeNotice(int worker);
  // The worker's process ends without an event.
  void Die(int worker, int64_t exit_code = 70);
  void Exit(int worker, int64_t exit_code,
            RecordReason reason = RecordReason::kNone, uint64_t unsaved = 0);
  // The worker detects that a rank is lost, and leaves its generation.
  void Lose(int worker, int rank, RecordReason reason = RecordReason::kClosed);
  void LeaveToRejoin(int worker);
  void EndLauncher(int exit_code, const std::string& status = "");
  // The machine loses power: all processes end. `disk` is its durability
  // profile.
  void CutPower(const std::string& disk);

  // The chief claims the next generation, or the given one.
  void Claim(const std::string& parent = "");
  void ClaimNumber(uint64_t number, const std::string& parent = "");
  void Initialize();
  void Resume(const std::string& name, const TrainingPosition& position);
  void ResumeFromMemory(int holder);

  void Step(int worker, uint64_t step);
  // All workers train the step.
  void StepAll(uint64_t step);
  void Evaluate();
  void EndEpoch();
  // Trains up to that step, with the saves and epoch ends on the way.
  void TrainTo(uint64_t step);
  void StopAgreed();
  // Saves the state of all workers, and removes what retention does not keep.
  void Save();
  void Keep();
  void BeginSave();
  void CopyForSave();
  void Acknowledge();
  void Retire(const std::string& name);
  // Ends the run: last save, result, exits. Deletes all checkpoints if the
  // set-up requires it.
  void Finish();
  // As Finish, without the exits.
  void SendResult();
  void FinishTraining();

  Emitter By(int worker) const;
  uint64_t generation() const { return generation_; }
  const TrainingPosition& position() const { return positions_.front(); }

 private:
  void Emit(int worker, RecordEvent event);
  void EmitAll(const RecordEvent& event);
  void Launcher(RecordEvent event);
  void EmitExit(int worker, int64_t code, RecordReason reason);
  void DeleteAll();
  RecordEvent StateEvent(RecordKind kind, int worker) const;
  bool IsRunning(int worker) const {
    return running_[static_cast<size_t>(worker)];
  }

  const int workers_;
  int launches_ = 0;
  uint64_t generation_ = 0;
  std::vector<int> incarnations_;
  std::vector<bool> running_;
  std::vector<TrainingPosition> positions_;  // by worker
  std::string saving_;                       // name of the newest save
  TrainingPosition saved_position_;
};

// Returns text like "resume-point/stale-resume" for each finding, in the order
// of invariants.
std::vector<std::string> FindingsOf(const Record& record);
std::vector<std::string> FindingsOf(const ScriptedRun& run);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_RUN_H_
