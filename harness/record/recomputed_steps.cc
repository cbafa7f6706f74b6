#include "harness/record/recomputed_steps.h"

#include <fmt/format.h>

namespace gauntlet {

uint64_t CountRecomputed(const RunFacts& facts) {
  // A result of an older program has no number of recomputations.
  return facts.recomputations == 0 ? facts.recomputed_steps
                                   : facts.recomputed_distinct;
}

std::string RecomputedText(const RunFacts& facts) {
  const uint64_t steps = CountRecomputed(facts);
  std::string text =
      fmt::format("{} step{} recomputed", steps, steps == 1 ? "" : "s");
  if (facts.recomputations > steps) {
    text += fmt::format(", {} times in all", facts.recomputations);
  }
  if (facts.recomputed_steps < steps) {
    text +=
        fmt::format(", at most {} after one restart", facts.recomputed_steps);
  }
  return text;
}

}  // namespace gauntlet
