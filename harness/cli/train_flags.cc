// The options of `gauntlet train`.
#include "engine/cluster/address_text.h"
#include "harness/cli/flags.h"
#include "harness/cli/job_flags.h"
#include "harness/cli/membership_flags.h"
#include "harness/cli/notice_flags.h"
#include "harness/cli/verbs.h"
#include <fmt/format.h>

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
part of the job: say it where the workers are to change.

Started by torchrun, srun, mpirun, a Kubernetes job or with TF_CONFIG, it is one
worker of that cluster, which also restarts it (exit 75). gauntlet train
--print-cluster says what it makes of the environment.)";

struct HorizonFlags {
  std::optional<uint64_t> epochs;
  std::optional<uint64_t> steps;
};

struct StoreFlags {
  std::optional<SaveTrigger> trigger;
  std::optional<int> keep;
  std::optional<int> keep_every_hours;
  bool delete_at_success = false;
  bool allow_cold_start = false;
};

struct TrainFlags {
  JobFlags job;
  HorizonFlags horizon;
  StoreFlags store;
  std::optional<int> max_restarts;
  std::optional<uint64_t> summary_every;
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

void AddHorizonFlags(Flags& flags, TrainFlags& told) {
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
  flags.Value(
      {"--workers", "N", "processes started here that share the replicas (1)"},
      ReadWhole(command.workers, 1, kMaxWorkers));
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
  AddMembershipFlags(flags, command.launcher);
  flags.Value({"--steps-per-execution", "N",
               "save and stop only after each N steps; same bits (1)"},
              ReadWhole(command.options.steps_per_execution, uint64_t{1},
                        uint64_t{1'000'000}));
  flags.Value({"--max-restarts", "N", "of the whole run (100)"},
              ReadWhole(told.max_restarts, 0, 1000));
  flags.Value({"--grace", "TIME",
               "from a notice to the kill: train on while it is enough for a "
               "save (save and leave at once)"},
              ReadTime(told.grace));
  AddNoticeFlags(flags, command.options.preemption);
}

void AddRequeueFlags(Flags& flags, RequeueCodes& codes) {
  flags.Value({"--preempted-code", "N",
               "exit code once told to stop, and saved: start it again (143)"},
              ReadWhole(codes.preempted, 1, 255));
  flags.Value(
      {"--no-requeue-code", "N",
       "exit code of all that no other start mends (1, 2 or 7); a command "
       "line that cannot be read stays 2"},
      ReadWhole(codes.no_requeue, 1, 255));
}

void AddClusterFlags(Flags& flags, TrainFlags& told) {
  ClusterFlags& cluster = told.command.cluster;
  NamedChoices<std::optional<ClusterRule>> rules = {{"auto", std::nullopt}};
  for (const ClusterRule rule :
       {ClusterRule::kNone, ClusterRule::kTorchrun, ClusterRule::kTfConfig,
        ClusterRule::kSlurm, ClusterRule::kMpi, ClusterRule::kKubernetes}) {
    rules.emplace_back(ClusterRuleName(rule), rule);
  }
  flags.Value({"--cluster", "RULE",
               "whose variables tell this process its place: auto, none, "
               "torchrun, tf-config, slurm, mpi, kubernetes (auto)"},
              ReadChoice(cluster.rule, std::move(rules)));
  flags.Value({"--rank", "N", "this process's place, if no variable tells it"},
              ReadWhole(cluster.rank, 0, kMaxClusterSize - 1));
  flags.Value({"--cluster-size", "N",
               "workers of the cluster, where no variable tells (WORLD_SIZE)"},
              ReadWhole(cluster.size, 1, kMaxClusterSize));
  flags.Value({"--rendezvous", "HOST:PORT",
               "where the workers meet: rank 0 listens there"},
              [&cluster](const std::string& text) {
                cluster.rendezvous = text;
                return CheckAddress(text);
              });
  flags.Value({"--service", "NAME",
               "of Kubernetes: the pods' headless service (GAUNTLET_SERVICE)"},
              [&cluster](const std::string& text) {
                cluster.service = text;
                return CheckHost(text);
              });
  flags.Value({"--rendezvous-timeout", "N",
               "seconds to wait for the other workers (30; of a cluster 300)"},
              [&told](const std::string& text) -> Status {
                ASSIGN_OR_RETURN(const int seconds, ParseWhole(text, 1, 86400));
                told.command.rendezvous_timeout = std::chrono::seconds(seconds);
                return OkStatus();
              });
  flags.Switch({"--print-cluster", "", "say which rule won, and why; leave"},
               [&told] { told.command.task = TrainTask::kPrintCluster; });
}

void AddStoreFlags(Flags& flags, TrainFlags& told) {
  flags.Value(
      {"--ckpt", "DIR",
       "where checkpoints are kept; none without it. Another run in it is "
       "waited for, 5 seconds at most"},
      ReadText(told.command.options.checkpoint.directory));
  flags.Value({"--every", "N|Ns|epoch|never",
               "save each N steps, N seconds or epoch (epoch)"},
              ReadTrigger(told.store.trigger));
  flags.Value({"--keep", "N", "checkpoints that are kept (5)"},
              ReadWhole(told.store.keep, 1, 1'000'000));
  flags.Value({"--keep-every-hours", "N",
               "beside them, one each N hours stays for good (10000); 0: none"},
              ReadWhole(told.store.keep_every_hours, 0, 1'000'000));
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
  flags.Value({"--tensorboard", "DIR", "curves for TensorBoard, in a folder"},
              ReadText(command.options.summary.directory));
  flags.Value({"--tensorboard-every", "N",
               "steps between two points of the loss (100)"},
              ReadWhole(told.summary_every, uint64_t{1}, uint64_t{1'000'000}));
  flags.Value({"--export", "DIR",
               "the trained model as safetensors and JSON, once it is done"},
              ReadText(command.options.export_directory));
  flags.Value({"--events", "DIR", "a file of events for each life of a worker"},
              ReadText(command.events_directory));
  flags.Value({"--logs", "DIR", "a log for each life of a worker"},
              ReadText(command.logs_directory));
  flags.Value({"--plan", "FILE", "faults to inject (what gauntlet run uses)"},
              ReadText(command.plan_file));
  flags.Value({"--plan-state", "DIR",
               "where all lives of the run note which have fired (a new one, "
               "removed at the end)"},
              ReadText(command.plan_state_directory));
  flags.Switch({"--no-progress", "", "no progress, only what is worth a line"},
               [&command] { command.progress = ProgressChoice::kOff; });
  flags.Switch({"--json", "", "the result as one JSON object"},
               [&command] { command.output = OutputFormat::kJson; });
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
    if (told.keep_every_hours) return "--keep-every-hours";
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
  constexpr int kKeepEveryHours = 10'000;
  checkpoint.keep_every_hours =
      static_cast<uint64_t>(told.keep_every_hours.value_or(kKeepEveryHours));
  checkpoint.allow_cold_start = told.allow_cold_start;
  if (told.delete_at_success) {
    checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  }
  return OkStatus();
}

Status TakeCluster(TrainCommand& command) {
  const ClusterFlags& cluster = command.cluster;
  if (command.rendezvous_timeout) {
    command.options.cluster.rendezvous_timeout = *command.rendezvous_timeout;
  }
  if (cluster.rank && cluster.rule) {
    return InvalidArgument("--rank: expected no --cluster beside it");
  }
  if (cluster.rank && !cluster.size) {
    return InvalidArgument("--rank: expected --cluster-size N beside it");
  }
  const bool said =
      cluster.rank || cluster.size || !cluster.rendezvous.empty() ||
      !cluster.service.empty() ||
      cluster.rule.value_or(ClusterRule::kNone) != ClusterRule::kNone;
  if (command.workers && said) {
    return InvalidArgument(
        "--workers: expected none of --cluster, --rank, --cluster-size, "
        "--rendezvous, --service beside it (it starts workers here)");
  }
  return OkStatus();
}

Status TakePlan(const TrainCommand& command) {
  if (command.plan_file.empty() && !command.plan_state_directory.empty()) {
    return InvalidArgument("--plan-state: expected --plan FILE beside it");
  }
  return OkStatus();
}

Status TakeSummary(TrainFlags& told) {
  if (!told.summary_every) return OkStatus();
  SummaryOptions& summary = told.command.options.summary;
  summary.every = *told.summary_every;
  if (!summary.directory.empty()) return OkStatus();
  return InvalidArgument(
      "--tensorboard-every: expected --tensorboard DIR beside it");
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
  flags.Section(
      "Options of the job: with others, a run does not go on from its "
      "checkpoints");
  AddJobFlags(flags, told.job);
  flags.Section("Other options");
  AddHorizonFlags(flags, told);
  AddMachineFlags(flags, told);
  AddClusterFlags(flags, told);
  AddRequeueFlags(flags, told.command.requeue);
  AddStoreFlags(flags, told);
  AddOutputFlags(flags, told);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(ShowCommand{flags.Help()});
  RETURN_IF_ERROR(TakeCluster(told.command));
  RETURN_IF_ERROR(CheckRequeueCodes(told.command.requeue));
  told.command.preset = told.job.preset;
  told.command.replicas = told.job.replicas;
  told.command.launcher.workers = told.command.workers.value_or(1);
  ASSIGN_OR_RETURN(told.command.options.job,
                   JobOf(told.job, told.command.launcher.workers));
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
  RETURN_IF_ERROR(TakePlan(told.command));
  RETURN_IF_ERROR(TakeSummary(told));
  RETURN_IF_ERROR(TakeRestarts(told.max_restarts, told.command));
  RETURN_IF_ERROR(CheckMembership(told.command.launcher));
  told.command.options.cluster.on_loss =
      OnLossUnder(told.command.launcher.restart);
  if (told.grace) {
    told.command.options.preemption.grace = *told.grace;
    told.command.launcher.stop_grace += *told.grace;
  }
  return Command(std::move(told.command));
}

}  // namespace gauntlet
