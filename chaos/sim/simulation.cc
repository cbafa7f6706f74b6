#include "chaos/sim/simulation.h"

#include <utility>

#include "chaos/sim/scheduler/sim_entropy.h"
#include "chaos/sim/scheduler/sim_tasks.h"
#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr ExitStatus kKilled{.code = 128 + kSigKill, .signal = kSigKill};

}  // namespace

MetadataService MetadataAnswering(std::string_view body) {
  return {.answer = {.status = 200, .body = std::string(body)}};
}

struct Simulation::Machine {
  Machine(Simulation& simulation, std::string machine_name)
      : name(std::move(machine_name)),
        disk(simulation.options_.disk),
        outside(simulation.scheduler_, disk, simulation.options_.storage,
                simulation.Stream("outside"), {}),
        write_back_of([&simulation](const std::string& host) -> ChoiceSource {
          const auto chance = std::make_shared<RandomStream>(
              simulation.Stream("write-back:" + host));
          return [chance](uint64_t n) { return chance->Below(n); };
        }) {}

  // Returns the host's view of the file server; null if the disk is local.
  SharedView* ViewOf(const std::string& host) {
    if (disk.options().profile != DurabilityProfile::kShared) return nullptr;
    std::unique_ptr<SharedView>& view = views[host];
    if (view == nullptr) {
      view = std::make_unique<SharedView>(
          disk, SharedViewOptions{.write_back = write_back_of(host)});
    }
    return view.get();
  }

  std::string name;
  SimDisk disk;
  std::map<std::string, std::unique_ptr<SharedView>> views;  // by host
  SimStorage outside;
  std::function<ChoiceSource(const std::string& host)> write_back_of;
  uint64_t power_losses = 0;
};

// Callbacks by number, so that the scheduler's queue holds plain data.
struct Simulation::Callbacks final : public Action {
  void Act(uint64_t argument) override {
    const auto found = pending.extract(argument);
    if (!found.empty()) found.mapped()();
  }
  std::map<uint64_t, std::function<void()>> pending;
  uint64_t next = 0;
};

class SimHost final : public Host {
 public:
  SimHost(Simulation& simulation, ProcessId process, std::string name)
      : simulation_(simulation), process_(process), name_(std::move(name)) {}
  std::string Name() const override { return name_; }
  int TerminationNotices() const override { return notices_; }
  std::optional<Time> FirstNotice() const override { return first_; }
  int Interrupts() const override { return interrupts_; }
  Result<HttpResponse> SendRequest(const HttpRequest& request,
                                   Time deadline) override;
  [[noreturn]] void Exit(int code) override;
  void Notify() {
    ++notices_;
    if (!first_) first_ = simulation_.now();
  }
  void Interrupt() {
    ++interrupts_;
    Notify();
  }

 private:
  Simulation& simulation_;
  const ProcessId process_;
  std::string name_;
  int notices_ = 0;
  int interrupts_ = 0;
  std::optional<Time> first_;
};

Result<HttpResponse> SimHost::SendRequest(const HttpRequest& request,
                                          Time deadline) {
  const HttpUrl& url = request.url;
  const MetadataService service = simulation_.MetadataOf(name_);
  const Time answered = simulation_.now() + service.takes;
  const bool hangs = service.behavior == MetadataService::Behavior::kHangs ||
                     answered > deadline;
  SimClock(simulation_.scheduler_).SleepUntil(hangs ? deadline : answered);
  if (hangs) return DeadlineExceeded(HttpUrlText(url) + ": no answer in time");
  if (url.kind == HttpUrl::HostKind::kName && url.host != service.name) {
    return Unavailable(HttpUrlText(url) + ": resolve: name not known");
  }
  if (service.behavior == MetadataService::Behavior::kRefuses) {
    return Unavailable(HttpUrlText(url) + ": connection refused");
  }
  return simulation_.ResponseOf(service, request);
}

class SimEventLog final : public EventLog {
 public:
  SimEventLog(Simulation& simulation, ProcessId process,
              const FiberGroup& group)
      : simulation_(simulation), process_(process), group_(group) {}
  void Emit(LogEvent event) override {
    if (group_.killed) return;
    Scheduler& scheduler = simulation_.scheduler_;
    // The scheduler itself checks for an interruption only at waits, and a
    // worker that trains alone may compute many steps without one.
    scheduler.LeaveIfInterrupted();
    scheduler.Record((static_cast<uint64_t>(event.kind) << 56) ^ event.step);
    if (event.digest) scheduler.Record(event.digest->high ^ event.digest->low);
    const auto& on_event = simulation_.options_.on_event;
    if (on_event) {
      on_event(process_, std::move(event));
    } else {
      simulation_.events_.push_back({.time = simulation_.now(),
                                     .process = process_,
                                     .event = std::move(event)});
    }
  }

 private:
  Simulation& simulation_;
  ProcessId process_;
  const FiberGroup& group_;
};

struct Simulation::Process {
  Process(Simulation& simulation, ProcessId number, Machine& machine,
          ProcessOptions given)
      : id(number),
        options(std::move(given)),
        clock(simulation.scheduler_),
        storage(simulation.scheduler_, machine.disk,
                simulation.options_.storage,
                simulation.Stream(fmt::format("storage:{}", id)),
                {.process = id,
                 .group = &group,
                 .view = machine.ViewOf(options.host)}),
        network(simulation.network_,
                {.process = id, .host = options.host, .group = &group}),
        tasks(simulation.scheduler_, group),
        host(simulation, id, options.host),
        events(simulation, id, group),
        entropy(simulation.Stream(fmt::format("entropy:{}", id))),
        world{.clock = clock,
              .storage = storage,
              .network = network,
              .tasks = tasks,
              .host = host,
              .faults = options.faults != nullptr ? *options.faults
                                                  : simulation.no_faults_,
              .events = events,
              .entropy = entropy} {
    group.name = options.name;
    group.id = id;
    group.on_gone = [&simulation, this] { simulation.OnExit(*this); };
  }

  ProcessId id;
  ProcessOptions options;
  FiberGroup group;
  SimClock clock;
  SimStorage storage;
  SimNetwork network;
  SimTasks tasks;
  SimHost host;
  SimEventLog events;
  SimEntropy entropy;
  World world;
  CloseMode close_mode = CloseMode::kOrderly;
  ExitStatus ending = kKilled;
  std::optional<ExitStatus> status;
  WaitList waiters;
};

Simulation::Simulation(FiberPool& pool, const SimulationOptions& options)
    : options_(options),
      scheduler_(pool, options.seed, options.scheduler),
      network_(scheduler_, options.seed, options_.network),
      callbacks_(std::make_unique<Callbacks>()) {}

Simulation::~Simulation() = default;

void Simulation::PlaceHost(const std::string& host,
                           const std::string& machine) {
  CHECK(!machine_names_.contains(host),
        fmt::format("host {} has a machine already", host));
  machine_names_[host] = machine;
}

Simulation::Machine& Simulation::MachineOf(const std::string& host) {
  const std::string& name =
      machine_names_.try_emplace(host, host).first->second;
  std::unique_ptr<Machine>& machine = machines_[name];
  if (machine == nullptr) machine = std::make_unique<Machine>(*this, name);
  return *machine;
}

void Simulation::ShareMachine(const std::string& host,
                              const std::string& other) {
  machine_names_.try_emplace(host, MachineOf(other).name);
}

Simulation::Process& Simulation::Find(ProcessId process) const {
  CHECK(process >= 0 && process < process_count(),
        fmt::format("no process has the number {}", process));
  return *processes_[static_cast<size_t>(process)];
}

ProcessId Simulation::Start(ProcessOptions options) {
  const ProcessId id = process_count();
  Machine& machine = MachineOf(options.host);
  processes_.push_back(
      std::make_unique<Process>(*this, id, machine, std::move(options)));
  Process& process = *processes_.back();
  if (process.options.parent) {
    process.storage.InheritLocks(Find(*process.options.parent).storage);
  }
  auto main = std::make_shared<TaskState>();
  main->name = "main";
  scheduler_.Spawn(process.group, std::move(main),
                   [this, &process] { RunBody(process); });
  return id;
}

void Simulation::RunBody(Process& process) {
  const int code = process.options.body(process.world);
  // If the group is killed, the body has already ended its process.
  if (!process.group.killed) EndSelf(code);
}

void Simulation::End(Process& process, const ExitStatus& status,
                     CloseMode close_mode) {
  if (process.group.killed) return;
  process.ending = status;
  process.close_mode = close_mode;
  scheduler_.Kill(process.group);
}

void SimHost::Exit(int code) {
  simulation_.End(simulation_.Find(process_), {.code = code, .signal = 0},
                  CloseMode::kOrderly);
  simulation_.scheduler_.Leave();
}

// Releases what the machine held for the process, which has been unwound.
void Simulation::OnExit(Process& process) {
  process.status = process.ending;
  if (!scheduler_.ending()) {
    EmitMachineEvent(process.id,
                     {.kind = EventKind::kProcessEnded,
                      .count = process.ending.code,
                      .reason = process.ending.signal != 0 ? Reason::kSignal
                                                           : Reason::kExited});
  }
  scheduler_.Record(static_cast<uint64_t>(process.ending.code));
  process.options.body = nullptr;
  network_.EndProcess(process.id, process.close_mode);
  process.storage.ReleaseLocks();
  scheduler_.WakeAll(process.waiters);
  if (process.ending.signal != 0) KillThoseThatDieWith(process);
  const auto on_exit = std::exchange(process.options.on_exit, nullptr);
  if (on_exit && !scheduler_.ending()) on_exit(*process.status);
}

// Kills each dependent process after a random delay.
void Simulation::KillThoseThatDieWith(const Process& process) {
  for (const std::unique_ptr<Process>& other : processes_) {
    const std::optional<DeathWith>& with = other->options.dies_with;
    if (!with || with->process != process.id || other->group.killed) continue;
    RandomStream stream =
        Stream("dies with " + process.options.name + " " + other->options.name);
    const auto most = static_cast<uint64_t>(with->within.count());
    const auto after = static_cast<int64_t>(stream.Below(most + 1));
    At(now() + Duration(after), [this, id = other->id] { Kill(id); });
  }
}

RunOutcome Simulation::Run() {
  RunOutcome outcome;
  outcome.end = scheduler_.Run(outcome.report);
  callbacks_->pending.clear();
  return outcome;
}

void Simulation::At(Time time, std::function<void()> callback) {
  const uint64_t number = callbacks_->next++;
  callbacks_->pending.emplace(number, std::move(callback));
  scheduler_.At(time, *callbacks_, number);
}

void Simulation::Kill(ProcessId process) {
  End(Find(process), kKilled, CloseMode::kOrderly);
  scheduler_.LeaveIfKilled();
}

void Simulation::EndSelf(int code) {
  End(Find(self()), {.code = code, .signal = 0}, CloseMode::kOrderly);
  scheduler_.LeaveByReturn();
}

void Simulation::KillAfter(ProcessId process, uint64_t resumptions) {
  FiberGroup& group = Find(process).group;
  group.killed_at_resumption = group.resumptions + resumptions;
}

void Simulation::Stop(ProcessId process) {
  FiberGroup& group = Find(process).group;
  scheduler_.Stop(group);
  if (scheduler_.CurrentGroup() == &group) {
    scheduler_.Wait(nullptr, now(), {});
  }
}

void Simulation::Continue(ProcessId process) {
  scheduler_.Continue(Find(process).group);
}

void Simulation::Notify(ProcessId process) { Find(process).host.Notify(); }

void Simulation::Interrupt(ProcessId process) {
  Find(process).host.Interrupt();
}

void Simulation::SetMetadata(const std::string& host, MetadataService service) {
  metadata_[host] = std::move(service);
}

void Simulation::SetMetadataOfMachine(const std::string& host,
                                      MetadataService service) {
  metadata_of_machine_[MachineOf(host).name] = std::move(service);
}

MetadataService Simulation::MetadataOf(const std::string& host) {
  if (const auto own = metadata_.find(host); own != metadata_.end()) {
    return own->second;
  }
  const auto shared = metadata_of_machine_.find(MachineOf(host).name);
  return shared != metadata_of_machine_.end() ? shared->second
                                              : MetadataAnswering("FALSE");
}

HttpResponse Simulation::ResponseOf(const MetadataService& service,
                                    const HttpRequest& request) {
  constexpr int kUnauthorized = 401;
  constexpr int kMethodNotAllowed = 405;
  if (!service.token_lifetime) {
    return request.method == HttpMethod::kGet
               ? service.answer
               : HttpResponse{.status = kMethodNotAllowed, .body = {}};
  }
  if (request.method == HttpMethod::kPut) {
    if (service.token_answer) return *service.token_answer;
    const std::string token = fmt::format("token-{}==", tokens_.size());
    tokens_[token] = now() + *service.token_lifetime;
    return {.status = 200, .body = token};
  }
  for (const HttpHeader& header : request.headers) {
    const auto token = tokens_.find(header.value);
    if (token != tokens_.end() && now() < token->second) return service.answer;
  }
  return {.status = kUnauthorized, .body = {}};
}

void Simulation::PowerLoss(const std::string& host) {
  Machine& machine = MachineOf(host);
  RandomStream stream =
      Stream(fmt::format("power:{}:{}", machine.name, machine.power_losses++));
  PowerLoss(host, [&stream](uint64_t n) { return stream.Below(n); });
}

void Simulation::PowerLoss(const std::string& host,
                           const ChoiceSource& choose) {
  Machine& machine = MachineOf(host);
  EmitPowerCut(host, 0);
  for (const auto& process : processes_) {
    if (process->status || &MachineOf(process->options.host) != &machine) {
      continue;
    }
    End(*process, kKilled, CloseMode::kAbrupt);
  }
  for (const auto& [name, view] : machine.views) view->Crash();
  machine.disk.PowerLoss(choose);
  scheduler_.LeaveIfKilled();
}

void Simulation::EmitMachineEvent(std::optional<ProcessId> of,
                                  LogEvent&& done) {
  if (options_.on_machine) options_.on_machine(of, std::move(done));
}

void Simulation::EmitPowerCut(const std::string& host, int64_t hosts) {
  EmitMachineEvent(std::nullopt,
                   {.kind = EventKind::kPowerCut,
                    .count = hosts,
                    .path = host,
                    .detail = std::string(ProfileName(options_.disk.profile))});
}

void Simulation::CrashHost(const std::string& host) {
  EmitPowerCut(host, 1);
  for (const auto& process : processes_) {
    if (process->status || process->options.host != host) continue;
    End(*process, kKilled, CloseMode::kAbrupt);
  }
  Machine& machine = MachineOf(host);
  if (SharedView* const view = machine.ViewOf(host)) view->Crash();
  scheduler_.LeaveIfKilled();
}

void Simulation::JumpCalendar(ProcessId process, int64_t seconds) {
  Find(process).clock.Jump(seconds);
}

ProcessId Simulation::self() const {
  const FiberGroup* group = scheduler_.CurrentGroup();
  CHECK(group != nullptr, "no process is running");
  return group->id;
}

void Simulation::Hang() {
  while (true) scheduler_.Wait(nullptr, kNever, {.verb = "hangs"});
}

std::optional<ExitStatus> Simulation::exit_status(ProcessId process) const {
  return Find(process).status;
}

std::optional<ExitStatus> Simulation::WaitForExit(ProcessId process,
                                                  Time deadline) {
  Process& awaited = Find(process);
  while (!awaited.status) {
    const WaitResult result = scheduler_.Wait(
        &awaited.waiters, deadline,
        {.verb = "waits for process", .what = &awaited.options.name});
    if (result == WaitResult::kDeadline) break;
  }
  return awaited.status;
}

const std::string& Simulation::process_name(ProcessId process) const {
  return Find(process).options.name;
}

const std::string& Simulation::process_host(ProcessId process) const {
  return Find(process).options.host;
}

SimDisk& Simulation::disk(const std::string& host) {
  return MachineOf(host).disk;
}

Storage& Simulation::storage(const std::string& host) {
  return MachineOf(host).outside;
}

}  // namespace gauntlet
