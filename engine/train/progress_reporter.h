// Receives a worker's progress reports and the result of its run.
#ifndef GAUNTLET_ENGINE_TRAIN_PROGRESS_REPORTER_H_
#define GAUNTLET_ENGINE_TRAIN_PROGRESS_REPORTER_H_

#include "engine/model/step_probe.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"

namespace gauntlet {

// Thread-safe. Progress never blocks: reports may be dropped if the reader is
// slow, paused or gone.
class ProgressReporter {
 public:
  virtual ~ProgressReporter() = default;
  virtual void Progress(const WorkerProgress& progress) = 0;
  // Sends the result. A slow or paused reader still receives it.
  virtual void Result(const TrainResult& result) = 0;
  // Waits until the launcher has acknowledged the result. Returns
  // kDeadlineExceeded at the deadline, kUnavailable if the launcher is gone.
  // Returns Ok immediately if no launcher of this program started the worker.
  virtual Status AwaitAcknowledgement(Time /*deadline*/) { return OkStatus(); }
  // Returns true if a person reads the lines of text in the reports.
  virtual bool reads_lines() const { return true; }
  // Returns the probe for the worker's steps; null if there is none.
  virtual StepProbe* probe() { return nullptr; }
};

// Discards all reports, for a worker whose progress nobody reads.
class NoProgressReporter final : public ProgressReporter {
 public:
  void Progress(const WorkerProgress&) override {}
  void Result(const TrainResult&) override {}
  bool reads_lines() const override { return false; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_PROGRESS_REPORTER_H_
