// The bits of gradients depend only on the job and the samples.
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "engine/numerics.h"
#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

std::vector<uint32_t> BitsOf(std::span<const float> values) {
  std::vector<uint32_t> bits;
  for (const float value : values) {
    bits.push_back(std::bit_cast<uint32_t>(value));
  }
  return bits;
}

// Returns the bits of the first step of the job with `rows` rows: gradients,
// then the losses of the step and of an evaluation.
std::vector<uint32_t> FirstStepBits(JobSpec job, size_t rows,
                                    const Kernels& kernels) {
  job.batch = static_cast<int>(rows);
  job.data.samples = job.batch;
  TrainingLoop loop(job, kernels);
  const auto model =
      Model::Build(job.model, loop.data().train.shape(), 10, kernels).value();
  std::vector<float> gradients(model->parameter_count());
  ReplicaBatch batch = WholeSet(loop.data().train);
  batch.rng_key = 17;
  batch.step = 4;
  const float loss = model->Gradients(loop.parameters(), batch, gradients).loss;
  gradients.push_back(loss);
  gradients.push_back(model->Evaluate(loop.parameters(), batch).loss);
  return BitsOf(gradients);
}

TEST(BitsTest, InstructionSetAndThreadsChangeNoBitOfTheGradients) {
  for (const char* name : {"tiny", "linear", "dnn"}) {
    const JobSpec job = PresetJob(name).value();
    // One row, one row more than a chunk, an odd number.
    for (const size_t rows : {1u, 37u, 257u}) {
      const auto expected =
          FirstStepBits(job, rows, *MakeKernels(Isa::kScalar, 1));
      for (const Isa isa : IsasHere()) {
        for (const int threads : {1, 2, 3}) {
          EXPECT_EQ(FirstStepBits(job, rows, *MakeKernels(isa, threads)),
                    expected)
              << name << ", " << rows << " rows, " << IsaName(isa) << ", "
              << threads << " threads";
        }
      }
    }
  }
}

// Uses small images, so that a row more than a chunk is fast.
JobSpec SmallCnn() {
  JobSpec job = PresetJob("cnn-short").value();
  job.data.side = 7;
  job.data.validation_samples = 16;
  job.model.layers.insert(
      job.model.layers.begin() + 2,
      {.kind = LayerKind::kConv2D, .filters = 9, .kernel = 2});
  job.model.layers.insert(job.model.layers.begin() + 3,
                          {.kind = LayerKind::kGelu});
  return job;
}

TEST(BitsTest, InstructionSetAndThreadsChangeNoBitOfConvolutions) {
  for (const size_t rows : {1u, 37u, 257u}) {
    const auto expected =
        FirstStepBits(SmallCnn(), rows, *MakeKernels(Isa::kScalar, 1));
    for (const Isa isa : IsasHere()) {
      for (const int threads : {1, 3}) {
        EXPECT_EQ(FirstStepBits(SmallCnn(), rows, *MakeKernels(isa, threads)),
                  expected)
            << rows << " rows, " << IsaName(isa) << ", " << threads
            << " threads";
      }
    }
  }
}

TEST(BitsTest, ReplicasAddUpInAscendingOrder) {
  constexpr size_t kReplicas = 3;
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  JobSpec job = PresetJob("tiny").value();
  TrainingLoop loop(job, *kernels);
  const Dataset& train = loop.data().train;
  const auto model =
      Model::Build(job.model, train.shape(), 10, *kernels).value();
  const size_t count = model->parameter_count();
  const SampleOrder order(1, 0, train.samples);
  std::vector<float> all(kReplicas * count);
  for (size_t replica = 0; replica < kReplicas; ++replica) {
    const SampleRange range = ReplicaSamples(0, 48, 16, replica);
    const Samples samples = Gather(train, order, range);
    model->Gradients(loop.parameters(),
                     {.features = samples.features,
                      .labels = samples.labels,
                      .loss_scale = 1.0f / 48,
                      .first_global_row = range.first},
                     std::span(all).subspan(replica * count, count));
  }
  std::vector<float> sum(all.begin(), all.begin() + static_cast<long>(count));
  for (size_t replica = 1; replica < kReplicas; ++replica) {
    kernels->Accumulate(std::span(all).subspan(replica * count, count), sum);
  }
  std::vector<float> by_hand;
  for (size_t i = 0; i < count; ++i) {
    by_hand.push_back(numerics::ReplicaSum(all.data() + i, count, kReplicas));
  }
  EXPECT_EQ(BitsOf(sum), BitsOf(by_hand));
}

TEST(BitsTest, EvaluationSumsAllSamplesInOneCanonicalSum) {
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  JobSpec job = PresetJob("tiny").value();
  job.data.samples = 1000;  // four evaluation blocks, the last one partial
  TrainingLoop loop(job, *kernels);
  const Dataset& train = loop.data().train;
  const auto model =
      Model::Build(job.model, train.shape(), 10, *kernels).value();
  const ReplicaBatch batch = WholeSet(train);
  std::vector<float> losses;
  int64_t correct = 0;
  for (size_t row = 0; row < train.samples; ++row) {
    const ReplicaResult one = model->Evaluate(
        loop.parameters(), {.features = batch.features.subspan(row * 49, 49),
                            .labels = batch.labels.subspan(row, 1),
                            .loss_scale = batch.loss_scale});
    losses.push_back(one.loss);
    correct += one.correct;
  }
  const ReplicaResult whole = model->Evaluate(loop.parameters(), batch);
  const float by_hand = numerics::ChunkedSum(losses.data(), 1, losses.size());
  EXPECT_EQ(BitsOf({&whole.loss, 1}), BitsOf({&by_hand, 1}));
  EXPECT_EQ(whole.correct, correct);
}

}  // namespace
}  // namespace gauntlet
