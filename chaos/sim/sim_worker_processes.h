// The launcher's workers, as processes of a simulation.
#ifndef GAUNTLET_CHAOS_SIM_SIM_WORKER_PROCESSES_H_
#define GAUNTLET_CHAOS_SIM_SIM_WORKER_PROCESSES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chaos/sim/simulation.h"
#include "engine/train/worker_processes.h"

namespace gauntlet {

// What a worker tells its launcher. Never blocks.
using WorkerReport =
    std::function<void(std::variant<WorkerProgress, TrainResult>)>;
// The life of one worker; its value is the exit code.
using WorkerBody =
    std::function<int(World&, const WorkerSpec&, const WorkerReport&)>;

struct SimWorkerOptions {
  WorkerBody body;
  // The host of a worker. Each has its own by default, "w0" and so on, on the
  // launcher's machine: cut from each other by Cut, but with one disk.
  std::function<std::string(int worker)> host_of;
  // The faults of one life; null: none.
  std::function<FaultPoints*(const WorkerSpec&)> faults_of;
  // Told of every process as it starts.
  std::function<void(const WorkerSpec&, ProcessId)> on_start;
};

// Made by the launcher, within its process, whose file locks the workers
// inherit. Workers outlive it, as orphans, when the launcher dies.
class SimWorkerProcesses final : public WorkerProcesses {
 public:
  SimWorkerProcesses(Simulation& simulation, World& launcher,
                     SimWorkerOptions options);
  ~SimWorkerProcesses() override;

  Result<std::vector<std::string>> ReserveAddresses(int count) override;
  Status Start(const WorkerSpec& spec) override;
  std::optional<WorkerNotice> Next(Time deadline) override;
  void Signal(int worker, WorkerSignal signal) override;

 private:
  struct Inbox;

  std::string HostOf(int worker);

  Simulation& simulation_;
  SimWorkerOptions options_;
  ProcessId launcher_;
  std::shared_ptr<Inbox> inbox_;
  std::map<int, ProcessId> processes_;  // the last life, by worker
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIM_WORKER_PROCESSES_H_
