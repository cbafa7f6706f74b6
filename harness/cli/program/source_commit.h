// The source that the program was built from.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_SOURCE_COMMIT_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_SOURCE_COMMIT_H_

#include <string_view>

namespace gauntlet {

// Returns "commit 9a232bc8", or "commit 9a232bc8, with local changes"; "": the
// program was not built from a git checkout. Only the program has it, not the
// library, so that a new commit links nothing else again.
std::string_view SourceCommit();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_SOURCE_COMMIT_H_
