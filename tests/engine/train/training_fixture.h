// Whole attempts of a small job in the simulated world: workers without a
// launcher, one attempt after another on the same disk.
#ifndef GAUNTLET_TESTS_ENGINE_TRAIN_TRAINING_FIXTURE_H_
#define GAUNTLET_TESTS_ENGINE_TRAIN_TRAINING_FIXTURE_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/inject/faulty_storage.h"
#include "chaos/inject/injector.h"
#include "chaos/sim/sim_effects.h"
#include "chaos/sim/simulation.h"
#include "engine/data/dataset.h"
#include "engine/train/worker/worker.h"
#include <fmt/format.h>

namespace gauntlet {

// Four replicas, 6 steps per epoch, 4 epochs: 24 steps.
inline constexpr uint64_t kStepsPerEpoch = 6;
inline constexpr uint64_t kEpochs = 4;
inline constexpr uint64_t kSteps = kStepsPerEpoch * kEpochs;

inline TrainOptions SmallRun() {
  TrainOptions options;
  options.job = PresetJob("tiny").value();
  options.job.data = {.samples = 96, .validation_samples = 32, .side = 7};
  options.job.model.layers[1].units = 8;
  options.job.replicas = 4;
  options.job.batch = 4;
  options.horizon.epochs = kEpochs;
  options.checkpoint = {.directory = "/ckpt",
                        .trigger = {.unit = SaveUnit::kSteps, .every = 5}};
  options.cluster = {.lost_after = std::chrono::seconds(1),
                     .rendezvous_timeout = std::chrono::seconds(5),
                     .step_timeout = std::chrono::seconds(3),
                     .save_timeout = std::chrono::seconds(10)};
  options.kernels = {.isa = Isa::kScalar};
  options.digest_every = 1;
  return options;
}

// End of one attempt of the job, by rank.
struct AttemptResult {
  std::vector<int> exits;            // exit codes; -1: did not exit
  std::vector<std::string> reasons;  // why the workers ended
  std::vector<std::vector<LogEvent>> events;
  std::optional<TrainResult> result;
  std::vector<std::string> lines;          // the chief's messages for users
  std::vector<std::string> of_themselves;  // failures of workers' own devices
  RunEnd end = RunEnd::kAllExited;

  bool AllExitedWith(WorkerExit exit) const {
    return std::all_of(exits.begin(), exits.end(), [&](int code) {
      return code == static_cast<int>(exit);
    });
  }
  std::vector<LogEvent> Of(EventKind kind, size_t rank = 0) const {
    std::vector<LogEvent> found;
    for (const LogEvent& event : events[rank]) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }
  std::vector<uint64_t> StepsOf(EventKind kind, size_t rank = 0) const {
    std::vector<uint64_t> steps;
    for (const LogEvent& event : Of(kind, rank)) steps.push_back(event.step);
    return steps;
  }
};

class TrainingFixture {
 public:
  // Returns the options of a rank, usually the same for all.
  using OptionsOf = std::function<TrainOptions(int rank)>;
  // Wraps the base network of a rank; null: the rank uses the base network.
  using NetworkOf = std::function<std::unique_ptr<Network>(int rank, Network&)>;

  explicit TrainingFixture(uint64_t seed = 1)
      : simulation_(pool_, {.seed = seed}) {}

  Simulation& simulation() { return simulation_; }
  Storage& disk() { return simulation_.storage("w0"); }
  // Sets the device of the workers whose options name a device.
  void ComputeOn(const gpu::DeviceApi& api) { device_.api = &api; }
  // Makes workers whose options name a device find none, because of `why`.
  void ComputeOnNothing(const std::string& why) {
    device_ = {.no_device = why};
  }
  // Sets the library by which the workers' devices exchange arrays.
  void ExchangeBy(const gpu::CollectiveApi& api) { device_.collective = &api; }
  void PutBeforeTheNetwork(NetworkOf network_of) {
    network_of_ = std::move(network_of);
  }
  // Each of these sets an object that all later runs use; null: none. The
  // object must outlive the runs.
  void UseMemo(TrainMemo* memo) { memo_ = memo; }
  void set_hooks(LoopHooks* hooks) { hooks_ = hooks; }
  void LookBy(StepProbe* probe) { probe_ = probe; }

  AttemptResult Run(int workers, const TrainOptions& options,
                    const FaultPlan& plan = {}) {
    return RunEach(
        workers, [&](int) { return options; }, plan);
  }

  AttemptResult RunEach(int workers, const OptionsOf& options_of,
                        const FaultPlan& plan = {}) {
    const auto count = static_cast<size_t>(workers);
    outcome_ = {};
    outcome_.exits.resize(count, -1);
    outcome_.reasons.resize(count);
    outcome_.events.resize(count);
    ++incarnation_;
    const int first = simulation_.process_count();
    const size_t events_before = simulation_.events().size();
    std::vector<std::string> addresses;
    for (int rank = 0; rank < workers; ++rank) {
      addresses.push_back(
          fmt::format("w{}:{}", rank, 7000 + simulation_.AllocatePort()));
    }
    for (int rank = 0; rank < workers; ++rank) {
      Start({.worker = rank,
             .incarnation = incarnation_,
             .rank = rank,
             .addresses = addresses,
             .token = *JobToken::Parse(std::string(64, 'a'))},
            options_of(rank), plan);
    }
    outcome_.end = simulation_.Run().end;
    const auto& events = simulation_.events();
    for (size_t i = events_before; i < events.size(); ++i) {
      outcome_.events[static_cast<size_t>(events[i].process - first)].push_back(
          events[i].event);
    }
    return std::move(outcome_);
  }

 private:
  class Reporter final : public ProgressReporter {
   public:
    Reporter(AttemptResult& outcome, StepProbe* probe)
        : outcome_(outcome), probe_(probe) {}
    void Progress(const WorkerProgress& progress) override {
      if (!progress.line.empty()) outcome_.lines.push_back(progress.line);
      if (progress.own_device_failed) {
        outcome_.of_themselves.push_back(progress.failure);
      }
    }
    void Result(const TrainResult& result) override {
      outcome_.result = result;
    }
    StepProbe* probe() override { return probe_; }

   private:
    AttemptResult& outcome_;
    StepProbe* probe_;
  };

  void Start(const WorkerSpec& spec, const TrainOptions& options,
             const FaultPlan& plan) {
    const std::string host = fmt::format("w{}", spec.rank);
    if (spec.rank > 0 && hosts_.size() <= static_cast<size_t>(spec.rank)) {
      simulation_.ShareMachine(host, "w0");
    }
    if (hosts_.size() <= static_cast<size_t>(spec.rank)) hosts_.push_back(host);
    const auto rank = static_cast<size_t>(spec.rank);
    simulation_.Start(
        {.name = fmt::format("w{}.{}", spec.worker, spec.incarnation),
         .host = host,
         .body = [this, spec, options, &plan](
                     World& world) { return Main(world, spec, options, plan); },
         .on_exit =
             [this, rank](const ExitStatus& status) {
               outcome_.exits[rank] = status.code;
             }});
  }

  int Main(World& plain, const WorkerSpec& spec, const TrainOptions& options,
           const FaultPlan& plan) {
    SimEffects effects(simulation_, plain);
    Injector injector(plan,
                      {.worker = spec.worker,
                       .incarnation = spec.incarnation,
                       .rank = spec.rank},
                      effects, fired_, plain.events);
    FaultyStorage storage(plain.storage, injector);
    const std::unique_ptr<Network> network =
        network_of_ ? network_of_(spec.rank, plain.network) : nullptr;
    World world = {.clock = plain.clock,
                   .storage = storage,
                   .network = network ? *network : plain.network,
                   .tasks = plain.tasks,
                   .host = plain.host,
                   .faults = injector,
                   .events = plain.events,
                   .entropy = plain.entropy};
    const auto data = LoadData(storage, options.job.data).value();
    Reporter reporter(outcome_, probe_);
    const std::string job_json = JobToJson(options.job, data->content);
    const TrainInputs inputs = {.options = options,
                                .data = *data,
                                .job_json = job_json,
                                .memo = memo_,
                                .hooks = hooks_,
                                .device = device_};
    RunWorkerAndExit(
        world, inputs, spec, reporter, [this, &spec](const WorkerEnd& end) {
          outcome_.reasons[static_cast<size_t>(spec.rank)] = end.reason;
        });
  }

  FiberPool pool_;
  Simulation simulation_;
  FiredFaultSet fired_;
  NetworkOf network_of_;
  gpu::DevicePlace device_;
  TrainMemo* memo_ = nullptr;
  LoopHooks* hooks_ = nullptr;
  StepProbe* probe_ = nullptr;
  std::vector<std::string> hosts_;
  int incarnation_ = 0;
  AttemptResult outcome_;
};

// Returns the digest of the final state of an undisturbed run.
inline std::string UndisturbedDigest(TrainOptions options) {
  options.checkpoint = {};
  options.horizon.stop_at_step.reset();
  return TrainingFixture().Run(1, options).result.value().digest;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_TRAIN_TRAINING_FIXTURE_H_
