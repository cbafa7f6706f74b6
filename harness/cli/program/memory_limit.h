// Ends a process that runs out of memory or threads.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_

#include "engine/cli/exit_code.h"

namespace gauntlet {

// After this call, a process that gets no memory or no thread prints one line
// and ends at once with the code `exit`, as anything else would need memory. If
// it is a worker, it counts as lost, and its next incarnation may get more
// memory. REQUIRES: `exit` is kLostWorker or kNoVerdict.
void InstallOomHandler(ExitCode exit);

// As InstallOomHandler, but only for a worker that gets no thread: it ends with
// WorkerExit::kStartLater, so that the launcher does not restart it at once,
// when the limit on threads would still be reached.
void EndWorkerWhereThreadsRunOut();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
