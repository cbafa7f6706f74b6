// Comma-separated lists.
#ifndef GAUNTLET_HARNESS_CLI_FLAGS_COMMA_LIST_H_
#define GAUNTLET_HARNESS_CLI_FLAGS_COMMA_LIST_H_

#include <string>
#include <vector>

namespace gauntlet {

// Returns the parts between the commas, some of which may be "": one more than
// there are commas.
std::vector<std::string> SplitAtCommas(const std::string& text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_FLAGS_COMMA_LIST_H_
