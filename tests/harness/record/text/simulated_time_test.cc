#include "harness/record/text/simulated_time.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(SimulatedTimeTest, DurationsOfASimulatedCauseAreMarked) {
  struct Row {
    const char* world;
    const char* cause;
    bool is_marked;
  };
  for (const Row& row :
       {Row{"sim", "1.5 s later", true}, Row{"sim", "it took 16 ms", true},
        Row{"real", "it took 16 ms", false},
        Row{"sim", "it took 16 ms of simulated time", false},
        Row{"sim", "step 3 of 12 samples", false}, Row{"sim", "", false}}) {
    const std::string cause = row.cause;
    EXPECT_EQ(WithClockOfWorld(cause, row.world),
              row.is_marked ? cause + " (in simulated time)" : cause);
  }
}

}  // namespace
}  // namespace gauntlet
