// Suggestions for a mistyped name. See also diagnostic.h.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_NEAREST_NAMES_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_NEAREST_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns all names that are as near as that of NearestName, at most three.
std::vector<std::string> NearestNames(std::string_view mistyped,
                                      const std::vector<std::string>& names);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_NEAREST_NAMES_H_
