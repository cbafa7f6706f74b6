#include "harness/run/failure/consequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

// Returns the invariants whose violations follow if the tensor differs.
std::vector<std::string> FollowFrom(const std::string& tensor) {
  Verdict verdict;
  for (const char* name : {"trajectory", "samples", "restarts", "store"}) {
    verdict.invariants.push_back({.invariant = name, .violations = 1});
  }
  verdict.invariants.back().violations = 0;
  std::vector<std::string> names;
  for (const Consequence& one :
       ConsequencesOf({.tensors = {{.name = tensor}}}, verdict)) {
    EXPECT_NE(one.why, "");
    names.push_back(one.invariant);
  }
  return names;
}

TEST(ConsequencesTest, ViolatedInvariantsFollow_IfTheyDependOnTheTensor) {
  EXPECT_THAT(FollowFrom("rng/key"),
              testing::ElementsAre("trajectory", "samples"));
  EXPECT_THAT(FollowFrom("dense0/kernel"), testing::ElementsAre("trajectory"));
}

}  // namespace
}  // namespace gauntlet
