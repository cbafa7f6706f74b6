#include "engine/app/train/train_command.h"

#include "engine/app/train/output_places.h"
#include "engine/app/train/train_outcome.h"
#include "engine/app/train/train_progress.h"
#include "engine/text/counted.h"
#include "engine/train/output_overlap.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

std::string CheckpointText(const CheckpointOptions& checkpoint) {
  if (checkpoint.directory.empty()) return "no checkpoints (--ckpt DIR)";
  const uint64_t every = checkpoint.trigger.every;
  const auto when = [&]() -> std::string {
    switch (checkpoint.trigger.unit) {
      case SaveUnit::kNone:
        return "at a preemption and at the end";
      case SaveUnit::kSteps:
        return every == 1 ? "each step" : fmt::format("each {} steps", every);
      case SaveUnit::kSeconds:
        return fmt::format("each {} s", every);
      case SaveUnit::kEpochs:
        return every == 1 ? "each epoch" : fmt::format("each {} epochs", every);
    }
    return "";
  };
  return fmt::format("saves {} to {}", when(), checkpoint.directory);
}

}  // namespace

std::string TrainHeader(const TrainCommand& command) {
  const JobSpec& job = command.options.job;
  const auto workers = static_cast<uint64_t>(command.launcher.workers);
  const std::string& weights = command.options.start.weights;
  const DeviceKind device = command.options.kernels.device;
  return fmt::format(
      "{}: {} of {} samples on {}{}, seed {}{}; {}", command.preset,
      Counted(static_cast<uint64_t>(job.replicas), "replica"), job.batch,
      Counted(workers, "worker"),
      device == DeviceKind::kCpu ? ""
                                 : fmt::format(" ({})", DeviceKindName(device)),
      job.seed, weights.empty() ? "" : ", starts from " + weights,
      CheckpointText(command.options.checkpoint));
}

Status CheckPlaces(Storage& storage, const TrainCommand& command) {
  RETURN_IF_ERROR(CheckOutputPlaces(storage, command));
  const TrainOptions& options = command.options;
  return CheckOverlap(
      storage,
      {.store = {.role = "--ckpt", .path = options.checkpoint.directory},
       .exported = {.role = "--export", .path = options.export_directory},
       .others = {
           {.role = "--tensorboard", .path = options.summary.directory},
           {.role = "--events", .path = command.events_directory},
           {.role = "--logs", .path = command.logs_directory},
           {.role = "--trace", .path = command.trace_file},
           {.role = "--plan-state", .path = command.plan_state_directory}}});
}

int RunTrain(const TrainCommand& command, World& world,
             WorkerProcesses& processes, Console& console) {
  if (command.progress == ProgressChoice::kAuto) {
    fmt::print(console.err, "{}\n", TrainHeader(command));
    console.err << std::flush;
  }
  TrainProgress progress(world.clock, command, console.err, console.err_style);
  const Time begin = world.clock.Now();
  TrainOutcome outcome;
  outcome.end = Launch(world, processes, command.launcher, progress);
  outcome.seconds =
      std::chrono::duration<double>(world.clock.Now() - begin).count();
  progress.Clear();
  // The progress line must be cleared before the result is printed, as both may
  // go to the same terminal.
  console.Flush();
  PrintTrainOutcome(outcome, command.output, command.options, console);
  if (!outcome.end.reason.empty()) {
    fmt::print(console.err, "gauntlet train: {}\n",
               ReasonWithAdvice(outcome.end));
  }
  return outcome.end.exit_code;
}

}  // namespace gauntlet
