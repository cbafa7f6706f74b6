// One attempt at a job by its launcher: from the start of all workers until
// none runs any more. Under `rejoin` a worker that is lost starts again within
// it.
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

  // An error: not all workers could be started, and those that were are gone.
  Status Run();

  // Outcome of an attempt that is over; none if the job has to start again.
  std::optional<LaunchEnd> FinalOutcome() const;
  // Reason why the job has to start again. Also decides the consequence for the
  // worker that is to blame, so call it once.
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
  // No worker starts again from here on. Only the first reason counts.
  void NoMoreStarts(Reason why, std::optional<int> worker = std::nullopt);
  // Likewise, and kills the workers that are left.
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
  std::map<int, int> incarnations_;         // by worker, the newest
  std::map<int, bool> killed_by_launcher_;  // killed from here, by worker
  std::map<int, std::string> failures_;     // said, by worker
  std::set<int> failed_themselves_;         // as they said with it
  std::vector<Loss> losses_;                // in the order they came
  size_t blamed_ = 0;     // how many of them somebody was blamed for
  bool ending_ = false;   // no worker of it starts again
  std::string ended_by_;  // why, where that is known
  std::optional<TrainResult> result_;
  size_t losses_before_result_ = 0;  // how many came before it
  Time kill_at_ = kNever;
  Time looked_at_{};        // at the workers, the last time
  bool heard_all_ = false;  // no notice is left unread
  Duration patience_{0};    // of the chief, by its last message
  Time hangs_at_ = kNever;  // the chief, if it says nothing until then
  std::string hang_;        // description of the chief's hang
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_H_
