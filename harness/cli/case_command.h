// The command lines that repeat an exploration, or one case of it.
#ifndef GAUNTLET_HARNESS_CLI_CASE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_CASE_COMMAND_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/cli/commands.h"

namespace gauntlet {

std::string_view ExploreModeName(ExploreMode mode);

// Returns a shell command that repeats the exploration with `seed`, without
// its output options.
std::string CommandForExploration(const ExploreCommand& command, uint64_t seed);
// For a shell; `seed` is the one that was taken. "": there is none in this
// mode.
std::string CommandForCase(const ExploreCommand& command, uint64_t seed,
                           uint64_t number);
// Of mode crash-states; `id` is an image's.
std::string CommandForImage(const ExploreCommand& command,
                            const std::string& id);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CASE_COMMAND_H_
