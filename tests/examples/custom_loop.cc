// A custom training loop, with numbered checkpoints:
//
//   custom_loop CHECKPOINT_DIR [STEPS]
//
// The same command again resumes from the newest checkpoint. On SIGTERM it
// saves the current step and exits with 143.
#include <cstdlib>

#include "engine/api/checkpoint_manager.h"
#include "engine/api/custom_training.h"
#include "engine/api/preemption_handler.h"
#include "engine/job/layers.h"
#include "engine/real/real_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

JobSpec DigitsJob() {
  JobSpec job;
  job.model.layers = {layers::Flatten(), layers::Dense(64), layers::Relu(),
                      layers::Dense(10)};
  job.data = {.samples = 1024, .validation_samples = 256};
  return job;
}

// Returns 0, or the exit code to stop with.
Result<int> Train(CustomTraining& training, CheckpointManager& manager,
                  uint64_t steps) {
  PreemptionCheckpointHandler handler(training, manager, {});
  while (training.step() < steps || training.EpochDone()) {
    // Checked first: the previous run may have stopped after the last step of
    // an epoch.
    if (training.EpochDone()) {
      ASSIGN_OR_RETURN(const EpochMetrics metrics, training.EndEpoch());
      fmt::print("epoch {}  loss {:.4f}  val_accuracy {:.4f}\n",
                 training.epoch(), metrics.loss, metrics.val_accuracy);
      continue;
    }
    ASSIGN_OR_RETURN(const HandledStep step, handler.Run());
    if (step.stopped) return static_cast<int>(WorkerExit::kStopped);
    RETURN_IF_ERROR(manager.SaveIfDue().status());
  }
  RETURN_IF_ERROR(manager.Save().status());
  return 0;
}

Result<int> Run(World& world, const std::string& directory, uint64_t steps) {
  ASSIGN_OR_RETURN(const auto training,
                   CustomTraining::Create(world, {.job = DigitsJob()}));
  ASSIGN_OR_RETURN(
      const auto manager,
      CheckpointManager::Create(*training, {.directory = directory,
                                            .max_to_keep = 2,
                                            .checkpoint_interval = 10}));
  ASSIGN_OR_RETURN(const bool restored, manager->RestoreOrInitialize());
  fmt::print("{} step {}\n", restored ? "went on from" : "began at",
             training->step());
  Result<int> code = Train(*training, *manager, steps);
  training->Leave();
  fmt::print("newest checkpoint {}\nfinal state {}\n",
             manager->latest_checkpoint(), training->StateDigest().ToString());
  return code;
}

}  // namespace
}  // namespace gauntlet

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: {} CHECKPOINT_DIR [STEPS]\n", argv[0]);
    return 2;
  }
  gauntlet::InstallSignalHandlers();
  gauntlet::RealWorld machine;
  gauntlet::World world = machine.world();
  const uint64_t steps = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100;
  const auto code = gauntlet::Run(world, argv[1], steps);
  if (code.ok()) return *code;
  fmt::print(stderr, "{}\n", code.status().message());
  return 1;
}
