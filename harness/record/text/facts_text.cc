#include "harness/record/text/facts_text.h"

#include "engine/text/counted.h"
#include <fmt/format.h>

namespace gauntlet {

std::string RestartsText(const RunFacts& facts) {
  const std::string text = Counted(facts.restarts, "restart");
  if (facts.requeues == 0) return text;
  if (facts.requeues < facts.restarts) {
    return fmt::format("{} ({})", text, Counted(facts.requeues, "requeue"));
  }
  return fmt::format("{} (requeue{})", text, facts.requeues == 1 ? "" : "s");
}

uint64_t CountRecomputed(const RunFacts& facts) {
  // A result that an older program wrote has no recomputations: use the
  // maximum.
  return facts.recomputations == 0 ? facts.max_recomputed_steps
                                   : facts.distinct_recomputed_steps;
}

std::string RecomputedText(const RunFacts& facts) {
  if (facts.recomputations == 0 && facts.max_recomputed_steps > 0) {
    return Counted(facts.max_recomputed_steps, "step") + " to recompute";
  }
  const uint64_t steps = facts.distinct_recomputed_steps;
  std::string text = Counted(steps, "step") + " recomputed";
  if (facts.recomputations > steps) {
    text += fmt::format(", {} recomputations in all", facts.recomputations);
  }
  if (facts.max_recomputed_steps < steps) {
    text += fmt::format(", at most {} after each restart",
                        facts.max_recomputed_steps);
  }
  return text;
}

std::string ResumedText(const RunFacts& facts) {
  if (facts.resumed_from) {
    return fmt::format("resumed from step {}, {}", *facts.resumed_from,
                       RecomputedText(facts));
  }
  if (!facts.resumed_from_memory) return "";
  return fmt::format("resumed from memory at step {}, {}",
                     *facts.resumed_from_memory, RecomputedText(facts));
}

}  // namespace gauntlet
