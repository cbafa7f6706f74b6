// `gauntlet train --trace FILE`: the timeline of a training run for
// ui.perfetto.dev.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_TRACE_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_TRACE_H_

#include <memory>
#include <string>

#include "engine/app/commands.h"
#include "engine/app/train_hooks.h"
#include "engine/cli/terminal/console.h"
#include "engine/status.h"
#include "engine/train/worker_processes.h"
#include "harness/cli/hooks/event_memory.h"
#include "harness/run/executor/event_folder.h"
#include "harness/run/files/temporary_directory.h"

namespace gauntlet {

// Trace of the launcher and the workers of this machine, from event files.
class LocalTrace final : public LauncherTraceWriter {
 public:
  // Uses the event files of --events, or of a temporary directory. REQUIRES:
  // the command has a trace file, and CheckPlaces (train_command.h) returned
  // OK.
  static Result<std::unique_ptr<LauncherTraceWriter>> Prepare(
      const TrainCommand& command);

  const std::string& events_directory() const override {
    return events_directory_;
  }
  // Writes the events since Prepare.
  Status Write(const TrainCommand& command) const override;

 private:
  LocalTrace() = default;

  std::unique_ptr<TemporaryDirectory> own_;  // null: events are in --events
  std::string events_directory_;
  FileLengths before_;  // lengths of the event files at Prepare
};

// Trace of this process, one worker of a cluster.
class WorkerTrace final : public WorkerTraceWriter {
 public:
  explicit WorkerTrace(const Clock& clock);

  EventLog& events() override { return events_; }
  void Write(const TrainCommand& command, const WorkerSpec& place,
             Console& console) const override;

 private:
  EventMemory events_;
};

// Returns "trace-worker-1-incarnation-2.json.gz" for "trace.json.gz".
std::string TraceFileOfWorker(const std::string& file, int worker,
                              int incarnation);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_TRACE_H_
