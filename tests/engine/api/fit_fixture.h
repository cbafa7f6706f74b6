// Programs that call Fit, run one after another on the same disk of the
// simulated world, with any number of workers.
#ifndef GAUNTLET_TESTS_ENGINE_API_FIT_FIXTURE_H_
#define GAUNTLET_TESTS_ENGINE_API_FIT_FIXTURE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/sim/simulation.h"
#include "engine/api/sequential.h"
#include <fmt/format.h>

namespace gauntlet {

// Returns data for six steps per epoch with one replica, whose batch is 16
// samples, or for three steps per epoch with two replicas.
inline DataSpec SmallDigits() {
  return {.samples = 96, .validation_samples = 32, .side = 7};
}

inline Sequential SmallModel() {
  Sequential model({.height = 7, .width = 7},
                   {layers::Flatten(), layers::Dense(8), layers::Relu(),
                    layers::Dropout(0.2f), layers::Dense(10)});
  const Status compiled =
      model.Compile({.optimizer = {.learning_rate = 0.01f}});
  CHECK(compiled.ok(), compiled.ToString());
  return model;
}

inline FitOptions SmallFit(uint64_t epochs, std::vector<Callback*> callbacks) {
  return {.epochs = epochs,
          .batch = 16,
          .callbacks = std::move(callbacks),
          .cluster = {.lost_after = std::chrono::seconds(1),
                      .rendezvous_timeout = std::chrono::seconds(5),
                      .step_timeout = std::chrono::seconds(3),
                      .save_timeout = std::chrono::seconds(10)},
          .kernels = {.isa = Isa::kScalar}};
}

class FitFixture {
 public:
  using Program = std::function<void(World& world, const WorkerSpec& place)>;

  explicit FitFixture(const DiskOptions& disk = {})
      : simulation_(pool_, {.seed = 1, .disk = disk}) {}

  Simulation& simulation() { return simulation_; }

  // Runs the program as a process on each of `workers` workers, until all have
  // ended.
  RunEnd Run(int workers, const Program& program) {
    ++incarnation_;
    std::vector<std::string> addresses;
    for (int rank = 0; rank < workers && workers > 1; ++rank) {
      addresses.push_back(
          fmt::format("w{}:{}", rank, 7000 + simulation_.AllocatePort()));
    }
    for (int rank = 0; rank < workers; ++rank) {
      const std::string host = fmt::format("w{}", rank);
      if (rank > 0 && rank >= hosts_) simulation_.ShareMachine(host, "w0");
      hosts_ = std::max(hosts_, rank + 1);
      const WorkerSpec place = {
          .worker = rank,
          .incarnation = incarnation_,
          .rank = rank,
          .addresses = addresses,
          .token = *JobToken::Parse(std::string(64, 'a'))};
      simulation_.Start({.name = fmt::format("w{}.{}", rank, incarnation_),
                         .host = host,
                         .body =
                             [&program, place](World& world) {
                               program(world, place);
                               return 0;
                             },
                         .on_exit = [](const ExitStatus&) {}});
    }
    return simulation_.Run().end;
  }

  // Runs the program of a single worker.
  void Run(const std::function<void(World& world)>& program) {
    Run(1, [&](World& world, const WorkerSpec&) { program(world); });
  }

  Storage& disk() { return simulation_.storage("w0"); }

 private:
  FiberPool pool_;
  Simulation simulation_;
  int incarnation_ = 0;
  int hosts_ = 1;
};

// Runs a program that fits a model, and returns its result.
inline Result<FitResult> FitOnce(
    FitFixture& fixture, const FitOptions& options,
    const std::function<Sequential()>& build = SmallModel) {
  std::optional<Result<FitResult>> result;
  fixture.Run([&](World& world) {
    Sequential model = build();
    result = model.Fit(world, SmallDigits(), options);
  });
  return *result;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_API_FIT_FIXTURE_H_
