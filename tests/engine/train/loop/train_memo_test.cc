#include "engine/train/loop/train_memo.h"

#include <functional>

#include <gtest/gtest.h>

#include "engine/data/sample_order.h"
#include "engine/gpu/device_kernels.h"
#include "tests/engine/train/guarded_device.h"

namespace gauntlet {
namespace {

class TrainMemoTest : public testing::Test {
 protected:
  TrainMemoTest() {
    const JobSpec job = PresetJob("tiny").value();
    kernels_ = std::move(Kernels::Create({.isa = Isa::kScalar})).value();
    plain_ = Build(job);
    memoized_ = WithMemo(Build(job), *kernels_, {.high = 1}, memo_);
    parameters_.resize(plain_->parameter_count());
    plain_->Initialize(7, parameters_);
  }

  std::unique_ptr<Model> Build(const JobSpec& job) const {
    return std::move(Model::Build(job.model, {.height = 7, .width = 7}, 10,
                                  *kernels_))
        .value();
  }

  struct Pass {
    float loss = 0;
    int64_t correct = 0;
    std::vector<float> gradients;
    bool operator==(const Pass&) const = default;
  };
  Pass PassOf(Model& model) const {
    Pass pass{.gradients = std::vector<float>(parameters_.size())};
    const ReplicaResult result =
        model.Gradients(parameters_, batch_, pass.gradients);
    pass.loss = result.loss;
    pass.correct = result.correct;
    return pass;
  }

  std::unique_ptr<Kernels> kernels_;
  TrainMemo memo_;
  std::unique_ptr<Model> plain_;
  std::unique_ptr<Model> memoized_;
  std::vector<float> parameters_;
  std::vector<float> features_ = std::vector<float>(2 * 49, 0.25f);
  std::vector<uint8_t> labels_ = {3, 4};
  ReplicaBatch batch_ = {.features = features_,
                         .labels = labels_,
                         .loss_scale = 0.5f,
                         .rng_key = 7,
                         .step = 3};
};

TEST_F(TrainMemoTest, KnownPassIsBitwiseIdentical) {
  const Pass computed = PassOf(*plain_);
  EXPECT_EQ(PassOf(*memoized_), computed);
  EXPECT_EQ(memo_.found(), 0u);
  EXPECT_EQ(PassOf(*memoized_), computed);
  EXPECT_EQ(memo_.found(), 1u);
}

// Once a gradient is reported as final, the caller may change it. So the memo
// copies each gradient before it reports it.
TEST_F(TrainMemoTest, ReportsNoGradientBeforeItIsKept) {
  const Pass computed = PassOf(*plain_);
  int reports = 0;
  batch_.final_from = [&](size_t) { ++reports; };
  EXPECT_EQ(PassOf(*plain_), computed);
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(PassOf(*memoized_), computed);
  EXPECT_EQ(reports, 1);
  EXPECT_EQ(memoized_->first_layer_size(), plain_->first_layer_size());
}

// A caller that sets `kept` receives the kept gradients and loss of a known
// pass; its own array is not written.
TEST_F(TrainMemoTest, KnownPassIsReturnedAsStored) {
  const Pass computed = PassOf(*plain_);
  std::vector<float> kept_as = computed.gradients;
  kept_as.push_back(computed.loss);
  KeptGradients kept;
  batch_.kept = &kept;
  EXPECT_EQ(PassOf(*memoized_), computed);
  EXPECT_EQ(kept, nullptr);
  Pass left = computed;
  std::ranges::fill(left.gradients, 0.0f);
  EXPECT_EQ(PassOf(*memoized_), left);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(*kept, kept_as);
}

// A change of any single input makes another pass.
TEST_F(TrainMemoTest, PassOfAnotherInputIsComputed) {
  PassOf(*memoized_);
  const std::vector<std::function<void()>> changes = {
      [&] { parameters_[5] = 0.0f; },     [&] { parameters_[5] = -0.0f; },
      [&] { features_[3] = 0.5f; },       [&] { labels_[1] = 5; },
      [&] { batch_.loss_scale = 0.25f; }, [&] { batch_.rng_key = 8; },
      [&] { batch_.step = 4; },           [&] { batch_.first_global_row = 1; }};
  for (const auto& change : changes) {
    change();
    EXPECT_EQ(PassOf(*memoized_), PassOf(*plain_));
  }
  EXPECT_EQ(memo_.found(), 0u);
}

// The samples of a known pass are not read.
TEST_F(TrainMemoTest, PassIsIdentifiedByItsSamples) {
  Dataset data{.samples = 3, .height = 7, .width = 7, .labels = {3, 4, 5}};
  data.features = std::vector<float>(3 * 49, 0.25f);
  GatheredSamples samples(data);
  batch_.features = {};
  batch_.labels = {};
  batch_.samples = &samples;
  const auto pass_of = [&](Model& model, std::span<const uint32_t> numbers) {
    samples.Clear();
    for (const uint32_t number : numbers) samples.Add(number);
    return PassOf(model);
  };
  const std::vector<std::vector<uint32_t>> choices = {{0, 1}, {1, 0}, {0, 2}};
  for (const auto& numbers : choices) {
    const Pass computed = pass_of(*plain_, numbers);
    EXPECT_EQ(pass_of(*memoized_, numbers), computed);
  }
  EXPECT_EQ(memo_.found(), 0u);
  const Pass first = pass_of(*plain_, choices[0]);
  std::ranges::fill(data.features, 0.75f);
  EXPECT_EQ(pass_of(*memoized_, choices[0]), first);
  EXPECT_EQ(memo_.found(), 1u);
}

TEST_F(TrainMemoTest, EvaluationIsNotTakenForATrainingPass) {
  PassOf(*memoized_);
  const float loss = plain_->Evaluate(parameters_, batch_).loss;
  EXPECT_EQ(memoized_->Evaluate(parameters_, batch_).loss, loss);
  EXPECT_EQ(memoized_->Evaluate(parameters_, batch_).loss, loss);
  EXPECT_EQ(memo_.found(), 1u);
}

TEST_F(TrainMemoTest, KeepsTheInitialParametersOfEachKey) {
  std::vector<float> parameters(parameters_.size());
  for (int time = 0; time < 2; ++time) {
    memoized_->Initialize(7, parameters);
    EXPECT_EQ(parameters, parameters_);
  }
  memoized_->Initialize(8, parameters);
  EXPECT_NE(parameters, parameters_);
  EXPECT_EQ(memo_.found(), 1u);
}

// Passes on a device have the same key as passes on the host.
TEST_F(TrainMemoTest, KnownPassNeedsNoDevice) {
  const auto device =
      gpu::KernelsOn(GuardedDevice(), GuardedDevice().open(0, nullptr));
  Memory& memory = device->memory();
  const JobSpec job = PresetJob("tiny").value();
  const auto model = WithMemo(
      std::move(Model::Build(job.model, {.height = 7, .width = 7}, 10, *device))
          .value(),
      *device, {.high = 1}, memo_);
  MemoryArray<float> parameters(memory);
  MemoryArray<float> gradients(memory);
  parameters.Resize(parameters_.size());
  gradients.Resize(parameters_.size());
  memory.Upload(parameters.span().data(), parameters_.data(),
                parameters_.size() * sizeof(float));
  const Pass expected = PassOf(*plain_);
  for (const uint64_t found : {0u, 1u}) {
    memory.Clear(gradients.span().data(), gradients.size() * sizeof(float));
    Pass pass{.gradients = std::vector<float>(parameters_.size())};
    const ReplicaResult result =
        model->Gradients(parameters.span(), batch_, gradients.span());
    memory.Download(pass.gradients.data(), gradients.span().data(),
                    gradients.size() * sizeof(float));
    pass.loss = result.loss;
    pass.correct = result.correct;
    EXPECT_EQ(pass, expected);
    EXPECT_EQ(memo_.found(), found);
  }
}

TEST_F(TrainMemoTest, ForgetsWhenItIsFull) {
  TrainMemo small(10'000);
  const auto model =
      WithMemo(Build(PresetJob("tiny").value()), *kernels_, {}, small);
  const Pass first = PassOf(*model);
  batch_.step = 4;
  PassOf(*model);
  batch_.step = 3;
  EXPECT_EQ(PassOf(*model), first);
  EXPECT_EQ(small.found(), 0u);
  EXPECT_EQ(small.computed(), 3u);
}

// Two jobs may have equal parameters and samples, but different models.
TEST_F(TrainMemoTest, PassOfAnotherModelIsComputed) {
  PassOf(*memoized_);
  const auto other =
      WithMemo(Build(PresetJob("tiny").value()), *kernels_, {.high = 2}, memo_);
  PassOf(*other);
  EXPECT_EQ(memo_.found(), 0u);
}

TEST_F(TrainMemoTest, ReturnedPassOutlivesItsEviction) {
  TrainMemo small(10'000);
  const auto model =
      WithMemo(Build(PresetJob("tiny").value()), *kernels_, {}, small);
  const Pass first = PassOf(*model);
  KeptGradients kept;
  batch_.kept = &kept;
  PassOf(*model);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept.use_count(), 2);
  batch_.kept = nullptr;
  batch_.step = 4;
  PassOf(*model);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(kept->back(), first.loss);
}

TEST_F(TrainMemoTest, ReturnedOrderOutlivesItsEviction) {
  TrainMemo small(10'000);
  const SampleOrder order = small.OrderOf(7, 2, 384);
  EXPECT_EQ(small.bytes(), 384 * sizeof(uint32_t));
  for (uint64_t epoch = 3; epoch < 20; ++epoch) small.OrderOf(7, epoch, 384);
  EXPECT_LE(small.bytes(), 10'000u);
  EXPECT_EQ(order.SampleAt(383), SampleOrder(7, 2, 384).SampleAt(383));
}

TEST_F(TrainMemoTest, KnownOrderIsTheSame) {
  const SampleOrder computed(7, 2, 384);
  for (int time = 0; time < 2; ++time) {
    const SampleOrder known = memo_.OrderOf(7, 2, 384);
    for (uint32_t i = 0; i < 384; ++i) {
      ASSERT_EQ(known.SampleAt(i), computed.SampleAt(i));
    }
  }
}

}  // namespace
}  // namespace gauntlet
