// Meaning of a worker's exit for its launcher.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_

#include <cstdint>
#include <span>

#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Part of a run that an error comes from: it decides how the worker ends.
enum class Stage : uint8_t { kSetUp, kForming, kTraining };

WorkerExit ExitFor(const Status& status, Stage stage);

// The same for who started the job: kStartLater is between a worker and its
// launcher.
WorkerExit OutsideOfTheJob(WorkerExit exit);

// All codes by which a worker says how it ended, in ascending order.
std::span<const int> AllWorkerExits();

// Returns true if the code is one of them.
bool IsWorkerExit(int exit_code);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_
