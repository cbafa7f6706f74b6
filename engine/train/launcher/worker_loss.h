// Losses of workers, as their launcher observed them.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_WORKER_LOSS_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_WORKER_LOSS_H_

#include <span>
#include <string>

#include "engine/train/worker_processes.h"

namespace gauntlet {

// A worker that exited before the end of the job.
struct Loss {
  int worker = 0;
  WorkerExited exited;
  std::string failure;  // error that the worker reported; "": none
  bool killed_by_launcher = false;
  // The worker reported that its device failed, which counts as its death.
  bool own_device_failed = false;
};

// Returns true iff the worker died: it did not exit with one of
// AllWorkerExits().
bool Died(const WorkerExited& exited);

// Returns true iff the worker died or its device failed. Other workers exit
// because of such a loss.
bool FailedItself(const Loss& loss);

// Returns a description like "worker 1 was killed by signal 9".
std::string Describe(const Loss& loss);

// Describes the cause of the losses: the culprit, else the first loss. If the
// launcher killed the culprit, describes the first loss, then the culprit.
// REQUIRES: at least one loss.
std::string DescribeAll(std::span<const Loss> losses);

// Returns the loss that caused the others: that of the first worker whose
// device failed, or that died although the launcher did not kill it. If there
// is none, returns the loss of the worker that the launcher killed for not
// exiting in time; null if it killed none or several.
const Loss* CulpritOf(std::span<const Loss> losses);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_WORKER_LOSS_H_
