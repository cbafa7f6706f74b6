#include "harness/record/text/joined_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {

std::string JoinedTexts(std::vector<std::string> texts) {
  std::erase(texts, "");
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace gauntlet
