// Texts about the restarts and recomputed steps of a run.
#include "harness/record/text/facts_text.h"

#include <utility>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(FactsTextTest, RequeuesArePartOfTheRestarts) {
  const std::pair<RunFacts, const char*> cases[] = {
      {{}, "0 restarts"},
      {{.restarts = 1}, "1 restart"},
      {{.restarts = 1, .requeues = 1}, "1 restart (requeue)"},
      {{.restarts = 2, .requeues = 2}, "2 restarts (requeues)"},
      {{.restarts = 3, .requeues = 1}, "3 restarts (1 requeue)"},
  };
  for (const auto& [facts, text] : cases) EXPECT_EQ(RestartsText(facts), text);
}

TEST(FactsTextTest, TextTellsStepsFromComputations) {
  struct TextCase {
    RunFacts facts;
    const char* text;
  };
  const TextCase kCases[] = {
      {{}, "0 steps recomputed"},
      {{.max_recomputed_steps = 1,
        .distinct_recomputed_steps = 1,
        .recomputations = 1},
       "1 step recomputed"},
      {{.max_recomputed_steps = 5,
        .distinct_recomputed_steps = 5,
        .recomputations = 12},
       "5 steps recomputed, 12 recomputations in all"},
      {{.max_recomputed_steps = 3,
        .distinct_recomputed_steps = 5,
        .recomputations = 5},
       "5 steps recomputed, at most 3 after each restart"},
      {{.max_recomputed_steps = 3,
        .distinct_recomputed_steps = 5,
        .recomputations = 7},
       "5 steps recomputed, 7 recomputations in all, at most 3 after each "
       "restart"},
      {{.max_recomputed_steps = 4}, "4 steps to recompute"},
  };
  for (const auto& [facts, text] : kCases) {
    EXPECT_EQ(RecomputedText(facts), text);
  }
}

TEST(FactsTextTest, ResumeFromACheckpointComesBeforeThatFromMemory) {
  EXPECT_EQ(ResumedText({}), "");
  EXPECT_EQ(ResumedText({.resumed_from_memory = 7}),
            "resumed from memory at step 7, 0 steps recomputed");
  EXPECT_EQ(ResumedText({.resumed_from = 0, .resumed_from_memory = 7}),
            "resumed from step 0, 0 steps recomputed");
}

}  // namespace
}  // namespace gauntlet
