// `gauntlet explore --mode crash-states`: tries the on-disk states that a power
// loss or a flipped bit can leave. If a crash point has too many states, tries
// a selection of them.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_COMMAND_H_

#include <filesystem>
#include <optional>

#include "engine/cli/terminal/console.h"
#include "harness/cli/explore/crash_states_text.h"
#include "harness/cli/flags/commands.h"
#include "harness/explore/crash/crash_states.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns the options that choose crash states.
CrashStateOptions CrashStateOptionsOf(const ExploreCommand& command);

struct CrashStatePlace {
  const Case& base;
  const CrashStateOptions& options;
  const std::filesystem::path& directory;
};
// Writes the finding to a file in the directory.
WrittenCrashFinding WriteCrashState(const CrashStateFinding& finding,
                                    size_t number,
                                    const CrashStatePlace& place);

struct CrashStatesTask {
  const Case& base;
  const ExploreCommand& command;
  std::optional<Duration> time;  // time left; nullopt: no limit
  const std::filesystem::path& directory;
};
// Explores the crash states and writes the findings into the directory.
// REQUIRES: InstallSignalHandlers was called. Returns the exit code.
int ExploreCrashStatesOf(const CrashStatesTask& task, References& references,
                         Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_COMMAND_H_
