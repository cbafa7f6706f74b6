// --runs DIR of the commands that write or read runs.
#ifndef GAUNTLET_HARNESS_CLI_FLAGS_RUNS_FLAG_H_
#define GAUNTLET_HARNESS_CLI_FLAGS_RUNS_FLAG_H_

#include <string>

#include "engine/cli/flags/flags.h"

namespace gauntlet {

inline void AddRunsFlag(Flags& flags, std::string& directory) {
  flags.Value({"--runs", "DIR", "Folder of the runs (.gauntlet/runs)."},
              ReadText(directory));
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_FLAGS_RUNS_FLAG_H_
