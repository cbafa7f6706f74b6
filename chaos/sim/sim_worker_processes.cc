#include "chaos/sim/sim_worker_processes.h"

#include <deque>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kFirstPort = 7000;

}  // namespace

// Shared with the workers' reports, which may come after the launcher's end.
struct SimWorkerProcesses::Inbox {
  std::deque<WorkerNotice> notices;
  std::unique_ptr<Event> came;  // null once the launcher is gone

  void Push(WorkerNotice notice) {
    if (came == nullptr) return;
    notices.push_back(std::move(notice));
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

// Ports count up for the whole simulation, so that no generation meets the
// listeners of an earlier one.
Result<std::vector<std::string>> SimWorkerProcesses::ReserveAddresses(
    int count) {
  std::vector<std::string> addresses;
  for (int rank = 0; rank < count; ++rank) {
    addresses.push_back(fmt::format("{}:{}",
                                    simulation_.process_host(launcher_),
                                    kFirstPort + simulation_.TakePort()));
  }
  return addresses;
}

std::string SimWorkerProcesses::HostOf(int worker) {
  if (options_.host_of) return options_.host_of(worker);
  std::string host = fmt::format("w{}", worker);
  simulation_.ShareMachine(host, simulation_.process_host(launcher_));
  return host;
}

Status SimWorkerProcesses::Start(const WorkerSpec& spec) {
  const auto inbox = inbox_;
  const int worker = spec.worker;
  const WorkerReport report = [inbox, worker](auto what) {
    std::visit(
        [&](auto& known) {
          inbox->Push({.worker = worker, .what = std::move(known)});
        },
        what);
  };
  const ProcessId process = simulation_.Start(
      {.name = fmt::format("w{}.{}", worker, spec.life),
       .host = HostOf(worker),
       .body = [body = options_.body, spec,
                report](World& world) { return body(world, spec, report); },
       .faults = options_.faults_of ? options_.faults_of(spec) : nullptr,
       .parent = launcher_,
       .on_exit =
           [inbox, worker](const ExitStatus& status) {
             inbox->Push({.worker = worker,
                          .what = WorkerExited{.code = status.code,
                                               .signal = status.signal}});
           }});
  processes_[worker] = process;
  if (options_.on_start) options_.on_start(spec, process);
  return OkStatus();
}

std::optional<WorkerNotice> SimWorkerProcesses::Next(Time deadline) {
  if (!inbox_->came->WaitUntil(deadline)) return std::nullopt;
  WorkerNotice notice = std::move(inbox_->notices.front());
  inbox_->notices.pop_front();
  if (inbox_->notices.empty()) inbox_->came->Reset();
  return notice;
}

void SimWorkerProcesses::Signal(int worker, WorkerSignal signal) {
  const auto process = processes_.find(worker);
  if (process == processes_.end()) return;
  if (signal == WorkerSignal::kKill) {
    simulation_.Kill(process->second);
  } else {
    simulation_.Notify(process->second);
  }
}

}  // namespace gauntlet
