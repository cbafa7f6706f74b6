// Runs a worker in this process: opens its files, builds its world from options
// and place, and calls the engine.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_WORKER_PROCESS_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_WORKER_PROCESS_H_

#include <functional>
#include <string>

#include "engine/app/train_hooks.h"
#include "engine/cluster/resolver/tf_config.h"
#include "engine/real/real_world.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/worker/worker.h"
#include "engine/train/worker_processes.h"
#include "engine/world/event_log.h"

namespace gauntlet {

struct WorkerRun {
  Host& host;  // ends this process
  const TrainOptions& options;
  const WorkerSpec& place;
  ProgressReporter& reporter;
  const TrainHooks& hooks;
  std::string events_file;     // empty: no event file
  EventLog* events = nullptr;  // also receives the events; may be null
  PlanPlace plan;
  // Called when the cluster has formed and the worker has its state; may be
  // empty.
  std::function<void()> on_formed;
  std::function<void(const WorkerEnd&)> on_end;
};

// kInvalidArgument: the place is that of an evaluator.
Status CheckIsWorker(const ClusterPlace& place);

// Runs the worker, and ends the process. Returns only if the worker could not
// start, with the error.
Status RunRealWorker(RealWorld& real, const WorkerRun& run);

// Returns the exit code of a process whose worker could not start, by the code
// of the error.
WorkerExit ExitForStart(Code code);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_WORKER_PROCESS_H_
