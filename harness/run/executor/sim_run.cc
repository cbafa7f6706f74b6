#include "harness/run/executor/sim_run.h"

#include <bit>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/inject/faulty_device.h"
#include "chaos/inject/faulty_storage.h"
#include "chaos/inject/injector.h"
#include "chaos/sim/sim_effects.h"
#include "chaos/sim/sim_worker_processes.h"
#include "chaos/sim/simulation.h"
#include "engine/api/weights/start_weights.h"
#include "engine/cluster/ring/emulated_collective.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/worker/worker.h"
#include "harness/run/executor/event_conversion.h"
#include "harness/run/executor/launch_sequence.h"
#include "harness/run/executor/output_files.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr const char* kLauncherHost = "launcher";
constexpr const char* kInspectorHost = "inspector";

// Number of events for which an incarnation reserves memory. It suffices for
// about forty steps; more events are possible.
constexpr size_t kEventsOfAnIncarnation = 64;

constexpr int kExitOfKilled = 137;  // of a launcher that the harness ends

// Passes a worker's progress to the launcher.
class ReportToLauncher final : public ProgressReporter {
 public:
  ReportToLauncher(const WorkerReport& report, StepProbe* probe)
      : report_(report), probe_(probe) {}
  void Progress(const WorkerProgress& progress) override { report_(progress); }
  void Result(const TrainResult& result) override { report_(result); }
  Status AwaitAcknowledgement(Time deadline) override {
    return report_.AwaitAcknowledgement(deadline);
  }
  bool reads_lines() const override { return false; }
  StepProbe* probe() override { return probe_; }

 private:
  const WorkerReport& report_;
  StepProbe* probe_;
};

class Unobserved final : public LaunchObserver {
 public:
  void Progress(const WorkerProgress&) override {}
  void Restarting(int, const std::string&, Duration) override {}
};

// Resolves `auto` to the CPU: the simulated world has no GPU.
DeviceKind DeviceHere(const KernelOptions& kernels, int incarnation) {
  const DeviceKind device = DeviceOfAttempt(kernels, incarnation);
  return device == DeviceKind::kAuto ? DeviceKind::kCpu : device;
}

// The fault points of an injector. Also calls RunPlan::on_hit, and makes each
// step take the simulated time RunPlan::step_time.
class ObservedFaultPoints final : public FaultPoints {
 public:
  ObservedFaultPoints(const RunPlan& plan, const ProcessIdentity& self,
                      Clock& clock, Injector& injector)
      : plan_(plan), self_(self), clock_(clock), injector_(injector) {}

  Status Hit(Point point, const PointContext& context) override {
    if (plan_.on_hit) plan_.on_hit(self_, point, context);
    Status hit = injector_.Hit(point, context);
    if (point == Point::kStepBegin && plan_.step_time > Duration::zero()) {
      clock_.SleepUntil(clock_.Now() + plan_.step_time);
    }
    return hit;
  }
  bool Planted(PlantedBug bug) const override { return injector_.Planted(bug); }

 private:
  const RunPlan& plan_;
  const ProcessIdentity self_;
  Clock& clock_;
  Injector& injector_;
};

class SimulatedRun {
 public:
  SimulatedRun(FiberPool& pool, const RunPlan& plan, const DataSplit& data,
               RunMemo* memo, const ProbeOf& probe_of)
      : plan_(plan),
        data_(data),
        train_(plan.train),
        job_json_(memo == nullptr ? JobToJson(train_.job, data.content)
                                  : memo->job_json),
        known_(memo),
        memo_(memo == nullptr ? nullptr : &memo->passes),
        probe_of_(probe_of),
        simulation_(pool,
                    {.seed = plan.faults.seed,
                     .scheduler = {.time_limit = plan.total_limit,
                                   .interrupted = plan.interrupted},
                     .disk = plan.disk,
                     .network = plan.link,
                     .on_event =
                         [this](ProcessId by, LogEvent&& event) {
                           Keep(by, std::move(event));
                         },
                     .on_machine =
                         [this](std::optional<ProcessId> of, LogEvent&& done) {
                           KeepOfMachine(of, std::move(done));
                         }}) {}

  RunLog Run();

 private:
  int EarlierLauncherMain(World& world, const std::string& job_json);
  Status RunEarlier();
  Status BeginWithItsModel();
  int WorkerMain(World& plain, ProcessId launcher, const WorkerSpec& spec,
                 const WorkerReport& report);
  FaultPoints& FaultPointsOf(Injector& injector,
                             ObservedFaultPoints& observed) const {
    if (plan_.on_hit || plan_.step_time > Duration::zero()) return observed;
    return injector;
  }
  int LauncherMain(World& world);
  void RemoveNotices();
  void RunLaunchers();
  void StartLauncher();
  void LauncherGone(const ExitStatus& status);
  std::optional<LauncherEnd> EndOfLauncher();
  void TakeOptions();
  void AddLauncher();
  RecordEvent InOrder(LogEvent&& event);
  IncarnationEvents* FindIncarnation(ProcessId process) const;
  void Keep(ProcessId by, LogEvent&& event);
  void KeepOfMachine(std::optional<ProcessId> of, LogEvent&& done);
  void CollectIncarnations();
  void InspectStoreAfterwards();

  const RunPlan& plan_;
  const DataSplit& data_;
  TrainOptions train_;  // of the current launch, with its warm start
  std::string job_json_;
  std::vector<float> weights_;
  RunMemo* const known_;  // results for the plan's job, or null
  TrainMemo* memo_;       // null: the launch has another job
  const ProbeOf probe_of_;
  Simulation simulation_;
  Time begin_ = simulation_.now();
  FiredFaultSet fired_;
  RunLog log_;
  std::optional<LaunchEnd> launch_end_;
  std::string last_failure_;  // reason of the newest end of a worker
  int last_incarnation_ = 0;
  std::map<std::pair<int, int>, IncarnationEvents>
      incarnations_;  // by worker, incarnation
  // Entries of incarnations_, indexed by process; null if the process is not a
  // worker.
  std::vector<IncarnationEvents*> workers_;
  LaunchSequence launches_{plan_};
  std::optional<ProcessId> launcher_;  // the newest launcher
  int first_incarnation_ = 1;          // first incarnation of its workers
  bool launcher_is_counted_ = false;   // its end is in the log
  bool power_was_cut_ = false;  // its machine lost power; its end follows
  std::vector<RecordEvent> launcher_events_;
  uint64_t events_so_far_ = 0;
};

int SimulatedRun::WorkerMain(World& plain, ProcessId launcher,
                             const WorkerSpec& spec,
                             const WorkerReport& report) {
  SimEffects effects(
      simulation_, plain,
      [incarnation = spec.incarnation](int worker) {
        return WorkerHost(worker, incarnation);
      },
      LosesPowerAlone(plan_.hosts, plan_.disk.profile) ? PowerLine::kHost
                                                       : PowerLine::kMachine,
      plan_.train.preemption.file, launcher);
  const ProcessIdentity self = {.worker = spec.worker,
                                .incarnation = spec.incarnation,
                                .rank = spec.rank};
  Injector injector(plan_.faults, self, effects, fired_, plain.events);
  ObservedFaultPoints observed(plan_, self, plain.clock, injector);
  FaultyStorage storage(plain.storage, injector);
  TrainOptions train = train_;
  train.kernels.device = DeviceHere(train_.kernels, spec.incarnation);
  gpu::DevicePlace real;
  if (train.kernels.device == DeviceKind::kEmulated) {
    real = EmulatedPlace();
  }
  FaultyDevice device(real, injector);
  World world = {.clock = plain.clock,
                 .storage = storage,
                 .network = plain.network,
                 .tasks = plain.tasks,
                 .host = plain.host,
                 .faults = FaultPointsOf(injector, observed),
                 .events = plain.events,
                 .entropy = plain.entropy};
  ReportToLauncher reporter(
      report, probe_of_ ? probe_of_(spec.worker, spec.incarnation) : nullptr);
  const TrainInputs inputs = {.options = train,
                              .data = data_,
                              .job_json = job_json_,
                              .memo = memo_,
                              .weights = weights_,
                              .device = device.place()};
  const auto on_end = [this](const WorkerEnd& end) {
    if (!end.reason.empty()) last_failure_ = end.reason;
    simulation_.EndSelf(static_cast<int>(end.exit));
  };
  return RunWorker(world, inputs, spec, reporter, on_end);
}

int SimulatedRun::EarlierLauncherMain(World& world,
                                      const std::string& job_json) {
  const TrainInputs inputs = {.options = plan_.before->train,
                              .data = data_,
                              .job_json = job_json,
                              .memo = memo_};
  SimWorkerProcesses processes(
      simulation_, world,
      {.body = [&](World& plain, const WorkerSpec& spec,
                   const WorkerReport& report) {
        ReportToLauncher reporter(report, nullptr);
        const auto on_end = [this](const WorkerEnd& end) {
          simulation_.EndSelf(static_cast<int>(end.exit));
        };
        return RunWorker(plain, inputs, spec, reporter, on_end);
      }});
  Unobserved observer;
  return Launch(world, processes,
                {.workers = plan_.before->workers,
                 .restart = RestartPolicy::kNone},
                observer)
      .exit_code;
}

// Runs the earlier run of a warm start, in the same simulated world as the
// judged run.
Status SimulatedRun::RunEarlier() {
  const std::string job_json =
      JobToJson(plan_.before->train.job, data_.content);
  const ProcessId launcher =
      simulation_.Start({.name = "launcher before",
                         .host = kLauncherHost,
                         .body = [&](World& world) {
                           return EarlierLauncherMain(world, job_json);
                         }});
  const RunOutcome outcome = simulation_.Run();
  const std::optional<ExitStatus> status = simulation_.exit_status(launcher);
  if (status != ExitStatus{}) {
    return FailedPrecondition(
        fmt::format("the run before did not finish (exit code {}) {}",
                    status ? status->code : -1, outcome.report));
  }
  RETURN_IF_ERROR(BeginWithItsModel());
  begin_ = simulation_.now();
  return OkStatus();
}

Status SimulatedRun::BeginWithItsModel() {
  Status taken;
  simulation_.Start(
      {.name = "reader", .host = kLauncherHost, .body = [&](World& world) {
         Result<std::vector<float>> weights =
             LoadStartWeights(world, data_.train, train_);
         taken = weights.status();
         if (weights.ok()) weights_ = *std::move(weights);
         return 0;
       }});
  simulation_.Run();
  job_json_ = JobToJson(train_.job, data_.content);
  return taken;
}

int SimulatedRun::LauncherMain(World& world) {
  const ProcessId self = simulation_.self();
  SimWorkerProcesses processes(
      simulation_, world,
      {.body =
           [this, self](World& plain, const WorkerSpec& spec,
                        const WorkerReport& report) {
             return WorkerMain(plain, self, spec, report);
           },
       .reach = plan_.hosts == HostsChoice::kSeparate ? LauncherReach::kNetwork
                                                      : LauncherReach::kLocal,
       .on_start =
           [this](const WorkerSpec& spec, ProcessId process) {
             IncarnationEvents& incarnation =
                 incarnations_[{spec.worker, spec.incarnation}];
             incarnation.worker = spec.worker;
             incarnation.number = spec.incarnation;
             incarnation.events.reserve(kEventsOfAnIncarnation);
             workers_.resize(static_cast<size_t>(process) + 1);
             workers_.back() = &incarnation;
             last_incarnation_ = std::max(last_incarnation_, spec.incarnation);
           }});
  LauncherOptions options = plan_.launch;
  options.first_incarnation = first_incarnation_;
  Unobserved observer;
  launch_end_ = Launch(world, processes, options, observer);
  // Lists the workers that still run. Those of an earlier launcher, which was
  // killed, have smaller numbers and are not listed.
  for (auto i = static_cast<size_t>(self); i < workers_.size(); ++i) {
    const auto process = static_cast<ProcessId>(i);
    if (workers_[i] == nullptr || simulation_.exit_status(process)) continue;
    // The launcher need not end processes on a lost host.
    if (processes.IsGivenUp(process)) continue;
    log_.left.processes.push_back(simulation_.process_name(process));
  }
  return launch_end_->exit_code;
}

// Removes the notices, because a job queue starts a job again on a machine
// without a notice.
void SimulatedRun::RemoveNotices() {
  simulation_.SetMetadataOfMachine(kLauncherHost, MetadataAnswering("FALSE"));
  const std::string& file = plan_.train.preemption.file;
  if (file.empty()) return;
  const Status removed =
      simulation_.storage(kLauncherHost).Remove(file, FileKind::kFile);
  if (!removed.ok() && removed.code() != Code::kNotFound) {
    log_.harness_error = removed.message();
  }
}

void SimulatedRun::AddLauncher() {
  const std::optional<ExitStatus> status = simulation_.exit_status(*launcher_);
  LauncherRun run =
      launch_end_
          ? ToLauncherRun(*launch_end_)
          : LauncherRun{.exit_code = status ? status->code : kExitOfKilled};
  run.events = std::exchange(launcher_events_, {});
  run.planned = launches_.planned();
  run.first_incarnation = first_incarnation_;
  log_.launchers.push_back(std::move(run));
  launcher_is_counted_ = true;
}

// Takes the options of the next launch. If they change the job, uses no
// RunMemo, as its results belong to the case's own job.
void SimulatedRun::TakeOptions() {
  if (plan_.launches.empty()) return;
  train_ = launches_.options();
  const bool known = known_ != nullptr && !launches_.other_job();
  job_json_ = known ? known_->job_json : JobToJson(train_.job, data_.content);
  memo_ = known ? &known_->passes : nullptr;
}

void SimulatedRun::StartLauncher() {
  first_incarnation_ = last_incarnation_ + 1;
  launch_end_.reset();
  launcher_is_counted_ = power_was_cut_ = false;
  TakeOptions();
  RemoveNotices();
  launcher_ = simulation_.Start(
      {.name = "launcher",
       .host = kLauncherHost,
       .body = [this](World& world) { return LauncherMain(world); },
       .on_exit = [this](const ExitStatus& status) { LauncherGone(status); }});
}

// Called when the launcher process ends. If it alone was killed, starts it
// again at once, because its workers may still run. In a power loss the workers
// end too, so RunLaunchers starts it later.
void SimulatedRun::LauncherGone(const ExitStatus& status) {
  const bool was_killed = status.signal != 0 && !launch_end_;
  if (!was_killed || !log_.harness_error.empty() ||
      std::exchange(power_was_cut_, false)) {
    return;
  }
  AddLauncher();
  if (launches_.StartNextLaunch(log_.launchers.back(), LauncherEnd::kKilled)) {
    StartLauncher();
  }
}

// Adds the end of the newest launcher to the log and returns it. Returns
// nullopt if LauncherGone has already added this end and started no other
// launcher.
std::optional<LauncherEnd> SimulatedRun::EndOfLauncher() {
  if (launcher_is_counted_) return std::nullopt;
  AddLauncher();
  // The launcher died with its machine.
  if (!launch_end_) return LauncherEnd::kKilled;
  if (!launch_end_->reason.empty()) {
    log_.why_not_done =
        last_failure_.empty()
            ? launch_end_->reason
            : fmt::format("{}: {}", launch_end_->reason, last_failure_);
  }
  return LauncherEnd::kExited;
}

void SimulatedRun::RunLaunchers() {
  std::optional<LauncherEnd> end;
  do {
    StartLauncher();
    const RunOutcome outcome = simulation_.Run();
    if (outcome.end != RunEnd::kAllExited) {
      log_.ending = outcome.end == RunEnd::kDeadlock ? RunEnding::kHung
                                                     : RunEnding::kTimedOut;
      if (outcome.end == RunEnd::kInterrupted) {
        log_.harness_error = kWasInterrupted;
      } else {
        log_.ending_detail = outcome.report;
        // The log also has a launcher that did not end by itself.
        if (!launcher_is_counted_) AddLauncher();
      }
      return;
    }
    end = EndOfLauncher();
  } while (end && launches_.StartNextLaunch(log_.launchers.back(), *end));
}

RecordEvent SimulatedRun::InOrder(LogEvent&& event) {
  RecordEvent converted = ToRecordEvent(std::move(event), simulation_.now());
  converted.order = ++events_so_far_;
  return converted;
}

// Returns null if the process is not a worker.
IncarnationEvents* SimulatedRun::FindIncarnation(ProcessId process) const {
  const auto number = static_cast<size_t>(process);
  return number < workers_.size() ? workers_[number] : nullptr;
}

// Keeps an event of a worker or of the launcher; drops events of other
// processes.
void SimulatedRun::Keep(ProcessId by, LogEvent&& event) {
  if (plan_.counts_messages) {
    log_.traffic.push_back(
        {.t_ns = simulation_.now().time_since_epoch().count(),
         .messages = simulation_.network().frames_sent()});
  }
  if (by == launcher_) {
    launcher_events_.push_back(InOrder(std::move(event)));
  } else if (IncarnationEvents* const incarnation = FindIncarnation(by)) {
    incarnation->events.push_back(InOrder(std::move(event)));
  }
}

void SimulatedRun::KeepOfMachine(std::optional<ProcessId> of, LogEvent&& done) {
  if (done.kind == EventKind::kPowerCut && done.count != 1) {
    power_was_cut_ = true;
  }
  if (of && *of == launcher_) {
    done.about = kLauncherWorker;
  } else if (of) {
    const IncarnationEvents* const incarnation = FindIncarnation(*of);
    if (incarnation == nullptr) return;
    done.about = incarnation->worker;
    done.incarnation = incarnation->number;
  } else if (done.count == 1) {
    for (const auto& [key, incarnation] : incarnations_) {
      if (WorkerHost(key.first, key.second) != done.path) continue;
      done.about = key.first;
      done.incarnation = key.second;
    }
  }
  log_.machine.push_back(InOrder(std::move(done)));
}

void SimulatedRun::CollectIncarnations() {
  for (auto& [key, incarnation] : incarnations_) {
    log_.incarnations.push_back(std::move(incarnation));
  }
}

// Reads what the run has left, in a separate process without faults. The host
// of this process has no outdated view of the file server.
void SimulatedRun::InspectStoreAfterwards() {
  const TrainOptions& options = plan_.train;
  if (options.checkpoint.directory.empty() &&
      options.summary.directory.empty() && options.export_directory.empty()) {
    return;
  }
  simulation_.ShareMachine(kInspectorHost, kLauncherHost);
  simulation_.Start(
      {.name = "inspector", .host = kInspectorHost, .body = [&](World& world) {
         const Status looked = LookAtLeftovers(world, options, log_.left);
         if (!looked.ok()) log_.harness_error = looked.message();
         return 0;
       }});
  simulation_.Run();
}

RunLog SimulatedRun::Run() {
  if (plan_.before) {
    const Status earlier = RunEarlier();
    if (!earlier.ok()) return {.harness_error = earlier.message()};
  }
  RunLaunchers();
  CollectIncarnations();
  log_.virtual_seconds =
      std::chrono::duration<double>(simulation_.now() - begin_).count();
  log_.event_digest = simulation_.digest();
  InspectStoreAfterwards();
  // The launcher listed the workers that outlived it (LauncherMain).
  log_.left.processes_listed = true;
  return std::move(log_);
}

}  // namespace

RunMemo::RunMemo(const JobSpec& job, const DataSplit& data)
    : job_json(JobToJson(job, data.content)) {}

RunLog RunSimulated(FiberPool& pool, const RunPlan& plan, const DataSplit& data,
                    RunMemo* memo) {
  return SimulatedRun(pool, plan, data, memo, nullptr).Run();
}

RunLog RunProbed(FiberPool& pool, const RunPlan& plan, const DataSplit& data,
                 const ProbeOf& probe_of) {
  return SimulatedRun(pool, plan, data, nullptr, probe_of).Run();
}

}  // namespace gauntlet
