// Ends a process that gets no memory, or no thread.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_

#include "harness/cli/program/exit_code.h"

namespace gauntlet {

// From now on, a process that gets no memory or thread prints one line and ends
// at once with this code, because anything else would need memory. A worker
// that ends so counts as lost: its next incarnation may get more. REQUIRES:
// kLostWorker or kNoVerdict.
void InstallOomHandler(ExitCode exit);

// The same for a worker that gets no thread. WorkerExit::kStartLater tells the
// launcher that a restart meets the same limit.
void EndWorkerWhereThreadsRunOut();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
