#include "engine/model/optimizers/optimizer.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/numerics.h"
#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kCount = 37;  // not a multiple of any vector width

// Returns the gradients of a step, of either sign and of many magnitudes.
std::vector<float> GradientsOf(int step) {
  std::vector<float> gradients(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    const double angle = static_cast<double>(i) + 0.7 * step;
    gradients[i] = static_cast<float>(
        std::sin(angle) * std::pow(10.0, static_cast<double>(i % 7) - 5));
  }
  return gradients;
}

struct Trained {
  std::vector<float> parameters = std::vector<float>(kCount, 0.25f);
  OptimizerState state;
};

Trained Train(const OptimizerSpec& spec, int steps, const Kernels& kernels) {
  const auto optimizer = Optimizer::Build(spec, kernels);
  Trained trained{.state = optimizer->InitialState(kCount)};
  for (int step = 0; step < steps; ++step) {
    optimizer->Apply(static_cast<uint64_t>(step), GradientsOf(step),
                     trained.parameters, trained.state);
  }
  return trained;
}

// Algorithm 1 of the paper on Adam, with bias-corrected moments, in doubles.
// Epsilon is scaled, so that the result is that of the form at the end of
// section 2.
double AdamInDoubles(const OptimizerSpec& spec, size_t element, int steps) {
  double parameter = 0.25;
  double m = 0.0;
  double v = 0.0;
  for (int t = 1; t <= steps; ++t) {
    const double g = double{GradientsOf(t - 1)[element]};
    m = spec.beta1 * m + (1.0 - spec.beta1) * g;
    v = spec.beta2 * v + (1.0 - spec.beta2) * g * g;
    const double correction2 = 1.0 - std::pow(spec.beta2, t);
    const double m_hat = m / (1.0 - std::pow(spec.beta1, t));
    const double v_hat = v / correction2;
    parameter -= spec.learning_rate * m_hat /
                 (std::sqrt(v_hat) + spec.epsilon / std::sqrt(correction2));
  }
  return parameter;
}

TEST(AdamTest, AgreesWithThePaperInDoublePrecision) {
  constexpr int kSteps = 50;
  const OptimizerSpec spec{.learning_rate = 0.01f};
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  const Trained trained = Train(spec, kSteps, *kernels);
  for (size_t i = 0; i < kCount; ++i) {
    // Each step rounds the parameter (at most 2^-25 of a number below 1) and
    // its change (about 2^-22 of at most 0.01; more in the first steps, where 1
    // - beta2^t cancels to about 2^-14 relative).
    EXPECT_NEAR(trained.parameters[i], AdamInDoubles(spec, i, kSteps),
                kSteps * 0x1p-25 + 10 * 0.01 * 0x1p-14)
        << i;
  }
}

TEST(AdamTest, IsBitForBitTheContractsUpdateOnEveryInstructionSet) {
  const OptimizerSpec spec{.learning_rate = 0.003f};
  std::vector<float> parameters(kCount, 0.25f);
  std::vector<float> m(kCount);
  std::vector<float> v(kCount);
  float beta1_power = 1.0f;
  float beta2_power = 1.0f;
  for (int step = 0; step < 9; ++step) {
    beta1_power = beta1_power * spec.beta1;
    beta2_power = beta2_power * spec.beta2;
    const numerics::AdamRates rates = {
        numerics::AdamStepSize(spec.learning_rate, beta1_power, beta2_power),
        spec.beta1, spec.beta2, spec.epsilon};
    const std::vector<float> gradients = GradientsOf(step);
    for (size_t i = 0; i < kCount; ++i) {
      const auto next = numerics::AdamUpdate(rates, gradients[i],
                                             {parameters[i], m[i], v[i]});
      parameters[i] = next.parameter;
      m[i] = next.m;
      v[i] = next.v;
    }
  }
  for (const Isa isa : IsasHere()) {
    const Trained trained = Train(spec, 9, *MakeKernels(isa, 1));
    EXPECT_EQ(trained.parameters, parameters) << IsaName(isa);
    EXPECT_THAT(trained.state.slots, ElementsAre(m, v)) << IsaName(isa);
    EXPECT_THAT(trained.state.scalars, ElementsAre(beta1_power, beta2_power));
  }
}

TEST(AdamTest, NamesItsStateAndStartsFromZeroMoments) {
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  const auto adam = Optimizer::Build({}, *kernels);
  EXPECT_THAT(adam->slot_names(), ElementsAre("adam/m", "adam/v"));
  EXPECT_THAT(adam->scalar_names(),
              ElementsAre("adam/beta1_power", "adam/beta2_power"));
  const OptimizerState state = adam->InitialState(2);
  EXPECT_THAT(state.slots,
              ElementsAre(ElementsAre(0.0f, 0.0f), ElementsAre(0.0f, 0.0f)));
  EXPECT_THAT(state.scalars, ElementsAre(1.0f, 1.0f));
}

TEST(OptimizerTest, EverythingARestartNeedsIsInTheState) {
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  for (const OptimizerSpec& spec :
       {OptimizerSpec{},
        OptimizerSpec{.kind = OptimizerKind::kSgd, .momentum = 0.9f}}) {
    const Trained through = Train(spec, 10, *kernels);
    Trained resumed = Train(spec, 6, *kernels);
    const auto fresh = Optimizer::Build(spec, *kernels);
    for (int step = 6; step < 10; ++step) {
      fresh->Apply(static_cast<uint64_t>(step), GradientsOf(step),
                   resumed.parameters, resumed.state);
    }
    EXPECT_EQ(resumed.parameters, through.parameters);
    EXPECT_EQ(resumed.state.slots, through.state.slots);
  }
}

TEST(SgdTest, WithoutMomentumTakesOneFusedStepAndKeepsNothing) {
  const OptimizerSpec spec{.kind = OptimizerKind::kSgd, .learning_rate = 0.1f};
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  const Trained trained = Train(spec, 1, *kernels);
  EXPECT_THAT(trained.state.slots, IsEmpty());
  EXPECT_THAT(trained.state.scalars, IsEmpty());
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(trained.parameters[i], std::fma(-0.1f, GradientsOf(0)[i], 0.25f));
  }
}

TEST(SgdTest, WithMomentumIsBitForBitTheContractsUpdate) {
  const OptimizerSpec spec{
      .kind = OptimizerKind::kSgd, .learning_rate = 0.1f, .momentum = 0.9f};
  std::vector<float> parameters(kCount, 0.25f);
  std::vector<float> velocity(kCount);
  for (int step = 0; step < 5; ++step) {
    for (size_t i = 0; i < kCount; ++i) {
      velocity[i] = std::fma(0.9f, velocity[i], -(0.1f * GradientsOf(step)[i]));
      parameters[i] += velocity[i];
    }
  }
  for (const Isa isa : IsasHere()) {
    const Trained trained = Train(spec, 5, *MakeKernels(isa, 1));
    EXPECT_EQ(trained.parameters, parameters) << IsaName(isa);
    EXPECT_THAT(trained.state.slots, ElementsAre(velocity)) << IsaName(isa);
  }
}

TEST(OptimizerDeathTest, StateOfAnotherOptimizerStopsTheProgram) {
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  const auto adam = Optimizer::Build({}, *kernels);
  std::vector<float> parameters(kCount);
  OptimizerState state;
  EXPECT_DEATH(adam->Apply(0, GradientsOf(0), parameters, state),
               "the state is not of this optimizer");
}

}  // namespace
}  // namespace gauntlet
