#include "engine/app/train/cluster_training.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "engine/app/cluster/cluster_address.h"
#include "engine/app/cluster/cluster_text.h"
#include "engine/app/cluster/cluster_trust.h"
#include "engine/app/cluster/device_choice.h"
#include "engine/app/cluster/worker_process.h"
#include "engine/app/requeue_codes.h"
#include "engine/app/train/evaluate_command.h"
#include "engine/app/train/local_training.h"
#include "engine/app/train/output_places.h"
#include "engine/app/train/train_command.h"
#include "engine/app/train/train_outcome.h"
#include "engine/app/train/train_progress.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/cli/exit_code.h"
#include "engine/real/network/tls_credentials.h"
#include "engine/real/process/worker_environment.h"
#include "engine/real/real_world.h"
#include "engine/real/storage/incarnation_file.h"
#include "engine/train/notice/notice_watch.h"
#include "engine/train/save/store_lock.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

// A long time, as pods and cluster tasks do not start simultaneously.
constexpr Duration kRendezvousTimeout = std::chrono::seconds(300);
constexpr Duration kTrainingPollInterval = std::chrono::milliseconds(50);

Environment EnvironmentOfThisProcess() {
  Environment environment;
  for (const std::string& entry : ProcessEnvironment()) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

// Prints the progress and the end of a worker of a cluster. On the chief,
// prints the lines that a launcher would print.
class ClusterReporter final : public ProgressReporter {
 public:
  ClusterReporter(const Clock& clock, const TrainCommand& command, int rank,
                  Console& console)
      : clock_(clock),
        begin_(clock.Now()),
        output_(command.output),
        options_(command.options),
        rank_(rank),
        console_(console),
        progress_(clock, command, console.err, console.err_style) {}

  void Progress(const WorkerProgress& progress) override {
    const std::lock_guard lock(mutex_);
    progress_.Progress(progress);
  }
  void Result(const TrainResult& result) override {
    const std::lock_guard lock(mutex_);
    outcome_.end.result = result;
  }

  // Prints the end of the run. Only the chief writes to standard output.
  void End(WorkerExit exit, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    progress_.Clear();
    console_.Flush();
    outcome_.end.exit_code = static_cast<int>(exit);
    outcome_.end.reason = reason;
    outcome_.seconds =
        std::chrono::duration<double>(clock_.Now() - begin_).count();
    if (rank_ == 0) PrintTrainOutcome(outcome_, output_, options_, console_);
    if (!reason.empty()) {
      fmt::print(console_.err, "gauntlet train: worker {}: {}\n", rank_,
                 ReasonWithAdvice(outcome_.end));
    }
    console_.Flush();
  }

 private:
  const Clock& clock_;
  const Time begin_;
  const OutputFormat output_;
  const TrainOptions options_;
  const int rank_;
  Console& console_;
  std::mutex mutex_;
  TrainProgress progress_;
  TrainOutcome outcome_;
};

// Until training begins, ends the process at any preemption notice, even while
// the worker is waiting for others: there is nothing to save yet.
class RendezvousWatch {
 public:
  RendezvousWatch(World& world, const PreemptionOptions& preemption,
                  ClusterReporter& reporter)
      : notices_(world, preemption),
        task_(world.tasks.Spawn("forming", [this, &world, &reporter] {
          notices_.Start();
          while (!formed_) {
            if (notices_.TerminationNotices() > 0) {
              reporter.End(WorkerExit::kStopped,
                           "stop requested before training began");
              world.host.Exit(static_cast<int>(WorkerExit::kStopped));
            }
            world.clock.SleepUntil(world.clock.Now() + kTrainingPollInterval);
          }
          // Training has begun: the worker itself now watches for notices.
          notices_.Stop();
        })) {}
  ~RendezvousWatch() {
    End();
    task_->Join();
  }
  RendezvousWatch(const RendezvousWatch&) = delete;
  RendezvousWatch& operator=(const RendezvousWatch&) = delete;

  void End() { formed_ = true; }

 private:
  NoticeWatch notices_;
  std::atomic<bool> formed_ = false;
  const std::unique_ptr<Task> task_;
};

// Returns the command with the cluster's number of workers. Values that are not
// set get the defaults for a cluster. kInvalidArgument: an option does not
// apply to a worker of a cluster.
Result<TrainCommand> Adapt(const TrainCommand& requested,
                           const ResolvedCluster& cluster) {
  TrainCommand command = requested;
  const int size = cluster.place.size();
  command.launcher.workers = size;
  command.options.job.replicas = requested.replicas.value_or(size);
  command.options.cluster.rendezvous_timeout =
      requested.rendezvous_timeout.value_or(kRendezvousTimeout);
  if (size > command.options.job.replicas) {
    return InvalidArgument(fmt::format(
        "--replicas: expected at least one for each of the {} workers, found "
        "{}",
        size, command.options.job.replicas));
  }
  const LauncherOptions defaults;
  if (requested.launcher.restart != defaults.restart ||
      requested.launcher.max_restarts != defaults.max_restarts) {
    return InvalidArgument(
        "--restart, --max-restarts: expected neither: it is this cluster's "
        "launcher that starts workers again");
  }
  if (!command.logs_directory.empty()) {
    return InvalidArgument(
        "--logs: expected none: this cluster's launcher keeps the logs");
  }
  if (!command.plan_file.empty() && command.plan_state_directory.empty()) {
    return InvalidArgument(
        "--plan requires --plan-state DIR, which this run's workers "
        "share: this cluster's launcher starts them again");
  }
  RETURN_IF_ERROR(Validate(command.options.job));
  return command;
}

std::string PlaceLine(const ResolvedCluster& cluster, const WorkerSpec& place) {
  std::string line =
      fmt::format("worker {} of {} ({})", place.rank, cluster.place.size(),
                  ClusterRuleName(cluster.rule));
  if (place.addresses.size() > 1) {
    line += fmt::format(": listens on {}, rendezvous at {}", place.listen_on,
                        place.addresses.front());
  }
  return line;
}

Result<std::string> EventsFile(Storage& storage, const std::string& directory,
                               const WorkerSpec& place) {
  if (directory.empty()) return std::string();
  const Status made = storage.MakeDirectory(directory);
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
  return fmt::format(
      "{}/{}", directory,
      IncarnationFileName(place.worker, place.incarnation, ".jsonl"));
}

// Locks the checkpoint directory. Only the chief does so: the other workers
// write under the chief's claim.
Result<std::unique_ptr<FileLock>> LockAsChief(World& world,
                                              const TrainOptions& options,
                                              Console& console) {
  const std::string& directory = options.checkpoint.directory;
  Result<std::unique_ptr<FileLock>> lock =
      LockStore(world, directory, Duration::zero());
  if (lock.status().code() != Code::kFailedPrecondition) return lock;
  // The previous chief may still be shutting down, perhaps on another host.
  fmt::print(console.err, "worker 0 waits: {}\n", lock.status().message());
  console.err << std::flush;
  lock = LockStore(world, directory, options.cluster.rendezvous_timeout);
  // Returns kUnavailable, so that this process is restarted: the other chief
  // may have exited by then.
  if (lock.status().code() != Code::kFailedPrecondition) return lock;
  return Unavailable(lock.status().message());
}

// Returns the chief's hold on the checkpoint directory, under a new launch
// name; an empty hold if there is no directory. REQUIRES: the lock is held.
Result<LaunchHold> BeginLaunchHold(World& world, const std::string& directory) {
  LaunchHold launch_hold;
  if (directory.empty()) return launch_hold;
  ASSIGN_OR_RETURN(launch_hold.launch, MakeLaunchName(world, directory));
  return launch_hold;
}

// The role of this process in a cluster.
struct ClusterTask {
  const ResolvedCluster& cluster;
  const TrainCommand& command;  // result of Adapt
  const TrainHooks& hooks;
};

// Runs the worker of this process, with the lock, token and trace that it
// needs. Returns only if the worker could not start.
Status RunWorkerOf(const ClusterTask& task, RealWorld& real,
                   ClusterReporter& reporter, Console& console) {
  const ResolvedCluster& cluster = task.cluster;
  const TrainCommand& command = task.command;
  RequeueHost host(real.host, command.requeue);
  World world{real.clock, real.storage, real.network, real.tasks,
              host,       real.faults,  real.events,  real.entropy};
  RendezvousWatch watch(world, command.options.preemption, reporter);
  const Time deadline =
      real.clock.Now() + command.options.cluster.rendezvous_timeout;
  ASSIGN_OR_RETURN(ReachableWorker place,
                   MakeReachable(cluster, host, real.clock, deadline));
  if (command.progress == ProgressChoice::kAuto) {
    if (place.spec.rank == 0) {
      fmt::print(console.err, "{}\n", TrainHeader(command));
    }
    fmt::print(console.err, "{}\n", PlaceLine(cluster, place.spec));
    console.err << std::flush;
  }
  const Environment environment = EnvironmentOfThisProcess();
  std::unique_ptr<FileLock> lock;
  if (place.spec.rank == 0) {
    const std::string& directory = command.options.checkpoint.directory;
    if (!directory.empty()) {
      RETURN_IF_ERROR(CheckPathsFit(real.storage, directory));
    }
    RETURN_IF_ERROR(MakeChiefPlaces(real.storage, command));
    ASSIGN_OR_RETURN(lock, LockAsChief(world, command.options, console));
    ASSIGN_OR_RETURN(
        place.spec.launch_hold,
        BeginLaunchHold(world, command.options.checkpoint.directory));
  }
  const auto say = [&](std::string_view line) {
    fmt::print(console.err, "worker {}: {}\n", place.spec.rank, line);
    console.err << std::flush;
  };
  RETURN_IF_ERROR(FindToken(world,
                            {.environment = environment,
                             .command = command,
                             .deadline = deadline,
                             .say = say},
                            place.spec));
  ASSIGN_OR_RETURN(
      const std::string events,
      EventsFile(real.storage, command.events_directory, place.spec));
  std::unique_ptr<WorkerTraceWriter> trace;
  if (!command.trace_file.empty()) trace = task.hooks.worker_trace(real.clock);
  return RunRealWorker(real, {.host = host,
                              .options = command.options,
                              .place = place.spec,
                              .reporter = reporter,
                              .hooks = task.hooks,
                              .events_file = events,
                              .events = trace ? &trace->events() : nullptr,
                              .plan = {.file = command.plan_file,
                                       .state = command.plan_state_directory},
                              .on_formed = [&watch] { watch.End(); },
                              .on_end =
                                  [&](const WorkerEnd& end) {
                                    if (trace) {
                                      trace->Write(command, place.spec,
                                                   console);
                                    }
                                    reporter.End(end.exit, end.reason);
                                  }});
}

// Runs this process as a worker of the cluster, or as its evaluator.
int TrainAsTaskOf(const ResolvedCluster& cluster, const TrainCommand& requested,
                  const TrainHooks& hooks, Console& console) {
  InstallSignalHandlers();
  Result<TrainCommand> command = Adapt(requested, cluster);
  Status adapted = command.ok()
                       ? ResolveDevice(command->options.kernels, console)
                       : command.status();
  if (adapted.ok()) adapted = CheckCollective(command->options, 1);
  RealWorld real;
  if (adapted.ok()) adapted = CheckPlaces(real.storage, *command);
  if (adapted.ok()) {
    adapted = CheckTlsFiles(real.storage, command->options.cluster.tls);
  }
  if (!adapted.ok()) {
    fmt::print(console.err, "gauntlet train: {}\n", adapted.message());
    return static_cast<int>(ExitCode::kUsage);
  }
  if (!command->options.preemption.signal.empty()) {
    InstallNoticeSignal(command->options.preemption.signal);
  }
  ReleaseSignals();
  if (cluster.place.rank == kNoRank) return RunSidecar(*command, console);
  ClusterReporter reporter(real.clock, *command, cluster.place.rank, console);
  const ClusterTask task = {
      .cluster = cluster, .command = *command, .hooks = hooks};
  const Status status = RunWorkerOf(task, real, reporter, console);
  const WorkerExit exit = ExitForStart(status.code());
  reporter.End(exit, status.message());
  return static_cast<int>(exit);
}

int PrintCluster(const ResolvedCluster& cluster, const TrainCommand& command,
                 Console& console) {
  const Result<TokenSource> source =
      TokenSourceOf(EnvironmentOfThisProcess(), command);
  if (!source.ok()) {
    fmt::print(console.err, "gauntlet train: {}\n", source.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  const TrustText trust = {.token = TokenText(*source, command),
                           .tls = TlsText(command.options.cluster.tls)};
  console.out << (command.output == OutputFormat::kJson
                      ? ClusterToJson(cluster, trust) + "\n"
                      : ClusterToText(cluster, trust));
  return static_cast<int>(ExitCode::kOk);
}

// Trains with --workers workers that this process starts. Refuses if the
// environment describes a cluster of several workers, unless --cluster none is
// given.
int TrainWithOwnWorkers(const TrainCommand& command, const TrainHooks& hooks,
                        Console& console) {
  const Result<ResolvedCluster> around =
      ResolveCluster(EnvironmentOfThisProcess(), {});
  // Refuses: otherwise each process of that cluster would start --workers
  // workers.
  if (!command.cluster.rule && around.ok() && around->place.size() > 1) {
    fmt::print(console.err,
               "gauntlet train: --workers {} starts workers here, and {} make "
               "this process one of {} already: expected one of the two; "
               "--cluster none leaves the variables alone\n",
               *command.workers, SourcesText(*around), around->place.size());
    return static_cast<int>(ExitCode::kUsage);
  }
  if (command.task == TrainTask::kPrintCluster) {
    ResolvedCluster here;
    here.place.addresses.resize(static_cast<size_t>(*command.workers));
    here.from = {
        fmt::format("--workers={}: they are started here", *command.workers)};
    return PrintCluster(here, command, console);
  }
  return TrainOnThisMachine(command, hooks, console);
}

int ResolveClusterAndTrain(const TrainCommand& command, const TrainHooks& hooks,
                           Console& console) {
  if (command.workers) return TrainWithOwnWorkers(command, hooks, console);
  const Result<ResolvedCluster> cluster =
      ResolveCluster(EnvironmentOfThisProcess(), command.cluster);
  if (!cluster.ok()) {
    fmt::print(console.err, "gauntlet train: {}\n", cluster.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  if (command.task == TrainTask::kPrintCluster) {
    return PrintCluster(*cluster, command, console);
  }
  if (cluster->rule == ClusterRule::kNone) {
    return TrainOnThisMachine(command, hooks, console);
  }
  return TrainAsTaskOf(*cluster, command, hooks, console);
}

}  // namespace

int TrainByEnvironment(const TrainCommand& command, const TrainHooks& hooks,
                       Console& console) {
  return RequeueCode(command.requeue,
                     ResolveClusterAndTrain(command, hooks, console));
}

}  // namespace gauntlet
