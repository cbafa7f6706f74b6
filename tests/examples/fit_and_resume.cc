// Training with one call, which resumes if the program was killed and is
// started again:
//
//   fit_and_resume BACKUP_DIR [EPOCHS] [INTERRUPT_AFTER_EPOCH]
//
// With a third argument it fails on purpose after that epoch (from 1), once.
#include <cstdlib>
#include <vector>

#include "engine/api/backup_and_restore.h"
#include "engine/api/early_stopping.h"
#include "engine/api/interrupt_at.h"
#include "engine/api/sequential.h"
#include "engine/real/real_world.h"
#include <fmt/format.h>

int main(int argc, char** argv) {
  using namespace gauntlet;
  if (argc < 2) {
    fmt::print(stderr, "usage: {} BACKUP_DIR [EPOCHS] [INTERRUPT]\n", argv[0]);
    return 2;
  }
  InstallSignalHandlers();
  RealWorld machine;
  World world = machine.world();

  Sequential model({.height = 28, .width = 28},
                   {layers::Flatten(), layers::Dense(64), layers::Relu(),
                    layers::Dropout(0.2f), layers::Dense(10)});
  const Status compiled =
      model.Compile({.optimizer = {.kind = OptimizerKind::kAdam}});
  if (!compiled.ok()) {
    fmt::print(stderr, "{}\n", compiled.message());
    return 2;
  }

  BackupAndRestore backup(
      {.backup_dir = argv[1], .save_before_preemption = true});
  EarlyStopping patience({.monitor = Monitor::kValLoss, .patience = 3});
  std::vector<Callback*> callbacks = {&patience, &backup};
  const uint64_t epochs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;
  const uint64_t stop = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  InterruptAt interrupt(InterruptPoint::kEpochSettled, stop - 1);
  if (stop > 0) callbacks.push_back(&interrupt);

  const DataSpec digits = {.samples = 1024, .validation_samples = 256};
  const Result<FitResult> fit =
      model.Fit(world, digits, {.epochs = epochs, .callbacks = callbacks});
  if (!fit.ok()) {
    fmt::print(stderr, "{}\n", fit.status().message());
    return 1;
  }
  if (fit->end == FitEnd::kPreempted) return 143;
  if (fit->resumed_from)
    fmt::print("went on from step {}\n", *fit->resumed_from);
  for (size_t epoch = 0; epoch < fit->history.loss.size(); ++epoch) {
    const EpochMetrics metrics = MetricsOf(fit->history, epoch);
    fmt::print("epoch {}  loss {:.4f}  val_accuracy {:.4f}\n", epoch + 1,
               metrics.loss, metrics.val_accuracy);
  }
  fmt::print("final state {}\n", fit->digest.ToString());
  return 0;
}
