// Workers as processes of this machine.
#ifndef GAUNTLET_ENGINE_REAL_PROCESS_LOCAL_WORKER_PROCESSES_H_
#define GAUNTLET_ENGINE_REAL_PROCESS_LOCAL_WORKER_PROCESSES_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/real/network/tcp_socket.h"
#include "engine/real/process/child_process.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/train/worker_processes.h"

namespace gauntlet {

struct LocalWorkerOptions {
  std::string program;                 // its path
  std::vector<std::string> arguments;  // "worker", "--options", FILE …
  // Directory for each incarnation's worker-<w>-life-<l>.jsonl; empty: no
  // events.
  std::string events_directory;
  // Directory for each incarnation's standard output and error,
  // worker-<w>-life-<l>.log; empty: their lines become progress, which this
  // process may print.
  std::string logs_directory;
  // "NAME=value", added to this process's own; see WorkerEnvironment.
  std::vector<std::string> environment;
  // Inherited by each worker beside locks, as ChildProgram's.
  std::vector<int> kept_descriptors;
};

// Each worker is `program arguments… --worker W --life L --launcher-fd 3
// [--events FILE]` with its place in TF_CONFIG. It is in a process group of its
// own, so that a Ctrl-C at the terminal reaches this process alone; a notice
// that comes before it is ready for it waits (HoldSignals); it inherits
// the locks that `storage` holds; it is killed if this process dies, provided
// that the thread that calls Start lives as long as the process: call all of
// this from the main thread, and before any thread or gRPC is used.
class LocalWorkerProcesses final : public WorkerProcesses {
 public:
  LocalWorkerProcesses(LocalWorkerOptions options, const PosixStorage& storage);
  // Kills and reaps the workers that are left.
  ~LocalWorkerProcesses() override;
  LocalWorkerProcesses(const LocalWorkerProcesses&) = delete;
  LocalWorkerProcesses& operator=(const LocalWorkerProcesses&) = delete;

  // Ports of 127.0.0.1, set aside until the next call: a worker that is started
  // again finds its address free. The ports of one call are none of the last's.
  Result<std::vector<std::string>> ReserveAddresses(int count) override;
  // REQUIRES: the worker's last life has ended and its notice was taken.
  Status Start(const WorkerSpec& spec) override;
  // A line that is no notice becomes progress that quotes it. REQUIRES: a
  // worker runs, or the deadline comes.
  std::optional<WorkerNotice> Next(Time deadline) override;
  void Signal(int worker, WorkerSignal signal) override;
  void Acknowledge(int worker) override;

 private:
  // Bytes from a worker, read line by line.
  struct Lines {
    Descriptor from;
    std::string unread;  // the beginning of a line
  };
  struct Running {
    ChildProcess process;
    Lines socket;
    Lines output;  // invalid if it goes to a file
  };
  using TakeLine = void (LocalWorkerProcesses::*)(int worker,
                                                  std::string_view line);

  void Poll(Time deadline);
  // Takes what can be read now, until it has `limit` bytes; closes it at its
  // end.
  void Read(int worker, Lines& lines, size_t limit, TakeLine take);
  void TakeMessage(int worker, std::string_view line);
  void TakeOutput(int worker, std::string_view line);
  void TakeEnd(int worker, Running& running);

  const LocalWorkerOptions options_;
  const PosixStorage& storage_;
  std::vector<ReservedPort> reserved_;
  std::map<int, Running> running_;  // by worker
  std::deque<WorkerNotice> notices_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_PROCESS_LOCAL_WORKER_PROCESSES_H_
