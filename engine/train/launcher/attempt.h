// One attempt at a job: from the start of all workers until none is running.
// With RestartPolicy::kRejoin a lost worker is restarted within the attempt.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/launcher/attempt_outcome.h"
#include "engine/train/launcher/attempt_state.h"
#include "engine/train/launcher/launch_state.h"
#include "engine/train/launcher/rejoin_tracker.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"

namespace gauntlet {

class Attempt {
 public:
  // `launch` outlives the attempt.
  explicit Attempt(LaunchState& launch);

  // Runs the attempt to its end. Returns an error if a worker could not be
  // started. All workers have exited when this returns.
  Status Run();

  // The functions below REQUIRE that Run has returned.

  // Returns the outcome of the job; nullopt if the job must be restarted.
  std::optional<LaunchEnd> FinalOutcome() const;
  // Returns the reason for the restart. Also counts a failure of the worker
  // that caused the loss; the worker may be excluded for that. Called at most
  // once.
  std::string RestartReason();

 private:
  // kKillSent: the launcher has killed the process, but its exit has not been
  // reported yet.
  enum class ProcessState : uint8_t { kRunning, kKillSent, kExited };

  struct Incarnation {
    int number = 0;
    ProcessState process = ProcessState::kExited;
    std::string failure;             // error that the worker reported
    bool own_device_failed = false;  // as the worker reported
    bool runs() const { return process != ProcessState::kExited; }
  };

  // Changes the state. CHECKs that the transition is permitted.
  void Enter(AttemptState state);
  Status StartAll();
  Status Start(size_t rank);
  void RunEventLoop();
  void ForwardNotices();
  void SetChiefDeadline(Duration patience);
  void CheckChief(Time now);
  void AllowForPause(Time now);
  // Returns an event about the worker's newest incarnation.
  LogEvent EventAbout(EventKind kind, int worker) const;
  void Kill(int worker, Reason why);
  void KillAll(Reason why);
  // Enters kEnding, and emits the reason. Has no effect in kEnding.
  void EnterEnding(Reason why, std::optional<int> worker = std::nullopt);
  // Calls EnterEnding, and kills the workers that are still running.
  void End(Reason why, std::optional<int> worker = std::nullopt);
  void SetKillDeadline(Duration grace);
  void Handle(const WorkerEvent& event);
  void HandleProgress(int worker, const WorkerProgress& progress);
  void HandleResult(int worker, const TrainResult& result);
  std::optional<int> MemberOf(std::optional<int> rank) const;
  void HandleExit(int worker, const WorkerExited& exited);
  bool IsRunning(int worker) const;
  bool AnyIsRunning() const;
  bool CanExcludeFailedWorker() const;
  bool MayRejoin() const;
  void AdvanceRejoin(Time now);
  void RestartLostWorkers();
  void HandleLosses();
  int chief() const { return members_.front(); }

  LaunchState& launch_;
  World& world_;
  WorkerProcesses& processes_;
  const LauncherOptions& options_;

  AttemptState state_ = AttemptState::kStarting;
  AttemptOutcome outcome_;
  RejoinTracker rejoin_;
  std::vector<int> members_;                 // workers, by rank
  std::vector<std::string> addresses_;       // by rank
  std::map<int, Incarnation> incarnations_;  // newest one, by worker
  // Cause of the losses that ended the attempt because no rejoin was allowed;
  // "": there are none.
  std::string restart_reason_;
  Time kill_deadline_ = kNever;
  Time checked_at_{};             // time of the last check of the workers
  bool all_events_read_ = false;  // at the last check
  Duration patience_{0};          // longest time until the chief's next report
  Time chief_deadline_ = kNever;  // deadline of that report
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_H_
