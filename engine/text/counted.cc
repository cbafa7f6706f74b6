#include "engine/text/counted.h"

#include <fmt/format.h>

namespace gauntlet {

std::string Counted(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace gauntlet
