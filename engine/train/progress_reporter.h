// Takes a worker's reports on its progress, and the result of its run.
#ifndef GAUNTLET_ENGINE_TRAIN_PROGRESS_REPORTER_H_
#define GAUNTLET_ENGINE_TRAIN_PROGRESS_REPORTER_H_

#include "engine/model/step_probe.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"

namespace gauntlet {

// Safe from any task. Progress never blocks: reports may be dropped for a
// reader that is slow, paused or gone.
class ProgressReporter {
 public:
  virtual ~ProgressReporter() = default;
  virtual void Progress(const WorkerProgress& progress) = 0;
  // Sends the result. A reader that is slow or paused still gets it.
  virtual void Result(const TrainResult& result) = 0;
  // Waits until the launcher has acknowledged the result. kDeadlineExceeded at
  // the deadline; kUnavailable if the launcher is gone. Ok at once if no
  // launcher of this program started the worker.
  virtual Status AwaitAcknowledgement(Time /*deadline*/) { return OkStatus(); }
  // True if anyone reads the lines for people.
  virtual bool reads_lines() const { return true; }
  // Probe for the worker's steps; null: none.
  virtual StepProbe* probe() { return nullptr; }
};

// Reporter of workers that are not watched.
class NoProgressReporter final : public ProgressReporter {
 public:
  void Progress(const WorkerProgress&) override {}
  void Result(const TrainResult&) override {}
  bool reads_lines() const override { return false; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_PROGRESS_REPORTER_H_
