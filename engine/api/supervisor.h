// Custom training with recovery, timed checkpoints, services in tasks of their
// own, and a stop that all workers share.
//
//   Supervisor supervisor(*training, {.logdir = "logs"});
//   auto session = supervisor.PrepareSession();
//   while (!(*session)->ShouldStop() && (*session)->step() < 1000) {
//     (*session)->Step();
//   }
//   (*session)->Stop();
//
// All workers make the same calls; services run on the chief.
#ifndef GAUNTLET_ENGINE_API_SUPERVISOR_H_
#define GAUNTLET_ENGINE_API_SUPERVISOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/checkpoint_manager.h"
#include "engine/api/coordinator.h"
#include "engine/api/custom_training.h"
#include "engine/api/summary_service.h"
#include "engine/status.h"
#include "engine/train/notice/notice_requests.h"
#include "engine/train/notice/notice_watch.h"

namespace gauntlet {

// Moment at which readiness is checked.
enum class ReadyWhen : uint8_t { kBeforeLoad, kAfterLoad };

// Returns Ok if training may continue; else an error that says what is missing.
using ReadyCheck = std::function<Status(const CustomTraining&, ReadyWhen)>;

// Fails if a weight is infinite or NaN.
Status WeightsAreFinite(const CustomTraining& training, ReadyWhen when);

struct SupervisorOptions {
  // Created if missing. "": neither checkpoints nor summaries.
  std::string logdir;
  Duration save_model_every = std::chrono::seconds(600);  // 0: off
  int max_to_keep = 5;
  // Name of the folder in logdir that has the checkpoints. If this folder has
  // no checkpoints but another folder in logdir has, training starts from
  // scratch only if cold_start allows it: the name may have been changed by
  // mistake.
  std::string checkpoint_basename = "model.ckpt";
  // Variables to save; see CheckpointManagerOptions.
  std::vector<std::string> save_variables;
  ColdStart cold_start = ColdStart::kRefuse;
  // Period of the summaries (loss, speed, scalars of SummaryComputed); 0: off.
  Duration save_summaries_every = std::chrono::seconds(120);
  Duration count_steps_every = std::chrono::seconds(120);  // 0: off
  // Called before anything is loaded, in every incarnation.
  std::function<Status(CustomTraining&)> local_init;
  // Called instead of a load if there is nothing to recover, for example for a
  // warm start. With save_variables it is also called before a load, to
  // initialize the variables that are not saved.
  std::function<Status(CustomTraining&)> init_fn;
  ReadyCheck ready = WeightsAreFinite;  // null: no check
  // Longest time for which Stop waits for services that are still busy.
  Duration stop_grace = std::chrono::seconds(120);
  PreemptionOptions preemption;
  // kStop: once the loss is not finite, ShouldStop becomes true, and the state
  // is no longer saved.
  OnNotFinite on_not_finite = OnNotFinite::kTrainOn;
};

class Supervisor;

// The training of one incarnation of a worker, created by
// Supervisor::PrepareSession.
class ManagedSession {
 public:
  // Returns true if any worker has requested that all workers stop, because of
  // a failed service, a call of RequestStop, or a preemption notice. Check it
  // before each step.
  bool ShouldStop() const { return stopping_; }

  // Runs one step of all workers. Closes the epoch after its last step, and
  // saves if a save is due or a stop was agreed on. Returns the loss.
  Result<float> Step();

  uint64_t step() const;
  // Steps per second in the last interval of count_steps_every; 0 before the
  // first interval has ended.
  double steps_per_second() const { return steps_per_second_; }
  // True if this incarnation resumed from a checkpoint.
  bool recovered() const { return recovered_; }
  // True if a preemption notice to any worker caused the stop: the program must
  // then exit with WorkerExit::kStopped.
  bool preempted() const { return preempted_; }
  // True if a loss or state that is not finite caused the stop: the program
  // must then exit with WorkerExit::kNotFinite.
  bool not_finite() const { return not_finite_; }

  // Adds the user's own scalars at the current step, for the summary service.
  // Has no effect on a worker without that service: only the chief runs it.
  void SummaryComputed(std::vector<Scalar> scalars);

  // Calls `body` on this worker in a task of its own, immediately and then
  // every `period`, as Coordinator::Loop does.
  void Loop(std::string name, Duration period, std::function<Status()> body);
  // Makes ShouldStop true on all workers after the next step.
  void RequestStop(const Status& why) { coordinator_.RequestStop(why); }

  // Ends the services, saves the last step, and leaves the cluster. Does not
  // save if a service has failed, or if the step is saved already (for example
  // after a preemption notice). Returns the first error of a service on any
  // worker, else the error of the save. Does not repeat an error that Step
  // returned. Call it once, on every worker.
  Status Stop();

 private:
  friend class Supervisor;
  ManagedSession(CustomTraining& training, const SupervisorOptions& options);

  Status Prepare();
  Status Ready(ReadyWhen when) const;
  Status LoadOrInitialize();
  Status OpenCheckpoints();
  Status Initialize();
  Status StartServices();
  uint32_t Requests();
  Status TakeStep(float& loss);
  Status MakeAgreedSave();
  Status ExchangeOutcomes(const Status& own);
  Status StartSummaries();
  Status Save();
  void CountSteps();
  Status WriteSummaries();

  CustomTraining* training_;
  SupervisorOptions options_;
  std::unique_ptr<CheckpointManager> manager_;  // null: no checkpoints
  std::unique_ptr<SummaryService> summaries_;   // null: none
  Coordinator coordinator_;
  NoticeWatch watch_;
  NoticeRequests notices_;
  bool recovered_ = false;
  bool stopping_ = false;
  bool preempted_ = false;
  bool not_finite_ = false;
  bool broken_ = false;  // a step failed: other workers may be lost
  std::optional<uint64_t> saved_step_;
  // Shared by the services and the training task.
  std::atomic<bool> save_due_ = false;
  std::atomic<uint64_t> steps_done_ = 0;
  std::atomic<float> loss_ = 0.0f;  // of the newest step
  std::atomic<double> steps_per_second_ = 0.0;
  uint64_t summarized_step_ = 0;  // used only by the summary service
  // Used by the counting service alone.
  uint64_t counted_steps_ = 0;
  std::optional<Time> counted_at_;
};

class Supervisor {
 public:
  // `training` must outlive the supervisor and its session.
  Supervisor(CustomTraining& training, SupervisorOptions options)
      : training_(&training), options_(std::move(options)) {}

  // Recovers the newest valid checkpoint, or initializes if there is none, and
  // starts the services. kFailedPrecondition: the training is not ready; or
  // there are checkpoints but none is valid; or another session or run owns
  // them. kOtherJob: they belong to another job. After an error the program
  // must call CustomTraining::Leave.
  Result<std::unique_ptr<ManagedSession>> PrepareSession();

 private:
  CustomTraining* training_;
  SupervisorOptions options_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_SUPERVISOR_H_
