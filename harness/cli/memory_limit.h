// What a process does that asks for memory and gets none.
#ifndef GAUNTLET_HARNESS_CLI_MEMORY_LIMIT_H_
#define GAUNTLET_HARNESS_CLI_MEMORY_LIMIT_H_

#include "harness/cli/exit_code.h"

namespace gauntlet {

// From now on it says so in one line and ends at once with that code, as all
// else takes memory. A worker that does is one that was lost: there may be more
// of it in its next life. REQUIRES: kLostWorker or kNoVerdict.
void EndWhereMemoryRunsOut(ExitCode exit);

// The same for a worker that gets no thread: its launcher is told that a
// restart meets the same limit (WorkerExit::kStartLater).
void EndWorkerWhereThreadsRunOut();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_MEMORY_LIMIT_H_
