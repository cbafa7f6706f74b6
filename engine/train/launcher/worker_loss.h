// A worker that has exited before the end of the job, as its launcher observed
// it.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_WORKER_LOSS_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_WORKER_LOSS_H_

#include <span>
#include <string>

#include "engine/train/worker_processes.h"

namespace gauntlet {

struct Loss {
  int worker = 0;
  WorkerExited exited;
  std::string failure;  // its own report, if any
  bool killed_by_launcher = false;
  // Its own device failed: for the others, this equals its death.
  bool own_device_failed = false;
};

// Returns true if the worker died, rather than exited with one of
// AllWorkerExits().
bool Died(const WorkerExited& exited);

// Returns true if the worker died or lost its device, rather than left because
// of other workers.
bool FailedItself(const Loss& loss);

// Returns a description like "worker 1 was killed by signal 9".
std::string Describe(const Loss& loss);

// Describes the cause of the losses: the culprit, else the first loss. If the
// launcher killed the culprit, describes the first loss, then the culprit.
// REQUIRES: at least one loss.
std::string DescribeAll(std::span<const Loss> losses);

// Returns the loss that caused the others: the first worker that died or lost
// its device without being killed by the launcher, else the only one that the
// launcher killed because it did not exit with the others; null if there is
// none.
const Loss* CulpritOf(std::span<const Loss> losses);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_WORKER_LOSS_H_
