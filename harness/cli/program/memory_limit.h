// Ends a process that runs out of memory or threads.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_

#include "engine/cli/exit_code.h"

namespace gauntlet {

// From now on, a process that gets no memory or thread prints one line and
// immediately ends with this code, because anything else would need memory.
// Such a worker counts as lost: its next incarnation may get more. REQUIRES:
// kLostWorker or kNoVerdict.
void InstallOomHandler(ExitCode exit);

// As InstallOomHandler, but only for a worker that gets no thread: ends it with
// WorkerExit::kStartLater, so that the launcher does not restart it into the
// same limit.
void EndWorkerWhereThreadsRunOut();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_MEMORY_LIMIT_H_
