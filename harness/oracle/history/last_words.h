// How processes ended: their exit events, results, and kills by the kernel.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_LAST_WORDS_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_LAST_WORDS_H_

#include <cstdint>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Returns true iff this is the exit code of a worker or launcher that refused
// to train, as the settings or the checkpoints are wrong.
bool IsRefusal(int64_t exit_code);

// Returns true iff the process exited with WorkerExit::kStartLater.
bool LeftToStartLater(const IncarnationEvents& incarnation);
// Returns true iff the process exited with WorkerExit::kStartLater and could
// not save its state.
bool LeftUnsaved(const IncarnationEvents& incarnation);

// Returns true iff the last launcher's result is "done".
bool IsDone(const Record& record);

// Returns true iff the last launcher refused to train: it exited with the code
// of a refusal, and without a result.
bool HasRefused(const Record& record);

// Returns "; meanwhile memory ran out: …", to append to a finding about a
// process that ended; "" if the kernel killed no process.
std::string ByTheKernel(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_LAST_WORDS_H_
