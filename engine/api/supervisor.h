// A custom training with everything around it: recovery, checkpoints by the
// clock, services in tasks of their own, and one end for all of them.
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

// Ok: training may continue; the message of an error says what is missing.
using ReadyCheck = std::function<Status(const CustomTraining&, ReadyWhen)>;

// Fails if a weight is infinite or NaN.
Status WeightsAreFinite(const CustomTraining& training, ReadyWhen when);

struct SupervisorOptions {
  // Created if missing. "": neither checkpoints nor summaries.
  std::string logdir;
  Duration save_model_every = std::chrono::seconds(600);  // 0: off
  int max_to_keep = 5;
  // Folder of the checkpoints in logdir; their names have the step. If it holds
  // none and another folder of logdir does, the name may have been changed by
  // mistake: training then starts afresh only if cold_start allows it.
  std::string checkpoint_basename = "model.ckpt";
  // Variables to save; see CheckpointManagerOptions.
  std::vector<std::string> save_variables;
  ColdStart cold_start = ColdStart::kRefuse;
  // Loss, speed and the scalars of SummaryComputed, for TensorBoard; 0: off.
  Duration save_summaries_every = std::chrono::seconds(120);
  Duration count_steps_every = std::chrono::seconds(120);  // 0: off
  // Called before anything is loaded, in every incarnation.
  std::function<Status(CustomTraining&)> local_init;
  // Called in place of a load if there is nothing to recover, for example for a
  // warm start. With save_variables also called before a load, for the
  // variables that are not saved.
  std::function<Status(CustomTraining&)> init_fn;
  ReadyCheck ready = WeightsAreFinite;  // null: no check
  // Time from a stop until services that do not end are given up.
  Duration stop_grace = std::chrono::seconds(120);
  PreemptionOptions preemption;
  // kStop: ShouldStop is true once the loss is not finite, and such a state is
  // not saved.
  OnNotFinite on_not_finite = OnNotFinite::kTrainOn;
};

class Supervisor;

// One incarnation of the training. Made by Supervisor::PrepareSession.
class ManagedSession {
 public:
  // True if any worker wants all to stop: after a failed service, RequestStop
  // or a termination notice. Check it before each step.
  bool ShouldStop() const { return stopping_; }

  // Runs one step of all workers. Closes the epoch after its last step, and
  // saves if a save is due or a stop was agreed on. Returns the loss.
  Result<float> Step();

  uint64_t step() const;
  // Speed over the last interval of count_steps_every; 0: none is over yet.
  double steps_per_second() const { return steps_per_second_; }
  // True if this incarnation resumed from a checkpoint.
  bool recovered() const { return recovered_; }
  // True if the stop is due to a termination notice to any worker: the program
  // must then exit with WorkerExit::kStopped.
  bool preempted() const { return preempted_; }
  // True if the stop is due to a loss or state that is not finite: the program
  // must then exit with WorkerExit::kNotFinite.
  bool not_finite() const { return not_finite_; }

  // Scalars of the user's own, at the present step: written by the summary
  // service. On the chief; elsewhere, or without that service, nothing.
  void SummaryComputed(std::vector<Scalar> scalars);

  // Calls `body` on this worker, at once and then every `period`, in its own
  // task, like Coordinator::Loop.
  void Loop(std::string name, Duration period, std::function<Status()> body);
  // Makes ShouldStop true on all workers after the next step.
  void RequestStop(const Status& why) { coordinator_.RequestStop(why); }

  // Ends the services, saves the last step if none of them failed (one that a
  // notice stopped was saved before this), and leaves the cluster. The first
  // error of a service on any worker, else the save's; what Step returned is
  // not repeated. To be called once, on every worker.
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
  Status HearOfServices(const Status& own);
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
  bool broken_ = false;  // a step failed: the others may be gone
  std::optional<uint64_t> saved_step_;
  // Written by services, read by the steps, and the other way round.
  std::atomic<bool> save_due_ = false;
  std::atomic<uint64_t> steps_done_ = 0;
  std::atomic<float> loss_ = 0.0f;  // of the newest step
  std::atomic<double> steps_per_second_ = 0.0;
  uint64_t summarized_step_ = 0;  // used by the summary service alone
  // Used by the counting service alone.
  uint64_t counted_steps_ = 0;
  std::optional<Time> counted_at_;
};

class Supervisor {
 public:
  // The training outlives it and its session.
  Supervisor(CustomTraining& training, SupervisorOptions options)
      : training_(&training), options_(std::move(options)) {}

  // Recovers the newest good checkpoint, or initialises where there is none,
  // and starts the services. kFailedPrecondition: not ready; or there are
  // checkpoints and none can be used; or another session or run owns them.
  // kOtherJob: they belong to another job. After an error the program leaves
  // (CustomTraining::Leave).
  Result<std::unique_ptr<ManagedSession>> PrepareSession();

 private:
  CustomTraining* training_;
  SupervisorOptions options_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_SUPERVISOR_H_
