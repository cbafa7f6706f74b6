// Exit codes of a worker, as its launcher interprets them.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_

#include <cstdint>
#include <span>

#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Part of the run in which an error occurs. The same error has different exit
// codes in different stages.
enum class Stage : uint8_t { kSetUp, kForming, kTraining };

WorkerExit ExitFor(const Status& status, Stage stage);

// Returns the code with which the process exits.
constexpr int WorkerExitCode(WorkerExit exit) { return static_cast<int>(exit); }

// Returns the exit code of a job that ends because a worker exited with `exit`.
// It is the same code, except that kStartLater, which only the launcher
// understands, becomes kLostWorker.
WorkerExit JobExitFor(WorkerExit exit);

// Returns all exit codes of a worker, in ascending order.
std::span<const int> AllWorkerExits();

// Returns true iff the code is one of AllWorkerExits().
bool IsWorkerExit(int exit_code);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_EXIT_H_
