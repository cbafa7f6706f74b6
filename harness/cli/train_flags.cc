// The options of `gauntlet train`.
#include <algorithm>

#include "harness/cli/flags.h"
#include "harness/cli/notice_flags.h"
#include "harness/cli/verbs.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr int kMaxWorkers = 256;
constexpr uint64_t kMaxSteps = 1'000'000'000'000;

constexpr std::string_view kExamples =
    R"(Examples:
  gauntlet train --epochs 4 --workers 2 --replicas 4 --ckpt one --every 5
  gauntlet train --preset mlp --data mnist/ --ckpt two --every 30s
  gauntlet train --epochs 4 --stop-at-step 10 --ckpt three   # as if preempted
A run whose --ckpt directory holds checkpoints goes on from the newest good one,
with any number of workers. --replicas, which is as --workers if not given, is
part of the job: say it where the workers are to change.)";

// What was said of the job; nullopt where the preset rules.
struct JobFlags {
  std::string data = "digits";
  std::optional<int> replicas;
  std::optional<int> batch;
  std::optional<uint64_t> seed;
};

struct HorizonFlags {
  std::optional<uint64_t> epochs;
  std::optional<uint64_t> steps;
};

struct StoreFlags {
  std::optional<SaveTrigger> trigger;
  std::optional<int> keep;
  bool delete_at_success = false;
  bool allow_cold_start = false;
};

struct TrainFlags {
  JobFlags job;
  HorizonFlags horizon;
  StoreFlags store;
  std::optional<int> max_restarts;
  std::optional<Duration> grace;
  TrainCommand command;
};

// "50", "30s", "epoch", "never".
FlagReader ReadTrigger(std::optional<SaveTrigger>& target) {
  return [&target](const std::string& text) -> Status {
    if (text == "epoch") {
      target = SaveTrigger{.unit = SaveUnit::kEpochs, .every = 1};
    } else if (text == "never") {
      target = SaveTrigger{.unit = SaveUnit::kNone, .every = 1};
    } else {
      const bool seconds = text.ends_with('s');
      const Result<uint64_t> every = ParseWhole<uint64_t>(
          text.substr(0, text.size() - (seconds ? 1 : 0)), 1, 1'000'000'000);
      if (!every.ok()) {
        return ExpectedValue("steps (50), seconds (30s), epoch or never", text);
      }
      target =
          SaveTrigger{.unit = seconds ? SaveUnit::kSeconds : SaveUnit::kSteps,
                      .every = *every};
    }
    return OkStatus();
  };
}

void AddJobFlags(Flags& flags, TrainFlags& told) {
  flags.Value({"--preset", "NAME", "the job: see gauntlet list presets (tiny)"},
              ReadText(told.command.preset));
  flags.Value({"--data", "digits|DIR",
               "generated digits, or a folder with the four MNIST files"},
              ReadText(told.job.data));
  flags.Value({"--replicas", "N",
               "parts of the global batch; part of the job (as --workers)"},
              ReadWhole(told.job.replicas, 1, 1024));
  flags.Value({"--batch", "N", "rows a replica takes in a step"},
              ReadWhole(told.job.batch, 1, 65536));
  flags.Value({"--seed", "N", "of all randomness"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(told.job.seed, 0,
                                                           UINT64_MAX));
  flags.Value({"--epochs", "N", "train until so many epochs are complete (1)"},
              ReadWhole(told.horizon.epochs, uint64_t{1}, uint64_t{1'000'000}));
  flags.Value({"--steps", "N", "train until so many steps are taken"},
              ReadWhole(told.horizon.steps, uint64_t{1}, kMaxSteps));
  flags.Value(
      {"--stop-at-step", "N", "stop there as if preempted: save, exit 143"},
      ReadWhole(told.command.options.horizon.stop_at_step, uint64_t{1},
                kMaxSteps));
}

void AddMachineFlags(Flags& flags, TrainFlags& told) {
  TrainCommand& command = told.command;
  KernelOptions& kernels = command.options.kernels;
  flags.Value({"--workers", "N", "processes that share the replicas (1)"},
              ReadWhole(command.launcher.workers, 1, kMaxWorkers));
  flags.Value({"--threads", "N", "of each worker (1)"},
              ReadWhole(kernels.threads, 1, 256));
  flags.Value({"--isa", "NAME", "auto, scalar, avx2, avx512; same bits (auto)"},
              ReadChoice<Isa>(kernels.isa, {{"auto", Isa::kAuto},
                                            {"scalar", Isa::kScalar},
                                            {"avx2", Isa::kAvx2},
                                            {"avx512", Isa::kAvx512}}));
  flags.Value({"--math", "NAME",
               "canonical, or fast: other bits on other machines (canonical)"},
              ReadChoice<Math>(kernels.math, {{"canonical", Math::kCanonical},
                                              {"fast", Math::kFast}}));
  flags.Value(
      {"--restart", "NAME",
       "none, or whole-job: all workers when one is lost (whole-job)"},
      ReadChoice<RestartPolicy>(command.launcher.restart,
                                {{"none", RestartPolicy::kNone},
                                 {"whole-job", RestartPolicy::kWholeJob}}));
  flags.Value({"--max-restarts", "N", "of the whole run (100)"},
              ReadWhole(told.max_restarts, 0, 1000));
  flags.Value({"--grace", "TIME",
               "from a notice to the kill: train on while it is enough for a "
               "save (save and leave at once)"},
              ReadTime(told.grace));
  AddNoticeFlags(flags, command.options.preemption);
}

void AddStoreFlags(Flags& flags, TrainFlags& told) {
  flags.Value({"--ckpt", "DIR", "where checkpoints are kept; none without it"},
              ReadText(told.command.options.checkpoint.directory));
  flags.Value({"--every", "N|Ns|epoch|never",
               "save each N steps, N seconds or epoch (epoch)"},
              ReadTrigger(told.store.trigger));
  flags.Value({"--keep", "N", "checkpoints that are kept (5)"},
              ReadWhole(told.store.keep, 1, 1'000'000));
  flags.Switch({"--delete-checkpoints-at-success", "",
                "leave none behind once training is complete"},
               [&told] { told.store.delete_at_success = true; });
  flags.Switch({"--allow-cold-start", "",
                "begin anew where checkpoints exist and none is good"},
               [&told] { told.store.allow_cold_start = true; });
}

void AddOutputFlags(Flags& flags, TrainFlags& told) {
  TrainCommand& command = told.command;
  flags.Value({"--digest-every", "N",
               "log a state digest each N steps (only at saves and the end)"},
              ReadWhole(command.options.digest_every, uint64_t{0}, kMaxSteps));
  flags.Value({"--events", "DIR", "a file of events for each life of a worker"},
              ReadText(command.events_directory));
  flags.Value({"--logs", "DIR", "a log for each life of a worker"},
              ReadText(command.logs_directory));
  flags.Value({"--plan", "FILE", "faults to inject (what gauntlet run uses)"},
              ReadText(command.plan_file));
  flags.Switch({"--no-progress", "", "no progress, only what is worth a line"},
               [&command] { command.progress = ProgressChoice::kOff; });
  flags.Switch({"--json", "", "the result as one JSON object"},
               [&command] { command.output = OutputFormat::kJson; });
}

Result<JobSpec> TakePreset(const std::string& name) {
  std::vector<std::string> names;
  for (const PresetInfo& info : AllPresets()) names.emplace_back(info.name);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return InvalidArgument(fmt::format(
        "--preset: expected one of {}, found {}{}", fmt::join(names, ", "),
        Quoted(name), DidYouMean(name, names)));
  }
  return PresetJob(name);
}

Status TakeJob(TrainFlags& told) {
  TrainCommand& command = told.command;
  JobSpec& job = command.options.job;
  ASSIGN_OR_RETURN(job, TakePreset(command.preset));
  if (told.job.data != "digits") {
    job.data.kind = DataKind::kIdx;
    job.data.path = told.job.data;
  }
  job.replicas = told.job.replicas.value_or(command.launcher.workers);
  job.batch = told.job.batch.value_or(job.batch);
  job.seed = told.job.seed.value_or(job.seed);
  if (command.launcher.workers > job.replicas) {
    return InvalidArgument(
        fmt::format("--workers: expected at most one a replica ({}), found {}",
                    job.replicas, command.launcher.workers));
  }
  return Validate(job);
}

// An epoch has at least one step, so a number of steps bounds the epochs too.
void TakeHorizon(const HorizonFlags& told, Horizon& horizon) {
  horizon.max_steps = told.steps;
  if (told.steps) horizon.epochs = *told.steps;
  if (told.epochs) horizon.epochs = *told.epochs;
}

Status TakeStore(const StoreFlags& told, CheckpointOptions& checkpoint) {
  const auto name_of_needing = [&told]() -> std::string_view {
    if (told.trigger) return "--every";
    if (told.keep) return "--keep";
    if (told.delete_at_success) return "--delete-checkpoints-at-success";
    if (told.allow_cold_start) return "--allow-cold-start";
    return "";
  };
  if (checkpoint.directory.empty() && !name_of_needing().empty()) {
    return InvalidArgument(
        fmt::format("{}: expected --ckpt DIR beside it", name_of_needing()));
  }
  checkpoint.trigger = told.trigger.value_or(checkpoint.trigger);
  checkpoint.keep = told.keep.value_or(checkpoint.keep);
  checkpoint.allow_cold_start = told.allow_cold_start;
  if (told.delete_at_success) {
    checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
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

}  // namespace

Result<Command> ParseTrain(const VerbArguments& verb) {
  TrainFlags told;
  Flags flags({.command = "train",
               .summary = "Train a model, with checkpoints and restarts.",
               .examples = std::string(kExamples)},
              verb.color);
  AddJobFlags(flags, told);
  AddMachineFlags(flags, told);
  AddStoreFlags(flags, told);
  AddOutputFlags(flags, told);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(ShowCommand{flags.Help()});
  RETURN_IF_ERROR(TakeJob(told));
  TakeHorizon(told.horizon, told.command.options.horizon);
  if (told.command.options.kernels.math == Math::kFast &&
      !told.command.options.checkpoint.directory.empty()) {
    return InvalidArgument(
        "--math fast: expected no --ckpt beside it (its bits are outside the "
        "contract, so no run could go on from them)");
  }
  RETURN_IF_ERROR(TakeStore(told.store, told.command.options.checkpoint));
  told.command.launcher.checkpoint_directory =
      told.command.options.checkpoint.directory;
  RETURN_IF_ERROR(TakeRestarts(told.max_restarts, told.command));
  if (told.grace) {
    told.command.options.preemption.grace = *told.grace;
    told.command.launcher.stop_grace += *told.grace;
  }
  return Command(std::move(told.command));
}

}  // namespace gauntlet
