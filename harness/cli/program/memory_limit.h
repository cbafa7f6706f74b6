// Ends a process that runs out of memory or threads.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_

#include "engine/cli/exit_code.h"

namespace gauntlet {

// After this call, a process that gets no memory or no thread prints one line
// and ends with the code `exit`. It ends at once, as anything else would need
// memory. A worker that ends like this counts as lost, and its next incarnation
// may get more memory. On any other exception that nobody handles, the process
// prints one line and aborts. REQUIRES: `exit` is kLostWorker or kNoVerdict.
void InstallOomHandler(ExitCode exit);

// After this call, a worker that gets no thread prints one line and ends with
// WorkerExit::kStartLater. The launcher does not restart it at once, because
// the limit on threads would still be reached. Does not change the handling of
// a lack of memory.
void EndWorkerWhereThreadsRunOut();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
