// One worker of a training run, from its first rendezvous to its exit. The code
// is the same in every world.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_H_

#include <functional>
#include <optional>
#include <string>

#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/state/train_state.h"
#include "engine/train/worker/train_inputs.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

// Exit code of the worker, and the error that caused it; `reason` is empty if
// there was no error.
struct WorkerEnd {
  WorkerExit exit = WorkerExit::kDone;
  std::string reason;
  Code code = Code::kOk;      // of the error that `reason` is about
  uint64_t unsaved_step = 0;  // of the state that could not be saved; 0: none
};

// Result of a worker for the program that called it.
struct TrainedWorker {
  WorkerEnd end;
  // State that the worker reached; nullopt if training never began, or if the
  // device lost it.
  std::optional<TrainState> state;
  std::optional<uint64_t> resumed_from;  // step
};

// Trains until the horizon, a notice or a loss.
TrainedWorker TrainAsWorker(World& world, const TrainInputs& inputs,
                            const WorkerSpec& place,
                            ProgressReporter& reporter);

// Like TrainAsWorker, but calls `on_end` with the outcome. RunWorker does not
// wait for other tasks of the worker. So `on_end` must end the process with
// that exit code, or at least end these tasks. If `on_end` returns, RunWorker
// returns the exit code.
int RunWorker(World& world, const TrainInputs& inputs, const WorkerSpec& place,
              ProgressReporter& reporter,
              const std::function<void(const WorkerEnd&)>& on_end);

// Like RunWorker, but ends the process itself after `on_end`.
[[noreturn]] void RunWorkerAndExit(
    World& world, const TrainInputs& inputs, const WorkerSpec& place,
    ProgressReporter& reporter,
    const std::function<void(const WorkerEnd&)>& on_end);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_H_
