#include "engine/app/train/evaluate_command.h"

#include <cmath>
#include <memory>
#include <utility>

#include "engine/api/weights/start_weights.h"
#include "engine/app/ckpt/trained_checkpoint.h"
#include "engine/app/train/output_places.h"
#include "engine/app/train/start_error.h"
#include "engine/cli/exit_code.h"
#include "engine/epoch_text.h"
#include "engine/finite.h"
#include "engine/real/real_world.h"
#include "engine/summary/summary_writer.h"
#include "engine/train/output_overlap.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

double Accuracy(const Evaluation& evaluation) {
  return static_cast<double>(evaluation.correct) /
         static_cast<double>(evaluation.samples);
}

// Settings of an evaluator, for `gauntlet evaluate` and for a cluster's
// evaluator.
struct EvaluatorRun {
  Evaluator::Source source;
  EvaluatorLoop loop;
  std::string summary_directory;
  OutputFormat output = OutputFormat::kText;
  std::string_view command;  // for messages
};

// Prints evaluations to the console, and writes their curves to a separate
// folder. In the folder of the training run, these event files would make
// readers discard points that training wrote.
class EvaluationPrinter final : public EvaluationReporter {
 public:
  EvaluationPrinter(World& world, const EvaluatorRun& run, Console& console)
      : world_(world), run_(run), console_(console) {}

  void Evaluated(const Evaluation& evaluation) override {
    ++evaluations_;
    console_.out << (run_.output == OutputFormat::kJson
                         ? EvaluationToJson(evaluation)
                         : EvaluationToText(evaluation))
                 << std::endl;
    if (run_.summary_directory.empty()) return;
    const Status written = WriteSummary(evaluation);
    if (!written.ok() && !failing_) {
      Warn("TensorBoard events are not written: " + written.message());
    }
    failing_ = !written.ok();
  }

  void Warn(const std::string& line) override {
    console_.err << line << std::endl;
  }

  size_t evaluations() const { return evaluations_; }

 private:
  Status WriteSummary(const Evaluation& evaluation) {
    if (writer_ == nullptr) {
      const std::string directory =
          WithoutLastSlashes(run_.summary_directory) + "/evaluation";
      ASSIGN_OR_RETURN(writer_,
                       SummaryWriter::Open(world_, directory, evaluation.step));
    }
    // The tags are those of TensorFlow's side-car evaluator.
    const Scalar scalars[] = {
        {.tag = "evaluation_loss_vs_iterations", .value = evaluation.loss},
        {.tag = "evaluation_accuracy_vs_iterations",
         .value = static_cast<float>(Accuracy(evaluation))}};
    return writer_->Write(evaluation.step, scalars);
  }

  World& world_;
  const EvaluatorRun& run_;
  Console& console_;
  std::unique_ptr<SummaryWriter> writer_;
  size_t evaluations_ = 0;
  bool failing_ = false;
};

std::string_view WhyNothingIsLoaded(World& world,
                                    const std::string& directory) {
  const Status listed = world.storage.List(directory).status();
  return listed.code() == Code::kNotFound
             ? "no such directory; name the --ckpt of a training run, or wait "
               "for it without --once"
             : "no checkpoint can be loaded";
}

ExitCode Run(const EvaluatorRun& run, World& world, Console& console) {
  Evaluator evaluator(world, run.source);
  EvaluationPrinter printer(world, run, console);
  const Result<EvaluatorEnd> end =
      RunEvaluator(world, evaluator, run.loop, printer);
  const auto say = [&](std::string_view line) {
    fmt::print(console.err, "gauntlet {}: {}\n", run.command, line);
  };
  if (!end.ok()) {
    say(end.status().message());
    return end.status().code() == Code::kOtherJob ? ExitCode::kOtherJob
                                                  : ExitCode::kUsage;
  }
  switch (*end) {
    case EvaluatorEnd::kPreempted:
      say(world.host.Interrupts() > 0 ? "interrupted"
                                      : "stopped by a preemption notice");
      return ExitCode::kStopped;
    case EvaluatorEnd::kScannedOnce:
      if (printer.evaluations() > 0) return ExitCode::kOk;
      say(fmt::format("{}: {}", run.source.directory,
                      WhyNothingIsLoaded(world, run.source.directory)));
      return ExitCode::kNoCheckpoint;
    case EvaluatorEnd::kStoreDeleted:
      say(run.source.directory + ": deleted, its run is finished");
      return ExitCode::kOk;
    case EvaluatorEnd::kReachedLast:
      return ExitCode::kOk;
  }
  return ExitCode::kViolated;
}

// Returns the job that the command describes; the checkpoints' own job is not
// used.
Result<EvaluatedJob> JobOfTraining(World& world, TrainOptions options) {
  Result<std::shared_ptr<const DataSplit>> data =
      LoadData(world.storage, options.job.data);
  RETURN_IF_ERROR(Annotate(data.status(), "--data"));
  RETURN_IF_ERROR(DescribeStartError(
      LoadStartWeights(world, (*data)->train, options).status(),
      options.start.weights));
  std::string json = JobToJson(options.job, (*data)->content);
  return EvaluatedJob{.job = std::move(options.job),
                      .json = std::move(json),
                      .data = *std::move(data)};
}

// An evaluator runs on the CPU, as it keeps no state on a device.
KernelOptions OnTheCpu(KernelOptions kernels) {
  kernels.device = DeviceKind::kCpu;
  return kernels;
}

}  // namespace

std::string EvaluationToText(const Evaluation& evaluation) {
  return fmt::format("{}  step {}  val_loss {:.4f}  val_accuracy {:.4f}  {}",
                     EpochsCompleted(evaluation.epoch), evaluation.step,
                     CanonicalNan(evaluation.loss), Accuracy(evaluation),
                     evaluation.checkpoint);
}

namespace {

// Checks both directories, and creates the one for summaries. The checkpoint
// directory may be missing, as training may create it later; it must not be
// something else, such as a file.
Status PreparePlaces(Storage& storage, const std::string& store,
                     const std::string& summary) {
  const Status listed = storage.List(store).status();
  if (!listed.ok() && listed.code() != Code::kNotFound) {
    return Annotate(listed, "--ckpt");
  }
  RETURN_IF_ERROR(
      Annotate(CheckOutputPlace(storage, summary), "--tensorboard"));
  return Annotate(MakeSummaryPlace(storage, summary), "--tensorboard");
}

}  // namespace

std::string EvaluationToJson(const Evaluation& evaluation) {
  nlohmann::ordered_json json = {{"checkpoint", evaluation.checkpoint},
                                 {"epoch", evaluation.epoch},
                                 {"step", evaluation.step},
                                 {"val_loss", nullptr},
                                 {"val_accuracy", Accuracy(evaluation)},
                                 {"correct", evaluation.correct},
                                 {"rows", evaluation.samples},
                                 {"finite", std::isfinite(evaluation.loss)}};
  if (std::isfinite(evaluation.loss)) json["val_loss"] = evaluation.loss;
  return json.dump();
}

int RunEvaluate(const EvaluateCommand& command, World& world,
                Console& console) {
  const Status places = CheckOverlap(
      world.storage, {.store = {.role = "--ckpt", .path = command.directory},
                      .others = {{.role = "--tensorboard",
                                  .path = command.summary_directory}}});
  if (!places.ok()) {
    fmt::print(console.err, "gauntlet evaluate: {}\n", places.message());
    return static_cast<int>(ExitCode::kUsage);
  }
  const auto job_of = [&](const std::string& job_json) -> Result<EvaluatedJob> {
    ASSIGN_OR_RETURN(JobSpec job, WholeJobOf(job_json));
    ASSIGN_OR_RETURN(auto data,
                     LoadDataOf(world.storage, job, job_json, command.data));
    return EvaluatedJob{
        .job = std::move(job), .json = job_json, .data = std::move(data)};
  };
  return static_cast<int>(
      Run({.source = {.directory = command.directory,
                      .job_of = job_of,
                      .kernels = {.threads = command.threads}},
           .loop = command.loop,
           .summary_directory = command.summary_directory,
           .output = command.output,
           .command = "evaluate"},
          world, console));
}

int EvaluateLocally(const EvaluateCommand& command, Console& console) {
  InstallSignalHandlers();
  RealWorld real;
  World world = real.world();
  const Status places =
      PreparePlaces(real.storage, command.directory, command.summary_directory);
  if (!places.ok()) {
    fmt::print(console.err, "gauntlet evaluate: {}\n", places.message());
    return static_cast<int>(ExitCode::kUsage);
  }
  return RunEvaluate(command, world, console);
}

int RunSidecar(const TrainCommand& command, Console& console) {
  const TrainOptions& options = command.options;
  if (options.checkpoint.directory.empty()) {
    fmt::print(console.err,
               "gauntlet train: TF_CONFIG: task.type: evaluator: expected "
               "--ckpt DIR, the store that it reads\n");
    return static_cast<int>(ExitCode::kUsage);
  }
  InstallSignalHandlers();
  RealWorld real;
  World world = real.world();
  Result<EvaluatedJob> job = JobOfTraining(world, options);
  if (const Status places =
          PreparePlaces(real.storage, options.checkpoint.directory,
                        options.summary.directory);
      job.ok() && !places.ok()) {
    job = places;
  }
  if (!job.ok()) {
    fmt::print(console.err, "gauntlet train: {}\n", job.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  if (command.progress == ProgressChoice::kAuto) {
    fmt::print(console.err, "evaluator of {}\n", options.checkpoint.directory);
    console.err << std::flush;
  }
  return static_cast<int>(
      Run({.source = {.directory = options.checkpoint.directory,
                      .job_of = [&job](const std::string&) { return job; },
                      .kernels = OnTheCpu(options.kernels)},
           .loop = {.until_epoch = options.horizon.epochs,
                    .until_step = options.horizon.max_steps},
           .summary_directory = options.summary.directory,
           .output = command.output,
           .command = "train"},
          world, console));
}

}  // namespace gauntlet
