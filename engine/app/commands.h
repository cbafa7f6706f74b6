// Arguments of each command of the training program as plain values: the result
// of parsing.
#ifndef GAUNTLET_ENGINE_APP_COMMANDS_H_
#define GAUNTLET_ENGINE_APP_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/app/data_paths.h"
#include "engine/app/requeue_codes.h"
#include "engine/cluster/resolver/cluster_resolver.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/loop/evaluator.h"
#include "engine/train/options.h"

namespace gauntlet {

enum class OutputFormat : uint8_t { kText, kJson };
enum class ProgressChoice : uint8_t { kAuto, kOff };
enum class TrainTask : uint8_t { kTrain, kPrintCluster };

struct TrainCommand {
  TrainTask task = TrainTask::kTrain;
  TrainOptions options;
  std::string preset = "tiny";
  LauncherOptions launcher;
  // Set by flags or the job file. If `workers` is nullopt, the number of
  // workers is the size of the cluster, or 1 without a cluster.
  std::optional<int> workers;
  std::optional<int> replicas;
  ClusterFlags cluster;  // used if `workers` is nullopt
  // Used if `workers` is nullopt. True: no token is required.
  bool insecure = false;
  std::optional<Duration> rendezvous_timeout;
  RequeueCodes requeue;
  std::string events_directory;  // empty: no event files
  std::string logs_directory;    // empty: workers write to standard error
  std::string trace_file;        // Chrome trace to write; empty: none
  std::string plan_file;         // empty: no faults
  // Directory in which the run records fired faults; empty: a temporary one.
  std::string plan_state_directory;
  ProgressChoice progress = ProgressChoice::kAuto;
  OutputFormat output = OutputFormat::kText;
};

// Training started by the harness. When the command runs, `train.options` and
// `train.launcher` are read from `options_file`.
struct LaunchCommand {
  TrainCommand train;
  std::string options_file;  // LaunchOptions as JSON
};

// A worker of a cluster; its place comes from TF_CONFIG.
struct WorkerCommand {
  std::string options_file;   // TrainOptions as JSON
  std::optional<int> worker;  // identity across incarnations; nullopt: its rank
  int incarnation = 1;
  std::string events_file;
  std::string plan_file;
  std::string plan_state_directory;  // required with plan_file
  int launcher_fd = -1;              // receives progress; -1: none
  std::string launch;                // LaunchHold::launch
  uint64_t claimed = 0;              // LaunchHold::claimed
};

struct CheckpointListCommand {
  std::string directory;
  OutputFormat output = OutputFormat::kText;
};
struct CheckpointVerifyCommand {
  std::string path;  // checkpoint directory or one checkpoint
  OutputFormat output = OutputFormat::kText;
};
struct CheckpointDiffCommand {
  std::string left;
  std::string right;
  OutputFormat output = OutputFormat::kText;
};

struct CheckpointExportCommand {
  std::string path;  // checkpoint directory or one checkpoint
  std::string directory;
  DataPaths data;
};
struct CheckpointPredictCommand {
  std::string path;  // checkpoint directory or one checkpoint
  DataPaths data;
  OutputFormat output = OutputFormat::kText;
};

// The side-car evaluator of a checkpoint directory. Takes the job from the
// checkpoints.
struct EvaluateCommand {
  std::string directory;  // the checkpoint directory
  DataPaths data;
  std::string summary_directory;  // empty: no curves
  EvaluatorLoop loop;
  int threads = 1;
  OutputFormat output = OutputFormat::kText;
};

// Text that was requested, such as a command's --help.
struct PrintTextCommand {
  std::string text;
};

// A command of the training program.
using AppCommand =
    std::variant<PrintTextCommand, TrainCommand, LaunchCommand, WorkerCommand,
                 EvaluateCommand, CheckpointListCommand,
                 CheckpointVerifyCommand, CheckpointDiffCommand,
                 CheckpointExportCommand, CheckpointPredictCommand>;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_COMMANDS_H_
