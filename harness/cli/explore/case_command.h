// The command lines that repeat an exploration, or one case of it.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_CASE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_CASE_COMMAND_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/cli/flags/commands.h"

namespace gauntlet {

std::string_view ExploreModeName(ExploreMode mode);

// Returns a shell command that repeats the exploration with `seed`, without
// its output options.
std::string CommandForExploration(const ExploreCommand& command, uint64_t seed);
// Returns a shell command that repeats one case; `seed` is the seed that was
// used. Returns "" if the mode has no such command.
std::string CommandForCase(const ExploreCommand& command, uint64_t seed,
                           uint64_t number);
// Returns a shell command that repeats the crash state `id`.
std::string CommandForImage(const ExploreCommand& command,
                            const std::string& id);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_CASE_COMMAND_H_
