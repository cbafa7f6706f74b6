// Descriptions of crash states, for people.
#ifndef GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
#define GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_

#include <string>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

// Returns one line each for the point ("killed after rename a.tmp to a") and,
// of a power loss, for each operation lost in whole or in part ("write [0,
// 4096) of ckpt/model.bin: lost"). Of very many it returns the first ones, and
// the number of the rest. kInvalidArgument: the state is from another log.
Result<std::vector<std::string>> DescribeCrashState(const OperationLog& log,
                                                    const CrashState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
