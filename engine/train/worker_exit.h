// What the end of a worker means to who started it.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_

#include <cstdint>
#include <span>

#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Which part of a run an error comes from decides how the worker ends.
enum class Stage : uint8_t { kSetUp, kForming, kTraining };

WorkerExit ExitFor(const Status& status, Stage stage);

// The same for who started the job: kStartLater is between a worker and its
// launcher.
WorkerExit OutsideOfTheJob(WorkerExit exit);

// All codes by which a worker says how it ended, in ascending order.
std::span<const int> AllWorkerExits();

// Whether the code is one of them.
bool IsWorkerExit(int exit_code);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_
