// Finds the reason why, in a job whose workers rejoin, no worker kept the state
// in memory.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_LAST_HOLDER_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_LAST_HOLDER_H_

#include <optional>

#include "harness/oracle/history/outline.h"

namespace gauntlet {

// Returns true iff the workers of the job rejoin, but this generation has no
// worker of the generation that started before it.
bool HasNoSurvivor(const Outline& outline, const Generation& generation);

// A fault that ended the last worker with the state in memory.
struct EndOfLastHolder {
  const RecordFault* fault = nullptr;
  int worker = 0;
};

// Returns the last end, before the start of this generation, of a worker that
// held the state. After this end, no worker could pass on the state to this
// generation. Returns nullopt if HasNoSurvivor is false, or if one fault ended
// all workers.
std::optional<EndOfLastHolder> FindEndOfLastHolder(
    const Outline& outline, const Generation& generation);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_LAST_HOLDER_H_
