// A simulated world: hosts, disks, a network, and processes that run in it.
//
// One Simulation is one run. A process is a function that receives a World.
// Processes run as fibers of the calling thread, under one seeded scheduler and
// a virtual clock, so the seed and the calls below determine the run.
// A host is a node of the network; a machine has one disk and one power supply.
// Each host is a machine of its own unless configured otherwise.
//
//   FiberPool pool;
//   Simulation simulation(pool, {.seed = 7});
//   simulation.Start({.name = "a", .body = [](World& world) { … return 0; }});
//   const RunOutcome outcome = simulation.Run();
//
// Everything below may be called from outside of Run, from At callbacks, and
// from within any process unless stated otherwise.
#ifndef GAUNTLET_CHAOS_SIM_SIMULATION_H_
#define GAUNTLET_CHAOS_SIM_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/sim/disk/sim_disk.h"
#include "chaos/sim/disk/sim_storage.h"
#include "chaos/sim/scheduler/fiber.h"
#include "chaos/sim/scheduler/random_stream.h"
#include "chaos/sim/scheduler/scheduler.h"
#include "chaos/sim/sim_network.h"
#include "engine/world/world.h"

namespace gauntlet {

// The metadata service of a host or a machine. It handles every
// Host::SendRequest, whatever the path. It has every IP address, but only one
// name.
struct MetadataService {
  // kHangs also stands for a name that cannot be resolved.
  enum class Behavior : uint8_t { kAnswers, kHangs, kRefuses };
  Behavior behavior = Behavior::kAnswers;
  HttpResponse answer = {};
  Duration takes = std::chrono::milliseconds(1);
  std::string name = "metadata.google.internal";
  // Lifetime of a token. The service rejects a request without a valid token
  // (status 401). nullopt: it requires no tokens.
  std::optional<Duration> token_lifetime = {};
  // Answer to a token request; nullopt: a new token.
  std::optional<HttpResponse> token_answer = {};
};
// Returns a service that answers with status 200 and this body.
MetadataService MetadataAnswering(std::string_view body);

// Process number, from 0 in order of start, and so the index of the Start call.
using ProcessId = int;

// An event with its time and the process that emitted it.
struct LoggedEvent {
  Time time;
  ProcessId process = 0;
  LogEvent event;
};

struct SimulationOptions {
  uint64_t seed = 0;
  SchedulerOptions scheduler;
  DiskOptions disk;  // for every machine
  StorageLatency storage;
  NetworkLatency network;
  // Receives each event of a process when it is emitted; null: events() stores
  // it.
  std::function<void(ProcessId, LogEvent&&)> on_event = nullptr;
  // Receives each event of a machine when it occurs: kProcessEnded and
  // kFrameLate with their process, kPowerCut with none. May be null.
  std::function<void(std::optional<ProcessId>, LogEvent&&)> on_machine =
      nullptr;
};

// The number of SIGKILL.
inline constexpr int kSigKill = 9;

// The end of a process, as reported to its parent.
struct ExitStatus {
  int code = 0;    // 128 + signal if a signal ended it
  int signal = 0;  // 0 if it exited
  bool operator==(const ExitStatus&) const = default;
};

// Makes a process end soon after another one was killed (SIGKILL). Models
// prctl(PR_SET_PDEATHSIG), or an agent on another host.
struct DeathWith {
  ProcessId process = 0;
  Duration within{0};  // the longest delay
};

struct ProcessOptions {
  std::string name;
  std::string host = "host";
  // The process ends when the body returns, with its value as the exit code.
  // The body is destroyed when the process is gone.
  std::function<int(World&)> body;
  FaultPoints* faults = nullptr;  // outlives the process; null: none
  // The process whose file locks this one shares from the start.
  std::optional<ProcessId> parent;
  // Process whose death ends this one too; nullopt: none.
  std::optional<DeathWith> dies_with;
  // Called once when the process is gone, outside of any process. Not called
  // for processes that the end of Run kills.
  std::function<void(const ExitStatus&)> on_exit;
};

struct RunOutcome {
  RunEnd end = RunEnd::kAllExited;
  // Each task that has not ended, with the reason of its wait, separated by
  // "; "; empty if all have ended.
  std::string report;
};

class Simulation {
 public:
  // The pool may serve many simulations in succession.
  Simulation(FiberPool& pool, const SimulationOptions& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Puts the host on a machine; hosts on one machine share disk and power.
  // REQUIRES: the host has not been used yet.
  void PlaceHost(const std::string& host, const std::string& machine);
  // Puts a host that has no machine yet onto the machine of another.
  void ShareMachine(const std::string& host, const std::string& other);
  ProcessId Start(ProcessOptions options);
  // Runs until all processes have ended, then drops callbacks due later; at a
  // limit it kills the remaining processes. May be called again with new
  // processes, which begin at the virtual time now reached; disks keep their
  // contents.
  RunOutcome Run();
  // Calls `callback` at that time, outside of any process.
  void At(Time time, std::function<void()> callback);

  // Sends SIGKILL. Does not return if it is the caller's own process.
  void Kill(ProcessId process);
  // Sends SIGKILL just before one of the process's tasks is resumed: the
  // `resumptions`-th time from now; 1: the next time.
  void KillAfter(ProcessId process, uint64_t resumptions);
  // Send SIGSTOP and SIGCONT. A process that stops itself runs again at
  // Continue.
  void Stop(ProcessId process);
  void Continue(ProcessId process);
  // Sends SIGTERM: TerminationNotices() increases.
  void Notify(ProcessId process);
  // Sends SIGINT: TerminationNotices() and Interrupts() increase.
  void Interrupt(ProcessId process);
  // Sets the metadata service of the host, or of all hosts on its machine. The
  // default service answers FALSE.
  void SetMetadata(const std::string& host, MetadataService service);
  void SetMetadataOfMachine(const std::string& host, MetadataService service);
  // Cuts the power of the host's machine: kills its processes without closing
  // their connections, and loses from its disk a random part of the data that
  // the profile allows it to lose. The machine reboots immediately. Does not
  // return if the caller runs there.
  void PowerLoss(const std::string& host);
  // As PowerLoss, but `choose` decides what survives.
  void PowerLoss(const std::string& host, const ChoiceSource& choose);
  // Crashes and restarts the host: kills its processes without closing their
  // connections. With a disk of profile kShared the host's view is lost, but
  // not the server; with other profiles no data is lost. Does not return if the
  // caller runs there.
  void CrashHost(const std::string& host);
  // Moves the wall clock of this process only; later incarnations read the
  // correct time.
  void JumpCalendar(ProcessId process, int64_t seconds);

  // Ends the calling process as Host::Exit does. Returns when it is this task's
  // turn to be unwound; the caller must then return from the task's body.
  // REQUIRES: called from a process.
  void EndSelf(int code);

  // Passes an event of a machine to on_machine. `of` is the process concerned;
  // nullopt for a power cut.
  void EmitMachineEvent(std::optional<ProcessId> of, LogEvent&& done);

  // Returns the calling process. REQUIRES: called from a process.
  ProcessId self() const;
  // Waits forever, until killed. REQUIRES: called from a process.
  [[noreturn]] void Hang();
  // Returns how the process ended; nullopt while it runs.
  std::optional<ExitStatus> exit_status(ProcessId process) const;
  // Waits until the process has ended; nullopt at the deadline. REQUIRES:
  // called from a process.
  std::optional<ExitStatus> WaitForExit(ProcessId process, Time deadline);
  const std::string& process_name(ProcessId process) const;
  const std::string& process_host(ProcessId process) const;
  // Returns a number for a new port: counts up from 0.
  int AllocatePort() { return ports_taken_++; }
  int process_count() const { return static_cast<int>(processes_.size()); }

  NetworkFabric& network() { return network_; }
  SimDisk& disk(const std::string& host);
  // Returns the host's disk for a user outside the simulation; operations take
  // no time.
  Storage& storage(const std::string& host);
  RandomStream Stream(std::string_view name) const {
    return RandomStream(options_.seed, name);
  }

  Time now() const { return scheduler_.now(); }
  uint64_t steps() const { return scheduler_.steps(); }
  // Returns a digest of all decisions and effects so far: equal for equal seeds
  // and plans.
  uint64_t digest() const { return scheduler_.digest(); }
  const std::vector<LoggedEvent>& events() const { return events_; }
  // Returns the events and clears events().
  std::vector<LoggedEvent> TakeEvents() { return std::exchange(events_, {}); }

 private:
  friend class SimEventLog;
  friend class SimHost;
  struct Machine;
  struct Process;
  struct Callbacks;

  Machine& MachineOf(const std::string& host);
  MetadataService MetadataOf(const std::string& host);
  HttpResponse ResponseOf(const MetadataService& service,
                          const HttpRequest& request);
  Process& Find(ProcessId process) const;
  void EmitPowerCut(const std::string& host, int64_t hosts);
  void RunBody(Process& process);
  void OnExit(Process& process);
  void KillThoseThatDieWith(const Process& process);
  void End(Process& process, const ExitStatus& status, CloseMode close_mode);

  SimulationOptions options_;
  Scheduler scheduler_;
  NetworkFabric network_;
  NoFaults no_faults_;
  int ports_taken_ = 0;
  std::map<std::string, std::string> machine_names_;  // by host
  std::map<std::string, std::unique_ptr<Machine>> machines_;
  std::map<std::string, MetadataService> metadata_;             // by host
  std::map<std::string, MetadataService> metadata_of_machine_;  // by machine
  std::map<std::string, Time> tokens_;  // expiry times, by token
  std::vector<std::unique_ptr<Process>> processes_;
  std::unique_ptr<Callbacks> callbacks_;
  std::vector<LoggedEvent> events_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIMULATION_H_
