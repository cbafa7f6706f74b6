// Workers as processes on this machine.
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
  std::string program;                 // path
  std::vector<std::string> arguments;  // "worker", "--options", FILE …
  // Directory for the event file of each incarnation (IncarnationFileName with
  // ".jsonl"); empty: no events.
  std::string events_directory;
  // Directory for the standard output and error of each incarnation
  // (IncarnationFileName with ".log"); empty: their lines become progress,
  // which this process may print.
  std::string logs_directory;
  // "NAME=value", added to this process's environment; see WorkerEnvironment.
  std::vector<std::string> environment;
  // Descriptors that each worker inherits in addition to those of the locks;
  // see ChildProgram.
  std::vector<int> kept_descriptors;
};

// Each worker is `program arguments… --worker W --incarnation I --launcher-fd 3
// [--events FILE]` with its place in TF_CONFIG. It has a process group of its
// own, so that a Ctrl-C at the terminal reaches only this process. Notices are
// held until the worker is ready for them (HoldSignals). It inherits the locks
// that `storage` holds.
//
// A worker is killed when the thread that called Start ends. So call all
// methods from the main thread: its workers then end with this process, and not
// earlier. Call them before any thread or gRPC is used.
class LocalWorkerProcesses final : public WorkerProcesses {
 public:
  LocalWorkerProcesses(LocalWorkerOptions options, const PosixStorage& storage);
  // Kills and reaps the remaining workers.
  ~LocalWorkerProcesses() override;
  LocalWorkerProcesses(const LocalWorkerProcesses&) = delete;
  LocalWorkerProcesses& operator=(const LocalWorkerProcesses&) = delete;

  // Returns addresses with ports of 127.0.0.1 that are reserved until the next
  // call, so that a restarted worker finds its address free. None of these
  // ports was returned by the previous call.
  Result<std::vector<std::string>> ReserveAddresses(int count) override;
  // REQUIRES: the worker's previous incarnation has ended, and Next returned
  // its end.
  Status Start(const WorkerSpec& spec) override;
  // A line that is no message becomes progress that quotes it. REQUIRES: a
  // worker is running, or `deadline` is finite.
  std::optional<WorkerEvent> Next(Time deadline) override;
  void Signal(int worker, WorkerSignal signal) override;
  void Acknowledge(int worker) override;

 private:
  // Bytes from a worker, read line by line.
  struct Lines {
    Descriptor from;
    std::string unread;  // incomplete last line
  };
  struct Running {
    ChildProcess process;
    Lines socket;
    Lines output;  // invalid if output goes to a file
  };
  using TakeLine = void (LocalWorkerProcesses::*)(int worker,
                                                  std::string_view line);

  void Poll(Time deadline);
  // Reads what is available, up to `limit` bytes; closes the descriptor at the
  // end of the stream.
  void Read(int worker, Lines& lines, size_t limit, TakeLine take);
  void TakeMessage(int worker, std::string_view line);
  void TakeOutput(int worker, std::string_view line);
  void TakeEnd(int worker, Running& running);

  const LocalWorkerOptions options_;
  const PosixStorage& storage_;
  std::vector<ReservedPort> reserved_;
  std::map<int, Running> running_;  // by worker
  std::deque<WorkerEvent> events_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_PROCESS_LOCAL_WORKER_PROCESSES_H_
