// The git commit that the program was built from.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_SOURCE_COMMIT_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_SOURCE_COMMIT_H_

#include <string_view>

namespace gauntlet {

// Returns "commit 9a232bc8" or "commit 9a232bc8, with local changes"; "" if the
// program was not built from a git checkout. Linked into the program only, not
// the library, so that a new commit relinks nothing else.
std::string_view SourceCommit();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_SOURCE_COMMIT_H_
