// Worker processes, as the launcher sees them.
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

// One worker's place: the addresses of all and the index of this one.
struct WorkerSpec {
  int worker = 0;                      // identity, survives restarts
  int life = 1;                        // 1 for its first incarnation
  int rank = 0;                        // index into `addresses`
  std::vector<std::string> addresses;  // "host:port" by rank
  AddressBook address_book = AddressBook::kKnown;
  std::string listen_on;  // if not on its own address
  // The job's secret. Without one, nobody has to prove anything, and a worker
  // listens on loopback only, unless `insecure`.
  std::optional<JobToken> token;
  bool insecure = false;   // anybody who reaches this worker may join the job
  LaunchHold launch_hold;  // of the launcher
};

// How far the run is, for people. From the chief, at most a few times a second;
// a failure from any worker.
struct WorkerProgress {
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t steps_per_epoch = 0;
  std::optional<float> loss;  // of that step; none: not of a step
  std::string line;  // a message worth keeping ("resumed …"), or empty
  // With `line`: the first step at which loss or state was not finite, as far
  // as the chief knows. One launch shows that line once.
  std::optional<uint64_t> not_finite_since;
  // For the launcher alone; a report with one of these has nothing else. The
  // chief has claimed this generation:
  uint64_t claimed = 0;
  // If nothing more is received for so long, the chief hangs.
  Duration patience{0};
  // This worker waits for the others, having left this generation (0: it never
  // had one). `step` comes with it.
  std::optional<uint64_t> meeting;
  // With `meeting`: the rank that had been silent for too long.
  std::optional<int> silent_rank;
  // This worker is in a save, and notices nothing for so long at most; 0: the
  // save is over.
  std::optional<Duration> saving;
  // The chief: all workers of this generation train.
  uint64_t formed = 0;
  // Reason why this worker is about to end in an error.
  std::string failure;
  // With `failure`: this worker's own device failed, not another worker.
  bool own_device_failed = false;
};

struct WorkerExited {
  int code = 0;    // exit code; 128 + signal if a signal ended it
  int signal = 0;  // 0 if it exited
  // False: nobody reaches it any more, and it counts as killed.
  bool is_certain = true;
};

struct WorkerNotice {
  int worker = 0;
  std::variant<WorkerProgress, TrainResult, WorkerExited> what;
};

enum class WorkerSignal : uint8_t { kTerminate, kKill };

// A notice of a worker's exit comes last of its notices, once it is reaped.
class WorkerProcesses {
 public:
  virtual ~WorkerProcesses() = default;
  // Addresses on this machine that nobody else uses, one for each rank.
  virtual Result<std::vector<std::string>> ReserveAddresses(int count) = 0;
  virtual Status Start(const WorkerSpec& spec) = 0;
  // The next notice; nullopt at the deadline.
  virtual std::optional<WorkerNotice> Next(Time deadline) = 0;
  // A worker that is gone already is fine.
  virtual void Signal(int worker, WorkerSignal signal) = 0;
  // Confirms to the worker that its result has arrived. Never blocks; a worker
  // that is gone already is fine.
  virtual void Acknowledge(int worker) = 0;
  // True if the worker's messages can be received now: otherwise its silence
  // means nothing.
  virtual bool Hears(int /*worker*/) const { return true; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_PROCESSES_H_
