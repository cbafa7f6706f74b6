// Interfaces by which a program adds fault plans and traces to `gauntlet
// train`. The engine implements neither.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_HOOKS_H_
#define GAUNTLET_ENGINE_APP_TRAIN_HOOKS_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/app/commands.h"
#include "engine/cli/terminal/console.h"
#include "engine/gpu/device_kernels.h"
#include "engine/real/real_world.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

// Paths of a run's fault plan.
struct PlanPlace {
  std::string file;  // empty: no plan
  // Directory in which fired faults are recorded. All processes of the run
  // share it, and no other run uses it. Created if it is missing.
  std::string state;
};

// The fault plan of a run, in the process that launches its workers.
class LauncherFaults {
 public:
  virtual ~LauncherFaults() = default;
  // Directory in which the workers record fired faults.
  virtual const std::string& state_directory() const = 0;
  // Prints the faults that never fired. Called after a complete run.
  virtual void PrintUnfired(Console& console) const = 0;
};

// The faults of a run, in the process of a worker.
class WorkerFaults {
 public:
  virtual ~WorkerFaults() = default;
  // Both functions return their argument with the faults added. REQUIRES: the
  // result does not outlive this object, and `world` is the world of this
  // process.
  virtual gpu::DevicePlace AddFaults(const gpu::DevicePlace& device) = 0;
  virtual World AddFaults(const World& world) = 0;
};

// Process into which WorkerFaults are to be injected.
struct WorkerFaultsTarget {
  const PlanPlace& plan;
  const PreemptionOptions& preemption;
  const WorkerSpec& place;
  RealWorld& real;
  EventLog& events;
};

// Trace of the launcher and the workers of this machine.
class LauncherTraceWriter {
 public:
  virtual ~LauncherTraceWriter() = default;
  // Directory for the event files of launcher and workers.
  virtual const std::string& events_directory() const = 0;
  // Writes the events of the run to the command's trace file. An error starts
  // with "--trace: ".
  virtual Status Write(const TrainCommand& command) const = 0;
};

// Trace of this process, one worker of a cluster.
class WorkerTraceWriter {
 public:
  virtual ~WorkerTraceWriter() = default;
  // Receives the events of the worker.
  virtual EventLog& events() = 0;
  // Writes the trace next to those of the other workers. If that fails, only
  // prints the error. With an exit code for it, the cluster's launcher would
  // restart a worker whose training is complete.
  virtual void Write(const TrainCommand& command, const WorkerSpec& place,
                     Console& console) const = 0;
};

// Functions that create the objects above. REQUIRES: each is set.
// `launcher_faults` is called only if the command has a plan, and the functions
// for traces only if it has a trace file. `worker_faults` is called in every
// worker; it returns null if no fault can occur there.
struct TrainHooks {
  std::function<Result<std::unique_ptr<LauncherFaults>>(
      Storage&, const TrainCommand&, Console&)>
      launcher_faults;
  std::function<Result<std::unique_ptr<WorkerFaults>>(
      const WorkerFaultsTarget&)>
      worker_faults;
  std::function<Result<std::unique_ptr<LauncherTraceWriter>>(
      const TrainCommand&)>
      launcher_trace;
  std::function<std::unique_ptr<WorkerTraceWriter>(const Clock&)> worker_trace;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_HOOKS_H_
