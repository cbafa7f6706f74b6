// The launcher's workers as processes of a simulation.
#ifndef GAUNTLET_CHAOS_SIM_SIM_WORKER_PROCESSES_H_
#define GAUNTLET_CHAOS_SIM_SIM_WORKER_PROCESSES_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "chaos/sim/simulation.h"
#include "engine/train/worker_processes.h"

namespace gauntlet {

// A worker's end of its connection to the launcher.
class WorkerReport {
 public:
  using What = std::variant<WorkerProgress, TrainResult>;

  // The launcher's acknowledgements.
  struct Answers;

  // Created within the worker's process.
  WorkerReport(std::function<void(What)> say, std::shared_ptr<Answers> answers,
               Tasks& tasks);
  ~WorkerReport();
  WorkerReport(const WorkerReport&) = delete;
  WorkerReport& operator=(const WorkerReport&) = delete;

  // Sends a message to the launcher. Never blocks.
  void operator()(What what) const { say_(std::move(what)); }
  // See ProgressReporter.
  Status AwaitAcknowledgement(Time deadline) const;

 private:
  const std::function<void(What)> say_;
  const std::shared_ptr<Answers> answers_;
};
// One incarnation of a worker; returns the exit code.
using WorkerBody =
    std::function<int(World&, const WorkerSpec&, const WorkerReport&)>;

// Returns the host of one incarnation of a worker, "w0.1". Each incarnation has
// its own network address. Its host is on the launcher's machine, unless
// Simulation::PlaceHost puts it on another one.
std::string WorkerHost(int worker, int incarnation);

// Connection through which the launcher reaches its workers.
enum class LauncherReach : uint8_t {
  // Direct: launcher and workers are on one machine.
  kLocal,
  // The network, as with Slurm or Kubernetes. Messages between a partitioned
  // host and the launcher (signals, reports, exit events) wait until the
  // partition is healed. If the launcher cannot reach a worker for
  // `give_up_after`, it gives the worker up: it treats the worker as dead,
  // while the worker keeps running as a stale one. The worker is killed when
  // the partition is healed, but at the latest `power_off_after` after the
  // launcher gave it up. Workers do not inherit the launcher's locks. If the
  // launcher is killed, an agent on each host kills the worker there within
  // `orphan_ends_within`.
  kNetwork,
};

struct SimWorkerOptions {
  WorkerBody body;
  LauncherReach reach = LauncherReach::kLocal;
  Duration give_up_after = std::chrono::seconds(10);
  Duration power_off_after = std::chrono::seconds(60);
  Duration orphan_ends_within = std::chrono::seconds(4);
  // Returns the faults of one incarnation; null: none.
  std::function<FaultPoints*(const WorkerSpec&)> faults_of;
  // Called when each process starts.
  std::function<void(const WorkerSpec&, ProcessId)> on_start;
};

// Created by the launcher, within its own process. If the launcher is killed,
// its workers are killed a moment later. If it exits, its workers keep running.
// With LauncherReach::kLocal, the workers inherit the launcher's file locks.
class SimWorkerProcesses final : public WorkerProcesses {
 public:
  SimWorkerProcesses(Simulation& simulation, World& launcher,
                     SimWorkerOptions options);
  ~SimWorkerProcesses() override;

  Result<std::vector<std::string>> ReserveAddresses(int count) override;
  Status Start(const WorkerSpec& spec) override;
  std::optional<WorkerEvent> Next(Time deadline) override;
  void Signal(int worker, WorkerSignal signal) override;
  void Acknowledge(int worker) override;
  bool IsReachable(int worker) const override;

  // Returns true iff the launcher treats the process as dead, though it may
  // still be running.
  bool IsGivenUp(ProcessId process) const;

 private:
  struct Inbox;

  bool IsReached(ProcessId process) const;
  void GiveUpTheUnreachable();

  Simulation& simulation_;
  SimWorkerOptions options_;
  ProcessId launcher_;
  std::shared_ptr<Inbox> inbox_;
  std::map<int, ProcessId> processes_;  // newest incarnation, by worker
  std::map<int, std::shared_ptr<WorkerReport::Answers>> answers_;  // by worker
  std::map<ProcessId, Time> unreached_since_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIM_WORKER_PROCESSES_H_
