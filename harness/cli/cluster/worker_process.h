// A worker in this process, with its files: the step from options and a place
// to the engine.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_WORKER_PROCESS_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_WORKER_PROCESS_H_

#include <functional>
#include <string>

#include "engine/cluster/resolver/tf_config.h"
#include "engine/real/real_world.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/worker/worker.h"
#include "engine/train/worker_processes.h"
#include "engine/world/event_log.h"

namespace gauntlet {

// A fault plan of a run. What fired is noted in a directory that all processes
// of the run share, and no other run: it is made where it is missing.
struct PlanPlace {
  std::string file;  // empty: no faults
  std::string state;
};

struct WorkerRun {
  Host& host;  // ends this process
  const TrainOptions& options;
  const WorkerSpec& place;
  ProgressReporter& reporter;
  std::string events_file;     // empty: no events
  EventLog* events = nullptr;  // gets the events too; null: none does
  PlanPlace plan;
  // Once the cluster stands and the state is there; may be empty.
  std::function<void()> on_formed;
  std::function<void(const WorkerEnd&)> on_end;
};

// kInvalidArgument for an evaluator.
Status CheckIsWorker(const ClusterPlace& place);

// Returns only with what kept the worker from beginning; ends the process
// otherwise.
Status RunRealWorker(RealWorld& real, const WorkerRun& run);

// How a process ends that such an error kept from being a worker.
WorkerExit ExitForStart(Code code);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_WORKER_PROCESS_H_
