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
  // Only of a power loss: one line for each operation lost in whole or in part,
  // "write [0, 4096) of ckpt/model.bin: lost". A long list is cut, and its last
  // line is the number of the other operations.
  std::vector<std::string> lost;
  std::set<FileName> lost_files;  // files of all these operations
};

// Describes a crash state for people. kInvalidArgument: the state is from
// another log.
Result<CrashStateText> DescribeCrashState(const OperationLog& log,
                                          const CrashState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
