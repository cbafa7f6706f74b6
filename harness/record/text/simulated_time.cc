#include "harness/record/text/simulated_time.h"

#include <cctype>

namespace gauntlet {
namespace {

// Returns true iff the text has a duration, such as "16 ms".
bool HasDuration(std::string_view text) {
  for (const std::string_view unit : {" ns", " µs", " ms", " s"}) {
    for (size_t at = text.find(unit); at != text.npos;
         at = text.find(unit, at + 1)) {
      const size_t end = at + unit.size();
      const bool has_number =
          at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1]));
      const bool is_word = end == text.size() ||
                           !std::isalnum(static_cast<unsigned char>(text[end]));
      if (has_number && is_word) return true;
    }
  }
  return false;
}

}  // namespace

std::string WithClockOfWorld(std::string cause, std::string_view world) {
  const bool is_clear = world != "sim" || !HasDuration(cause) ||
                        cause.find("simulated") != std::string::npos;
  return is_clear ? cause : cause + " (in simulated time)";
}

}  // namespace gauntlet
