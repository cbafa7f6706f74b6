// Starts a run in a process of its own.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_RUN_PROCESS_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_RUN_PROCESS_H_

#include <filesystem>
#include <functional>
#include <string>

#include "engine/status.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

struct RunHost {
  std::string program;  // gauntlet, which has the command kRunVerb
  std::function<bool()> interrupted;
};

// Runs the program in a new process, with the files of the run in an existing
// folder. Thread-safe.
//
// Errors: kCancelled: interrupted; no process of the run is left.
// kResourceExhausted: the disk of the folder is full. Others: those of Trace
// (chaos/trace/tracer.h) and of RunInNamespaces.
Result<TrainerRunEnd> RunInOwnProcess(const RunHost& host,
                                      const TrainerRun& run,
                                      const std::filesystem::path& folder);

// Returns OK if a run can have namespaces on this machine, else an error with
// the reason. `folder` exists and is empty.
Status ProbeNamespaces(const RunHost& host, NetworkAccess network,
                       const std::filesystem::path& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_RUN_PROCESS_H_
