// A whole run in the simulated world: launcher, workers with emulated devices,
// and a plan of faults.
#ifndef GAUNTLET_TESTS_ENGINE_TRAIN_LAUNCHED_RUN_H_
#define GAUNTLET_TESTS_ENGINE_TRAIN_LAUNCHED_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/inject/faulty_storage.h"
#include "chaos/inject/injector.h"
#include "chaos/sim/sim_effects.h"
#include "chaos/sim/sim_worker_processes.h"
#include "chaos/sim/simulation.h"
#include "engine/data/dataset.h"
#include "engine/gpu/device_kernels.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/worker/worker.h"

namespace gauntlet {

struct LaunchedEnd {
  LaunchEnd launch;
  RunEnd run = RunEnd::kAllExited;
  std::vector<LogEvent> events;    // of all processes, in order
  std::vector<std::string> lines;  // the chief's messages for users

  std::vector<LogEvent> Of(EventKind kind) const {
    std::vector<LogEvent> found;
    for (const LogEvent& event : events) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }
};

class LaunchedRun {
 public:
  LaunchedRun(const TrainOptions& options, const gpu::DevicePlace& device,
              uint64_t seed = 1)
      : options_(options),
        device_(device),
        simulation_(pool_, {.seed = seed}) {}

  Simulation& simulation() { return simulation_; }
  // Sets the time that each process takes to load its data.
  void LoadFor(Duration time) { load_time_ = time; }

  LaunchedEnd Run(LauncherOptions launcher, const FaultPlan& plan = {}) {
    launcher.checkpoint_directory = options_.checkpoint.directory;
    options_.cluster.on_loss = OnLossUnder(launcher.restart);
    launcher.rejoin_grace = RejoinGraceOf(options_.cluster);
    LaunchedEnd end;
    simulation_.Start(
        {.name = "launcher", .host = "launcher", .body = [&](World& world) {
           SimWorkerProcesses processes(
               simulation_, world,
               {.body = [&](World& plain, const WorkerSpec& spec,
                            const WorkerReport& report) {
                 return Work(plain, spec, report, plan);
               }});
           Observer observer(end);
           end.launch = Launch(world, processes, launcher, observer);
           return end.launch.exit_code;
         }});
    end.run = simulation_.Run().end;
    for (LoggedEvent& logged : simulation_.TakeEvents()) {
      end.events.push_back(std::move(logged.event));
    }
    return end;
  }

 private:
  class Observer final : public LaunchObserver {
   public:
    explicit Observer(LaunchedEnd& end) : end_(end) {}
    void Progress(const WorkerProgress& progress) override {
      if (!progress.line.empty()) end_.lines.push_back(progress.line);
    }
    void Restarting(int, const std::string&, Duration) override {}

   private:
    LaunchedEnd& end_;
  };

  class Reporter final : public ProgressReporter {
   public:
    explicit Reporter(const WorkerReport& report) : report_(report) {}
    void Progress(const WorkerProgress& progress) override {
      report_(progress);
    }
    void Result(const TrainResult& result) override { report_(result); }
    Status AwaitAcknowledgement(Time deadline) override {
      return report_.AwaitAcknowledgement(deadline);
    }

   private:
    const WorkerReport& report_;
  };

  int Work(World& plain, const WorkerSpec& spec, const WorkerReport& report,
           const FaultPlan& plan) {
    SimEffects effects(simulation_, plain,
                       [incarnation = spec.incarnation](int worker) {
                         return WorkerHost(worker, incarnation);
                       });
    Injector injector(plan,
                      {.worker = spec.worker,
                       .incarnation = spec.incarnation,
                       .rank = spec.rank},
                      effects, fired_, plain.events);
    World world = {.clock = plain.clock,
                   .storage = plain.storage,
                   .network = plain.network,
                   .tasks = plain.tasks,
                   .host = plain.host,
                   .faults = injector,
                   .events = plain.events,
                   .entropy = plain.entropy};
    const Time began = world.clock.Now();
    const auto data = LoadData(world.storage, options_.job.data).value();
    world.clock.SleepUntil(began + load_time_);
    Reporter reporter(report);
    const std::string job_json = JobToJson(options_.job, data->content);
    const TrainInputs inputs = {.options = options_,
                                .data = *data,
                                .job_json = job_json,
                                .device = device_,
                                .loaded_since = began};
    RunWorkerAndExit(world, inputs, spec, reporter, [](const WorkerEnd&) {});
  }

  TrainOptions options_;
  const gpu::DevicePlace device_;
  Duration load_time_{0};
  FiberPool pool_;
  Simulation simulation_;
  FiredFaultSet fired_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_TRAIN_LAUNCHED_RUN_H_
