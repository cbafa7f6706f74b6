// A worker that is gone before its time, as its launcher saw it go.
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
  // Its own device failed: for the others this is the same as its death.
  bool own_device_failed = false;
};

// Returns true if it died, rather than left with a reason.
bool Died(const WorkerExited& exited);

// Returns true if it died or lost its device, rather than left because of
// others.
bool FailedItself(const Loss& loss);

// "worker 1 was killed by signal 9".
std::string Describe(const Loss& loss);

// Describes the cause of the losses: the culprit, else the first loss. A
// culprit that the launcher killed comes after the first loss. REQUIRES: some.
std::string DescribeAll(std::span<const Loss> losses);

// Returns the loss that began it: the first worker that died by itself or with
// its device, else the only one that did not leave when the others did; null if
// there is none.
const Loss* CulpritOf(std::span<const Loss> losses);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_WORKER_LOSS_H_
