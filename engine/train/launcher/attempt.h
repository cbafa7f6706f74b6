// One attempt at a job: from the start of all workers until none is running.
// With RestartPolicy::kRejoin a lost worker is restarted within the attempt.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/launcher/launch_state.h"
#include "engine/train/launcher/rejoin_tracker.h"
#include "engine/train/launcher/worker_loss.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"

namespace gauntlet {

class Attempt {
 public:
  // `launch` outlives it.
  explicit Attempt(LaunchState& launch);

  // Runs the attempt to its end. Returns an error if a worker could not be
  // started; those that were started have exited by then.
  Status Run();

  // Returns the outcome of an attempt that has ended; nullopt if the job must
  // be restarted.
  std::optional<LaunchEnd> FinalOutcome() const;
  // Returns the reason for the restart. Call it once: it also counts the
  // failure of the worker that caused the loss, which may exclude that worker.
  std::string RestartReason();

 private:
  Status StartAll();
  Status Start(size_t rank);
  void RunEventLoop();
  void PassOnNotices();
  void ExpectChief(Duration patience);
  void WatchChief(Time now);
  void AllowForPause(Time now);
  // Returns an event about the worker's newest incarnation.
  LogEvent About(EventKind kind, int worker) const;
  void Kill(int worker, Reason why);
  void KillAll(Reason why);
  // Forbids further restarts in this attempt. Later calls change nothing.
  void NoMoreStarts(Reason why, std::optional<int> worker = std::nullopt);
  // As NoMoreStarts, and kills the workers that are still running.
  void End(Reason why, std::optional<int> worker = std::nullopt);
  void SetKillDeadline(Duration grace);
  void Take(const WorkerNotice& notice);
  void TakeProgress(int worker, const WorkerProgress& progress);
  std::optional<int> MemberOf(std::optional<int> rank) const;
  void TakeExit(int worker, const WorkerExited& exited);
  bool AnyRuns() const;
  bool CanExcludeFailedWorker() const;
  bool MayRegroup() const;
  void TendRegroup(Time now);
  void StartTheDead();
  void NoteRegroup();
  std::string ReasonOfLosses();
  LaunchEnd EndWithResult() const;
  int chief() const { return members_.front(); }

  LaunchState& launch_;
  World& world_;
  WorkerProcesses& processes_;
  const LauncherOptions& options_;

  RejoinTracker rejoin_;
  std::vector<int> members_;                // by rank
  std::vector<std::string> addresses_;      // by rank
  std::map<int, bool> running_;             // by worker
  std::map<int, int> incarnations_;         // newest one, by worker
  std::map<int, bool> killed_by_launcher_;  // by worker
  std::map<int, std::string> failures_;     // reported errors, by worker
  std::set<int> failed_themselves_;         // reported a failed device
  std::vector<Loss> losses_;                // in order of arrival
  size_t blamed_ = 0;     // number of losses with an assigned cause
  bool ending_ = false;   // no worker is restarted
  std::string ended_by_;  // reason, if known
  std::optional<TrainResult> result_;
  size_t losses_before_result_ = 0;  // number of losses before the result
  Time kill_at_ = kNever;
  Time looked_at_{};        // last check of the workers
  bool heard_all_ = false;  // no notice is left unread
  Duration patience_{0};    // of the chief, by its last report
  Time hangs_at_ = kNever;  // deadline of the chief's next report
  std::string hang_;        // description of the chief's hang
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_H_
