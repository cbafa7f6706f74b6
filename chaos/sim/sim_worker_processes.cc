#include "chaos/sim/sim_worker_processes.h"

#include <deque>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kFirstPort = 7000;
constexpr int kKilledCode = 128 + kSigKill;
// Longest time from a kill to the end of the process: it ends when it is next
// scheduled, or when its system call ends.
constexpr Duration kKernelKillsWithin = std::chrono::milliseconds(10);

}  // namespace

std::string WorkerHost(int worker, int incarnation) {
  return fmt::format("w{}.{}", worker, incarnation);
}

// Shared with acknowledgements, which may arrive after the worker's end.
struct WorkerReport::Answers {
  std::unique_ptr<Event> acknowledged;  // null if the process is not alive
};

WorkerReport::WorkerReport(std::function<void(What)> say,
                           std::shared_ptr<Answers> answers, Tasks& tasks)
    : say_(std::move(say)), answers_(std::move(answers)) {
  answers_->acknowledged = tasks.NewEvent();
}

WorkerReport::~WorkerReport() { answers_->acknowledged.reset(); }

Status WorkerReport::AwaitAcknowledgement(Time deadline) const {
  if (answers_->acknowledged->WaitUntil(deadline)) return OkStatus();
  return DeadlineExceeded("the launcher has not acknowledged the result");
}

// Shared with the workers' reports, which may arrive after the launcher's end.
struct SimWorkerProcesses::Inbox {
  std::deque<WorkerEvent> events;
  std::unique_ptr<Event> came;  // null once the launcher is gone
  std::set<ProcessId> given_up;

  void Push(ProcessId from, WorkerEvent event) {
    if (came == nullptr || given_up.contains(from)) return;
    events.push_back(std::move(event));
    came->Set();
  }
};

SimWorkerProcesses::SimWorkerProcesses(Simulation& simulation, World& launcher,
                                       SimWorkerOptions options)
    : simulation_(simulation),
      options_(std::move(options)),
      launcher_(simulation.self()),
      inbox_(std::make_shared<Inbox>()) {
  inbox_->came = launcher.tasks.NewEvent();
}

SimWorkerProcesses::~SimWorkerProcesses() { inbox_->came.reset(); }

// Returns addresses with new ports. Ports increase throughout the simulation,
// so that no generation connects to listeners of an earlier one.
Result<std::vector<std::string>> SimWorkerProcesses::ReserveAddresses(
    int count) {
  std::vector<std::string> addresses;
  for (int rank = 0; rank < count; ++rank) {
    addresses.push_back(fmt::format("{}:{}",
                                    simulation_.process_host(launcher_),
                                    kFirstPort + simulation_.AllocatePort()));
  }
  return addresses;
}

Status SimWorkerProcesses::Start(const WorkerSpec& spec) {
  const bool local = options_.reach == LauncherReach::kLocal;
  const std::string host = WorkerHost(spec.worker, spec.incarnation);
  simulation_.ShareMachine(host, simulation_.process_host(launcher_));
  const int worker = spec.worker;
  const ProcessId id = simulation_.process_count();
  // Delivers a worker's events in order, when the link is open.
  auto say = [inbox = inbox_, worker, id, &simulation = simulation_,
              link = HostLink{simulation_.process_host(launcher_), host},
              local](WorkerEvent event) {
    event.worker = worker;
    if (local) return inbox->Push(id, std::move(event));
    simulation.network().CallWhenOpen(
        link,
        [inbox, id, event = std::move(event)] { inbox->Push(id, event); });
  };
  auto report = [say](WorkerReport::What what) {
    std::visit([&](auto& known) { say({.content = std::move(known)}); }, what);
  };
  const auto answers = std::make_shared<WorkerReport::Answers>();
  std::optional<ProcessId> parent;
  if (local) parent = launcher_;
  const ProcessId process = simulation_.Start(
      {.name = host,
       .host = host,
       .body =
           [body = options_.body, spec = spec, report = std::move(report),
            answers](World& world) {
             return body(world, spec,
                         WorkerReport(report, answers, world.tasks));
           },
       .faults = options_.faults_of ? options_.faults_of(spec) : nullptr,
       .parent = parent,
       .dies_with = DeathWith{.process = launcher_,
                              .within = local ? kKernelKillsWithin
                                              : options_.orphan_ends_within},
       .on_exit =
           [say = std::move(say)](const ExitStatus& status) {
             say({.content = WorkerExited{.code = status.code,
                                          .signal = status.signal}});
           }});
  processes_[worker] = process;
  answers_[worker] = answers;
  if (options_.on_start) options_.on_start(spec, process);
  return OkStatus();
}

bool SimWorkerProcesses::IsReached(ProcessId process) const {
  if (options_.reach == LauncherReach::kLocal) return true;
  const std::string& here = simulation_.process_host(launcher_);
  const std::string& there = simulation_.process_host(process);
  const NetworkFabric& network = simulation_.network();
  return !network.IsCut(here, there) && !network.IsCut(there, here);
}

void SimWorkerProcesses::GiveUpTheUnreachable() {
  const Time now = simulation_.now();
  for (const auto& [worker, process] : processes_) {
    if (IsReached(process)) {
      unreached_since_.erase(process);
      continue;
    }
    const Time since = unreached_since_.try_emplace(process, now).first->second;
    if (now - since < options_.give_up_after) continue;
    inbox_->Push(process, {.worker = worker,
                           .content = WorkerExited{.code = kKilledCode,
                                                   .signal = kSigKill,
                                                   .is_certain = false}});
    if (!inbox_->given_up.insert(process).second) continue;
    // This signal is the first message that reaches the worker once the link is
    // healed.
    Signal(worker, WorkerSignal::kKill);
    simulation_.At(
        now + options_.power_off_after,
        [&simulation = simulation_, id = process] { simulation.Kill(id); });
  }
}

std::optional<WorkerEvent> SimWorkerProcesses::Next(Time deadline) {
  if (options_.reach == LauncherReach::kNetwork) GiveUpTheUnreachable();
  if (!inbox_->came->WaitUntil(deadline)) return std::nullopt;
  WorkerEvent event = std::move(inbox_->events.front());
  inbox_->events.pop_front();
  if (inbox_->events.empty()) inbox_->came->Reset();
  return event;
}

void SimWorkerProcesses::Signal(int worker, WorkerSignal signal) {
  const auto process = processes_.find(worker);
  if (process == processes_.end()) return;
  const ProcessId id = process->second;
  const auto deliver = [&simulation = simulation_, id, signal] {
    if (signal == WorkerSignal::kKill) {
      simulation.Kill(id);
    } else {
      simulation.Notify(id);
    }
  };
  if (options_.reach == LauncherReach::kLocal) return deliver();
  simulation_.network().CallWhenOpen(
      {simulation_.process_host(launcher_), simulation_.process_host(id)},
      deliver);
}

void SimWorkerProcesses::Acknowledge(int worker) {
  const auto process = processes_.find(worker);
  if (process == processes_.end()) return;
  const auto deliver = [answers = answers_.at(worker)] {
    if (answers->acknowledged) answers->acknowledged->Set();
  };
  if (options_.reach == LauncherReach::kLocal) return deliver();
  simulation_.network().CallWhenOpen(
      {simulation_.process_host(launcher_),
       simulation_.process_host(process->second)},
      deliver);
}

bool SimWorkerProcesses::IsReachable(int worker) const {
  return IsReached(processes_.at(worker));
}

bool SimWorkerProcesses::IsGivenUp(ProcessId process) const {
  return inbox_->given_up.contains(process);
}

}  // namespace gauntlet
