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
  // Lines of a power loss, one for each operation lost in whole or in part:
  // "write [0, 4096) of ckpt/model.bin: lost". Of very many, the first ones,
  // and the number of the rest.
  std::vector<std::string> lost;
  std::set<FileName> lost_files;  // of all operations lost
};

// kInvalidArgument: the state is from another log.
Result<CrashStateText> DescribeCrashState(const OperationLog& log,
                                          const CrashState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CRASH_DESCRIPTION_H_
