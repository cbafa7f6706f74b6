// Checked-in digests: they change with numerics, data or order, and then
// numerics::kVersion must change too.
#include <gtest/gtest.h>

#include "engine/numerics.h"
#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

std::string DigestAfterSteps(JobSpec job, int replicas, int steps,
                             const Kernels& kernels) {
  job.replicas = replicas;
  TrainingLoop loop(job, kernels);
  for (int i = 0; i < steps; ++i) loop.Step();
  return loop.Digest();
}

TEST(GoldenTest, TwentyStepsOfTinyEndInTheGoldenState) {
  ASSERT_EQ(numerics::kVersion, 1u);
  const JobSpec tiny = PresetJob("tiny").value();
  for (const Isa isa : IsasHere()) {
    const auto kernels = MakeKernels(isa, 1);
    EXPECT_EQ(DigestAfterSteps(tiny, 1, 20, *kernels),
              "3e261c0ba621c216deddfebd22c9852a")
        << IsaName(isa);
    EXPECT_EQ(DigestAfterSteps(tiny, 4, 20, *kernels),
              "07bdc4325bb16568915fda9a9f264547")
        << IsaName(isa);
  }
}

// Eight rows per step, because the scalar path is slow.
TEST(GoldenTest, ThreeStepsOfCnnShortEndInTheGoldenState) {
  ASSERT_EQ(numerics::kVersion, 1u);
  JobSpec cnn = PresetJob("cnn-short").value();
  cnn.batch = 4;
  cnn.data.samples = 64;
  for (const Isa isa : IsasHere()) {
    EXPECT_EQ(DigestAfterSteps(cnn, 2, 3, *MakeKernels(isa, 1)),
              "3a545bd66bf6e34a0771c584be76704e")
        << IsaName(isa);
  }
}

TEST(GoldenTest, TwentyStepsWithGeluEndInTheGoldenState) {
  ASSERT_EQ(numerics::kVersion, 1u);
  JobSpec job = PresetJob("tiny").value();
  ASSERT_EQ(job.model.layers[2].kind, LayerKind::kRelu);
  job.model.layers[2].kind = LayerKind::kGelu;
  for (const Isa isa : IsasHere()) {
    EXPECT_EQ(DigestAfterSteps(job, 4, 20, *MakeKernels(isa, 1)),
              "fbe2fdeebc6bd511a86519680912c659")
        << IsaName(isa);
  }
}

}  // namespace
}  // namespace gauntlet
