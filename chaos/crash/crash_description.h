// Descriptions of crash states, for people.
#ifndef GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
#define GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_

#include <set>
#include <string>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

struct CrashStateText {
  std::string point;  // "killed after rename a.tmp to a"
  // Set only for a power loss: one line for each operation lost in whole or in
  // part, "write [0, 4096) of ckpt/model.bin (operation 12): lost". If there
  // are too many operations, the last line is "and 7 more".
  std::vector<std::string> lost;
  std::set<FileName> lost_files;  // files of all these operations
};

// Describes a crash state for people. kInvalidArgument: the state is from
// another log.
Result<CrashStateText> DescribeCrashState(const OperationLog& log,
                                          const CrashState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
