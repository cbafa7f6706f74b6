// The text about the recomputed steps of a run.
#include "harness/record/recomputed_steps.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(RecomputedStepsTest, TextTellsStepsFromComputations) {
  struct TextCase {
    RunFacts facts;
    const char* text;
  };
  const TextCase kCases[] = {
      {{}, "0 steps recomputed"},
      {{.recomputed_steps = 1, .recomputed_distinct = 1, .recomputations = 1},
       "1 step recomputed"},
      {{.recomputed_steps = 5, .recomputed_distinct = 5, .recomputations = 12},
       "5 steps recomputed, 12 times in all"},
      {{.recomputed_steps = 3, .recomputed_distinct = 5, .recomputations = 5},
       "5 steps recomputed, at most 3 after one restart"},
      {{.recomputed_steps = 3, .recomputed_distinct = 5, .recomputations = 7},
       "5 steps recomputed, 7 times in all, at most 3 after one restart"},
      {{.recomputed_steps = 4}, "4 steps recomputed"},  // older result
  };
  for (const auto& [facts, text] : kCases) {
    EXPECT_EQ(RecomputedText(facts), text);
  }
}

}  // namespace
}  // namespace gauntlet
