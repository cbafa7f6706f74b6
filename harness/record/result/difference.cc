#include "harness/record/result/difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {

std::string AlikeText(const StateDifference& difference) {
  if (difference.alike.empty()) return "";
  return fmt::format(", the same on worker{} {}",
                     difference.alike.size() == 1 ? "" : "s",
                     fmt::join(difference.alike, ", "));
}

}  // namespace gauntlet
