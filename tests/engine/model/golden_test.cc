// Checked-in digests: a change of numerics, data or order shows here, and then
// numerics::kVersion has to change too.
#include <gtest/gtest.h>

#include "engine/numerics.h"
#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

std::string DigestAfterSteps(int replicas, int steps, const Kernels& kernels) {
  JobSpec job = PresetJob("tiny").value();
  job.replicas = replicas;
  TrainingLoop loop(job, kernels);
  for (int i = 0; i < steps; ++i) loop.Step();
  return loop.Digest();
}

TEST(GoldenTest, TwentyStepsOfTinyEndInTheGoldenState) {
  ASSERT_EQ(numerics::kVersion, 1u);
  for (const Isa isa : IsasHere()) {
    const auto kernels = MakeKernels(isa, 1);
    EXPECT_EQ(DigestAfterSteps(1, 20, *kernels),
              "3e261c0ba621c216deddfebd22c9852a")
        << IsaName(isa);
    EXPECT_EQ(DigestAfterSteps(4, 20, *kernels),
              "07bdc4325bb16568915fda9a9f264547")
        << IsaName(isa);
  }
}

}  // namespace
}  // namespace gauntlet
