// The options of `gauntlet train`.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/app/cluster/cluster_flags.h"
#include "engine/app/cluster/membership_flags.h"
#include "engine/app/cluster/notice_flags.h"
#include "engine/app/parsers.h"
#include "engine/app/train/job_file.h"
#include "engine/app/train/job_flags.h"
#include "engine/app/train/store_flags.h"
#include "engine/cli/flags/flags.h"
#include "engine/job/preset_run.h"
#include "engine/math/kernels.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kTrainExamples =
    R"(Examples:
  gauntlet train                          # the preset tiny, to its end
  gauntlet train --preset cnn --workers 2 --ckpt one
  gauntlet train --preset mlp --data mnist/ --ckpt two --save-every 30s
  gauntlet train --epochs 4 --stop-at-step 10 --ckpt three
  gauntlet train --job job.yaml --epochs 20 --ckpt four
  gauntlet train --init-from model --epochs 4

Run the same command again to resume: training continues from the newest good
checkpoint in --ckpt DIR, with any number of workers. The groups Job,
Optimizer and Data belong to the job: a run resumes only with the same ones.
Give --replicas if the number of workers may change.

Ctrl-C and SIGTERM are preemption notices: training saves, if --ckpt is given,
and exits with 143. A second Ctrl-C ends it at once, with 130.

Started by torchrun, srun, mpirun, a Kubernetes job or with TF_CONFIG, train is
one worker of that cluster, and the cluster restarts it (exit code 75). Run
`gauntlet train --explain-cluster` to see what it reads from the environment.
Exit codes: gauntlet help exit-codes. Presets: gauntlet list presets.)";

struct HorizonFlags {
  std::optional<uint64_t> epochs;
  std::optional<uint64_t> steps;
};

struct TrainFlags {
  std::string job_file;              // "": no job file
  std::optional<JobFile> from_file;  // settings of --job
  JobFlags job;
  HorizonFlags horizon;
  FirstStoreFlag first_store_flag;
  std::optional<int> max_restarts;
  std::optional<uint64_t> summary_every;
  std::optional<Duration> grace;
  TrainCommand command;
};

void AddJobFileFlag(Flags& flags, std::string& file) {
  flags.Value({"--job", "FILE",
               "Read the settings job, cluster, preemption and checkpoint from "
               "a YAML file with the keys of a scenario (gauntlet help "
               "scenarios). Flags override the file."},
              ReadText(file));
}

void AddStartFlags(Flags& flags, StartOptions& start) {
  flags.Value({"--init-from", "PATH",
               "Start from the weights of a checkpoint (DIR/step-…), an "
               "--export folder or a weights file. The choice is part of the "
               "job (default: random weights from the seed)."},
              ReadText(start.weights));
  flags.Switch({"--init-allow-missing", "",
                "If the models differ, load the tensors that both have. The "
                "others start from the seed.",
                "--init-partial"},
               [&start] { start.partial = PartialWeights::kAllow; });
}

void AddHorizonFlags(Flags& flags, TrainFlags& values) {
  flags.Value(
      {"--epochs", "N", "Train until N epochs are complete (the preset's)."},
      ReadWhole(values.horizon.epochs, uint64_t{1}, uint64_t{1'000'000}));
  flags.Value({"--steps", "N", "Train until N steps are complete."},
              ReadWhole(values.horizon.steps, uint64_t{1}, kMaxSteps));
  flags.Value({"--stop-at-step", "N",
               "Save at step N and exit with 143, as after a preemption. The "
               "next run resumes there."},
              ReadWhole(values.command.options.horizon.stop_at_step,
                        uint64_t{1}, kMaxSteps));
  flags.Switch(
      {"--stop-on-nan", "",
       "Stop at the first infinite or NaN loss with exit code 9. That state is "
       "not saved (default: warn once and continue)."},
      [&values] { values.command.options.on_not_finite = OnNotFinite::kStop; });
}

void AddWorkerFlags(Flags& flags, TrainFlags& values) {
  TrainCommand& command = values.command;
  KernelOptions& kernels = command.options.kernels;
  flags.Value({"--workers", "N",
               "Start N worker processes on this host. They share the replicas "
               "(1)."},
              ReadWhole(command.workers, 1, kMaxLocalWorkers));
  flags.Value({"--threads", "N", "Compute threads of each worker (1)."},
              ReadWhole(kernels.threads, 1, kMaxThreads));
  flags.Value({"--device", "NAME",
               "Device to compute on: cpu, cuda, auto (cuda if there is one) "
               "or emulated (the CUDA kernels on the CPU, slow). The results "
               "are bitwise identical (cpu)."},
              ReadChoice<DeviceKind>(kernels.device,
                                     {{"cpu", DeviceKind::kCpu},
                                      {"cuda", DeviceKind::kCuda},
                                      {"auto", DeviceKind::kAuto},
                                      {"emulated", DeviceKind::kEmulated}}));
}

FlagReader ReadMath(Math& target, std::vector<std::string>& notes) {
  return [&target, &notes](const std::string& text) -> Status {
    std::string name = text;
    if (text == "fast" || text == "fast-tf32") {
      name = text == "fast" ? "library" : "library-tf32";
      notes.push_back(fmt::format(
          "--math {} is deprecated and will be removed in the next release: "
          "use {}",
          text, name));
    }
    return ReadChoice(target, kMathNames)(name);
  };
}

void AddComputeFlags(Flags& flags, TrainCommand& command,
                     std::vector<std::string>& notes) {
  KernelOptions& kernels = command.options.kernels;
  flags.Value({"--isa", "NAME",
               "CPU instruction set: auto, scalar, avx2 or avx512. The results "
               "are bitwise identical (auto)."},
              ReadChoice(kernels.isa, kIsaNames));
  flags.Value(
      {"--math", "NAME",
       "Matrix products: canonical, library (Eigen's on the CPU, cuBLAS's on "
       "a GPU) or library-tf32 (TensorFloat-32 on a GPU). The last two are not "
       "bitwise compatible with canonical and cannot write checkpoints "
       "(canonical)."},
      ReadMath(kernels.math, notes));
  flags.Value(
      {"--collective", "NAME",
       "Gradient sum: ring (over the network), nccl (from GPU to GPU) or auto "
       "(nccl if each worker has a GPU of its own). The results are bitwise "
       "identical (auto)."},
      ReadChoice<CollectiveChoice>(command.options.cluster.collective,
                                   {{"ring", CollectiveChoice::kRing},
                                    {"nccl", CollectiveChoice::kNccl},
                                    {"auto", CollectiveChoice::kAuto}}));
  flags.Value({"--steps-per-execution", "N",
               "Save and stop only after each N steps. The results are bitwise "
               "identical (1)."},
              ReadWhole(command.options.steps_per_execution, uint64_t{1},
                        uint64_t{1'000'000}));
}

void AddRestartFlags(Flags& flags, TrainFlags& values) {
  AddMembershipFlags(flags, values.command.launcher);
  flags.Value({"--max-restarts", "N",
               "Limit of restarts in the whole run (100). 10 restarts in a row "
               "without a new step also end it. Each pause is longer than the "
               "one before."},
              ReadWhole(values.max_restarts, 0, 1000));
}

void AddPreemptionFlags(Flags& flags, TrainFlags& values) {
  flags.Value({"--grace", "TIME",
               "Time from a preemption notice to the kill: training continues "
               "while enough of it is left for a save (default: save and exit "
               "at once)."},
              ReadTime(values.grace));
  AddNoticeFlags(flags, values.command.options.preemption);
}

void AddRequeueFlags(Flags& flags, RequeueCodes& codes) {
  flags.Value({"--preempted-code", "N",
               "Exit code after a preemption notice, such as SIGTERM or the "
               "first Ctrl-C, and a save (143)."},
              ReadWhole(codes.preempted, 1, 255));
  flags.Value({"--permanent-failure-code", "N",
               "Exit code instead of 1, 2, 7, 8 and 9, which a retry cannot "
               "fix. A usage error still exits with 2.",
               "--no-requeue-code"},
              ReadWhole(codes.no_requeue, 1, 255));
}

void AddOutputFlags(Flags& flags, TrainFlags& values) {
  TrainCommand& command = values.command;
  flags.Value({"--export", "DIR",
               "Write the trained model there as safetensors and JSON."},
              ReadText(command.options.export_directory));
  flags.Value({"--tensorboard", "DIR", "Write curves for TensorBoard there."},
              ReadText(command.options.summary.directory));
  flags.Value(
      {"--tensorboard-every", "N",
       "Steps between two points of the loss curve (100)."},
      ReadWhole(values.summary_every, uint64_t{1}, uint64_t{1'000'000}));
  flags.Value({"--trace", "FILE",
               "Write the run's timeline as a Chrome trace for ui.perfetto.dev "
               "at the end, compressed if the name ends in .gz. On a cluster "
               "each worker writes its own file: trace.json.gz becomes "
               "trace-worker-1-incarnation-2.json.gz."},
              ReadText(command.trace_file));
  flags.Switch({"--no-progress", "", "Print no progress, only events."},
               [&command] { command.progress = ProgressChoice::kOff; });
  flags.Switch({"--json", "", "Print the result as one JSON object."},
               [&command] { command.output = OutputFormat::kJson; });
}

// Adds the options for use by the harness.
void AddHarnessFlags(Flags& flags, TrainCommand& command) {
  flags.Value({"--plan", "FILE",
               "Inject the faults of a plan (gauntlet explore writes plans)."},
              ReadText(command.plan_file));
  flags.Value({"--plan-state", "DIR",
               "Record there which faults have fired, for all incarnations "
               "(default: a new folder, removed at the end)."},
              ReadText(command.plan_state_directory));
  flags.Value({"--events", "DIR",
               "Write one event file for each incarnation of a worker."},
              ReadText(command.events_directory));
  flags.Value(
      {"--logs", "DIR", "Write one log for each incarnation of a worker."},
      ReadText(command.logs_directory));
  flags.Value({"--digest-every", "N",
               "Log a digest of the state each N steps (default: at saves and "
               "at the end)."},
              ReadWhole(command.options.digest_every, uint64_t{0}, kMaxSteps));
}

Status CheckStart(const StartOptions& start) {
  if (!start.weights.empty() || start.partial == PartialWeights::kRefuse) {
    return OkStatus();
  }
  return InvalidArgument("--init-allow-missing requires --init-from PATH");
}

// Sets the limits on steps and epochs. An epoch has at least one step, so a
// limit on steps also limits the epochs. Without either limit, the preset's
// number of epochs applies.
void TakeHorizon(const TrainFlags& values, Horizon& horizon) {
  if (values.horizon.steps) horizon.max_steps = values.horizon.steps;
  std::optional<uint64_t> epochs = values.horizon.epochs;
  if (!epochs && values.from_file) epochs = values.from_file->epochs;
  if (!epochs) epochs = horizon.max_steps;
  const std::string preset = values.from_file
                                 ? values.from_file->preset
                                 : values.job.preset.value_or("tiny");
  horizon.epochs = epochs ? *epochs : PresetRunOf(preset).epochs;
}

Status CheckMathOfSaves(Math math) {
  if (math == Math::kCanonical) return OkStatus();
  return InvalidArgument(fmt::format(
      "--math {} cannot be combined with --ckpt (its bits are outside the "
      "contract, so no run could resume from them)",
      MathName(math)));
}

Status CheckStore(const TrainFlags& values) {
  const TrainOptions& options = values.command.options;
  if (!options.checkpoint.directory.empty()) {
    return CheckMathOfSaves(options.kernels.math);
  }
  if (values.from_file && values.from_file->has_checkpoint) {
    return InvalidArgument(fmt::format(
        "--job: {}: checkpoint requires --ckpt DIR", values.job_file));
  }
  if (values.first_store_flag.name.empty()) return OkStatus();
  return InvalidArgument(
      fmt::format("{} requires --ckpt DIR", values.first_store_flag.name));
}

Status TakePlan(const TrainCommand& command) {
  if (command.plan_file.empty() && !command.plan_state_directory.empty()) {
    return InvalidArgument("--plan-state requires --plan FILE");
  }
  return OkStatus();
}

Status TakeSummary(TrainFlags& values) {
  if (!values.summary_every) return OkStatus();
  SummaryOptions& summary = values.command.options.summary;
  summary.every = *values.summary_every;
  if (!summary.directory.empty()) return OkStatus();
  return InvalidArgument("--tensorboard-every requires --tensorboard DIR");
}

// Checks the export directory before training rather than after it.
Status CheckExport(const TrainCommand& command) {
  const TrainOptions& options = command.options;
  if (options.export_directory.empty()) return OkStatus();
  const std::pair<std::string_view, const std::string&> others[] = {
      {"--ckpt", options.checkpoint.directory},
      {"--tensorboard", options.summary.directory},
      {"--events", command.events_directory}};
  for (const auto& [flag, directory] : others) {
    if (WithoutLastSlashes(directory) !=
        WithoutLastSlashes(options.export_directory)) {
      continue;
    }
    return InvalidArgument(fmt::format(
        "--export: expected a folder of its own, found that of {}", flag));
  }
  return OkStatus();
}

Status TakeRestarts(const std::optional<int>& max_restarts,
                    TrainCommand& command) {
  if (!max_restarts) return OkStatus();
  if (command.launcher.restart == RestartPolicy::kNone && *max_restarts > 0) {
    return InvalidArgument("--max-restarts: expected 0 beside --restart none");
  }
  command.launcher.max_restarts = *max_restarts;
  return OkStatus();
}

Result<JobFile> ReadJobFile(const TrainFlags& values,
                            const JobFileReader& read) {
  Result<JobFile> file =
      read(values.job_file, {.preset = values.job.preset,
                             .workers = values.command.workers,
                             .replicas = values.job.replicas});
  if (file.status().code() == Code::kNotFound) {
    return NotFound(
        fmt::format("--job: {}: expected a YAML file of job settings, found "
                    "nothing{}",
                    values.job_file, DidYouMeanFile(values.job_file)));
  }
  RETURN_IF_ERROR(Annotate(file.status(), "--job"));
  return file;
}

// Returns the job file's settings as flags. Flags on the command line then
// override them.
TrainFlags FlagsOf(const JobFile& file, const std::string& name) {
  TrainFlags values;
  values.from_file = file;
  values.job.file = file.train.job;
  values.job.replicas = file.replicas;
  TrainCommand& command = values.command;
  command.options = file.train;
  command.workers = file.workers;
  command.preset = name;
  command.launcher = file.launcher;
  return values;
}

void AddGroups(Flags& flags, TrainFlags& values,
               std::vector<std::string>& notes) {
  TrainCommand& command = values.command;
  flags.Section("Job");
  AddJobFlags(flags, values.job);
  AddStartFlags(flags, command.options.start);
  AddJobFileFlag(flags, values.job_file);
  flags.Section("Length");
  AddHorizonFlags(flags, values);
  flags.Section("Workers");
  AddWorkerFlags(flags, values);
  flags.Section("Checkpoints");
  AddStoreFlags(flags, command.options.checkpoint, values.first_store_flag);
  flags.Section("Output");
  AddOutputFlags(flags, values);
  flags.Section("Optimizer", GroupPage::kOwn);
  AddOptimizerFlags(flags, values.job);
  flags.Section("Data", GroupPage::kOwn);
  AddDataFlags(flags, values.job);
  flags.Section("Compute", GroupPage::kOwn);
  AddComputeFlags(flags, command, notes);
  flags.Section("Restarts", GroupPage::kOwn);
  AddRestartFlags(flags, values);
  flags.Section("Preemption", GroupPage::kOwn);
  AddPreemptionFlags(flags, values);
  flags.Section("Cluster", GroupPage::kOwn);
  AddClusterFlags(flags, command);
  AddRequeueFlags(flags, command.requeue);
  flags.Section("Security", GroupPage::kOwn);
  AddSecurityFlags(flags, command);
  flags.Section("Harness", GroupPage::kOwn);
  AddHarnessFlags(flags, command);
}

Result<FlagsOutcome> ReadFlags(const VerbArguments& verb, TrainFlags& values,
                               std::string& help) {
  Flags flags({.command = "train",
               .summary = "Train a model, with checkpoints and restarts.",
               .examples = std::string(kTrainExamples)},
              verb);
  AddGroups(flags, values, verb.notes);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted) help = flags.Help();
  return outcome;
}

Result<TrainCommand> TrainCommandOf(TrainFlags values) {
  TrainCommand& command = values.command;
  RETURN_IF_ERROR(TakeCluster(command));
  RETURN_IF_ERROR(CheckRequeueCodes(command.requeue));
  if (!values.from_file) command.preset = values.job.preset.value_or("tiny");
  command.replicas = values.job.replicas;
  command.launcher.workers = command.workers.value_or(1);
  ASSIGN_OR_RETURN(command.options.job,
                   JobOf(values.job, command.launcher.workers));
  RETURN_IF_ERROR(CheckStart(command.options.start));
  TakeHorizon(values, command.options.horizon);
  RETURN_IF_ERROR(CheckStore(values));
  RETURN_IF_ERROR(TakePlan(command));
  RETURN_IF_ERROR(TakeSummary(values));
  RETURN_IF_ERROR(CheckExport(command));
  RETURN_IF_ERROR(TakeRestarts(values.max_restarts, command));
  RETURN_IF_ERROR(CheckMembership(command.launcher));
  command.launcher.without_restarts = WorkerExit::kLostWorker;
  if (values.grace) command.options.preemption.grace = *values.grace;
  SetDerived(command.options, command.launcher);
  return std::move(command);
}

}  // namespace

Result<AppCommand> ParseTrain(const VerbArguments& verb,
                              const JobFileReader& read_job_file) {
  TrainFlags values;
  values.command.options.checkpoint.keep_every_hours = kTrainKeepEveryHours;
  std::string help;
  ASSIGN_OR_RETURN(FlagsOutcome outcome, ReadFlags(verb, values, help));
  if (outcome == FlagsOutcome::kHelpWanted)
    return AppCommand(PrintTextCommand{help});
  if (!values.job_file.empty()) {
    ASSIGN_OR_RETURN(const JobFile file, ReadJobFile(values, read_job_file));
    values = FlagsOf(file, values.job_file);
    RETURN_IF_ERROR(ReadFlags(verb, values, help).status());
  }
  ASSIGN_OR_RETURN(TrainCommand command, TrainCommandOf(std::move(values)));
  return AppCommand(std::move(command));
}

}  // namespace gauntlet
