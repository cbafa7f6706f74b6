// Names that a mistyped one may stand for. See also diagnostic.h.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_NEAREST_NAMES_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_NEAREST_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// All names that are as near as NearestName's, at most three.
std::vector<std::string> NearestNames(std::string_view mistyped,
                                      const std::vector<std::string>& names);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_NEAREST_NAMES_H_
