// The names that a mistyped one may stand for.
#ifndef GAUNTLET_ENGINE_TEXT_NEAREST_NAMES_H_
#define GAUNTLET_ENGINE_TEXT_NEAREST_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns the name that a mistyped one most likely stands for; "" if none is
// near. A name is near if its edit distance is at most about a third of the
// mistyped name's length. Leading dashes, and leading dotted parts that both
// names share, do not count as length.
std::string NearestName(std::string_view mistyped,
                        const std::vector<std::string>& names);
// Returns all names that are as near as that of NearestName, at most three.
std::vector<std::string> NearestNames(std::string_view mistyped,
                                      const std::vector<std::string>& names);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TEXT_NEAREST_NAMES_H_
