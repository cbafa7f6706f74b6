// Worker processes, as the launcher starts and observes them.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_PROCESSES_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_PROCESSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/cluster/link/job_token.h"
#include "engine/cluster/session/address_book.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/clock.h"

namespace gauntlet {

// Place of one worker in the cluster: the addresses of all, its own rank, and
// its credentials.
struct WorkerSpec {
  int worker = 0;                      // identity, kept across restarts
  int incarnation = 1;                 // from 1
  int rank = 0;                        // index into `addresses`
  std::vector<std::string> addresses;  // "host:port" by rank
  AddressBook address_book = AddressBook::kKnown;
  std::string listen_on;  // if different from its own address
  // The job's secret. Without one, connections are not authenticated, and a
  // worker listens on loopback only, unless `insecure`.
  std::optional<JobToken> token;
  bool insecure = false;   // anyone who reaches this worker may join the job
  LaunchHold launch_hold;  // of this worker's launch
};

// Progress of the run, for people. Reported by the chief, at most a few times
// per second; failures are reported by any worker.
struct WorkerProgress {
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t steps_per_epoch = 0;
  // Loss of that step; nullopt: the report is not about a step.
  std::optional<float> loss;
  std::string line;  // a message worth keeping ("resumed …"), or empty
  // With `line`: the first step at which loss or state was not finite, as far
  // as the chief knows. A launch shows only the first line with this field.
  std::optional<uint64_t> not_finite_since;
  // The fields below are for the launcher. It does not show reports with such a
  // field to people. A report has only one of these fields, unless the comment
  // of a field names another field.

  // Generation that the chief has just claimed; 0: none.
  uint64_t claimed = 0;
  // If no report follows within this time, the chief counts as hung.
  Duration patience{0};
  // Set if this worker waits for the others at a rendezvous: the generation
  // that this worker left; 0: it never belonged to one. `step` is set too.
  std::optional<uint64_t> rendezvous;
  // With `rendezvous`: the rank that was silent for too long, if any.
  std::optional<int> silent_rank;
  // Set if this worker is in a save, in which it detects no loss: the time
  // limit of the save; 0: the save has ended.
  std::optional<Duration> saving;
  // From the chief: generation whose workers all train now; 0: none.
  uint64_t formed = 0;
  // Error with which this worker is about to exit.
  std::string failure;
  // With `failure`: true if the cause is a failure of this worker's own device,
  // false if another worker may be the cause.
  bool own_device_failed = false;
};

struct WorkerExited {
  int code = 0;    // exit code; 128 + signal if a signal ended it
  int signal = 0;  // 0 if it exited
  // False: the worker is unreachable, and counts as killed.
  bool is_certain = true;
};

struct WorkerEvent {
  int worker = 0;
  std::variant<WorkerProgress, TrainResult, WorkerExited> content;
};

enum class WorkerSignal : uint8_t { kTerminate, kKill };

// Starts, signals and observes workers. A worker's WorkerExited follows once
// its process is reaped, and is the last event about that incarnation.
class WorkerProcesses {
 public:
  virtual ~WorkerProcesses() = default;
  // Reserves unused addresses on this machine, one per rank.
  virtual Result<std::vector<std::string>> ReserveAddresses(int count) = 0;
  virtual Status Start(const WorkerSpec& spec) = 0;
  // Waits for the next event. Returns nullopt at the deadline.
  virtual std::optional<WorkerEvent> Next(Time deadline) = 0;
  // Has no effect if the worker is already gone.
  virtual void Signal(int worker, WorkerSignal signal) = 0;
  // Confirms to the worker that its result has arrived. Never blocks. Has no
  // effect if the worker is already gone.
  virtual void Acknowledge(int worker) = 0;
  // Returns true if the worker's messages can be received now. If not, its
  // silence does not show that it hangs.
  virtual bool IsReachable(int /*worker*/) const { return true; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_PROCESSES_H_
