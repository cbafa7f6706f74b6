// In the steady state, a step of the model allocates nothing. This file
// replaces the global operator new of the test program by one that counts.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "tests/engine/model/training_loop.h"

namespace {

thread_local long allocations = 0;

}  // namespace

// Not inlined: the compiler would report malloc with delete as a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

namespace gauntlet {
namespace {

TEST(AllocationTest, StepWithinEarlierSizes_AllocatesNothing) {
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  const JobSpec job = PresetJob("tiny").value();
  const auto model =
      Model::Build(job.model, {.height = 7, .width = 7}, 10, *kernels).value();
  const auto optimizer = Optimizer::Build(job.optimizer, *kernels);
  std::vector<float> parameters(model->parameter_count());
  std::vector<float> gradients(parameters.size());
  model->Initialize(1, parameters);
  OptimizerState state = optimizer->InitialState(parameters.size());
  const std::vector<float> features(300 * 49, 0.5f);
  const std::vector<uint8_t> labels(300, 3);
  const auto run = [&](size_t rows) {
    const ReplicaBatch batch{.features = std::span(features).first(rows * 49),
                             .labels = std::span(labels).first(rows)};
    model->Gradients(parameters, batch, gradients);
    model->Evaluate(parameters, batch);
    optimizer->Apply(0, gradients, parameters, state);
  };
  run(300);
  const long before = allocations;
  ASSERT_GT(before, 0);
  run(300);
  run(16);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace gauntlet
