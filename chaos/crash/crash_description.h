// Crash states in words, for people.
#ifndef GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
#define GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_

#include <string>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

// One line each: the point ("killed after rename a.tmp to a"), and of a power
// loss each operation that was lost, whole or in part ("write [0, 4096) of
// ckpt/model.bin: lost"); of very many the first, and how many more.
// kInvalidArgument: the state is of another log.
Result<std::vector<std::string>> DescribeCrashState(const OperationLog& log,
                                                    const CrashState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
