// A worker that is gone before its time, as its launcher saw it go.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_LOSS_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_LOSS_H_

#include <span>
#include <string>

#include "engine/train/worker_processes.h"

namespace gauntlet {

struct Loss {
  int worker = 0;
  WorkerExited exited;
  std::string failure;    // what it said of it, if anything
  bool put_down = false;  // the launcher killed it
  // What it said is of its own device: for the others the same as its death.
  bool of_itself = false;
};

// Whether it died, rather than left with a word on why.
bool Died(const WorkerExited& exited);

// Whether it died or lost its device, rather than left because of others.
bool FailedItself(const Loss& loss);

// "worker 1 was killed by signal 9".
std::string Describe(const Loss& loss);

// What began it: the word of the culprit, else of the first; who had to be put
// down is named after that. REQUIRES: some.
std::string DescribeAll(std::span<const Loss> losses);

// Whose end began it: the first that died of itself or with its device, else
// the only one that did not leave when the others did; null where nobody's did.
const Loss* CulpritOf(std::span<const Loss> losses);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_LOSS_H_
