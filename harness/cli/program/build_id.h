// Identity of this program's build: another build may produce other results.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_BUILD_ID_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_BUILD_ID_H_

#include <string>

namespace gauntlet {

// Returns the digest of the program, 8 digits: "af16ec0a". Reads the whole
// file.
std::string BuildId();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_BUILD_ID_H_
