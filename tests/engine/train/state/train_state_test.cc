#include "engine/train/state/train_state.h"

#include <cstring>
#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

class TrainStateTest : public testing::Test {
 protected:
  TrainStateTest() {
    kernels_ = std::move(Kernels::Create({.isa = Isa::kScalar})).value();
    model_ = std::move(Model::Build(job_.model, {.height = 7, .width = 7}, 10,
                                    *kernels_))
                 .value();
    optimizer_ = Optimizer::Build(job_.optimizer, *kernels_);
  }

  TrainState Fresh(uint64_t seed) const {
    JobSpec job = job_;
    job.seed = seed;
    return TrainState(*model_, *optimizer_, job);
  }

  // Returns a state at the end of its second epoch.
  TrainState Used() const {
    TrainState state = Fresh(3);
    state.parameters[0] = 0.5f;
    state.optimizer.slots[1][2] = 0.25f;
    state.optimizer.scalars[0] = 0.81f;
    state.position = {.step = 9, .epoch = 1, .sample = 48, .phase = 2};
    state.metrics = {.loss_sum = 12.5f, .correct = 30, .samples = 48};
    state.history = {{1.5f}, {40}, {96}, {1.25f, 1.0f}, {10, 12}, {32, 32}};
    return state;
  }

  static std::map<std::string, Tensor> Stored(const TrainState& state) {
    std::map<std::string, Tensor> tensors;
    for (const TensorView& view : state.Tensors()) {
      tensors[view.name] = {.name = view.name,
                            .dtype = view.dtype,
                            .shape = view.shape,
                            .bytes = {view.bytes.begin(), view.bytes.end()}};
    }
    return tensors;
  }

  std::string RefusalOf(const std::map<std::string, Tensor>& tensors) const {
    TrainState state = Fresh(1);
    const Status status = state.Restore(ViewsOf(tensors), faults_);
    EXPECT_EQ(status.code(), Code::kDataLoss);
    return status.message();
  }

  NoFaults faults_;
  JobSpec job_ = PresetJob("tiny").value();
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
};

TEST_F(TrainStateTest, RestoreBringsBackEveryBit) {
  const TrainState used = Used();
  TrainState state = Fresh(1);
  ASSERT_TRUE(state.Restore(ViewsOf(Stored(used)), faults_).ok());
  EXPECT_EQ(state.ComputeDigest(), used.ComputeDigest());
  EXPECT_EQ(state.rng_key, 3u);
  EXPECT_EQ(state.history.val_correct, used.history.val_correct);
}

// Reads each tensor into its place, as a load does.
TEST_F(TrainStateTest, RestoreTakesTensorsThatWereReadIntoTheirPlaces) {
  const TrainState used = Used();
  const std::map<std::string, Tensor> stored = Stored(used);
  std::vector<TensorView> tensors = ViewsOf(stored);
  TrainState first = Fresh(1);
  size_t placed = 0;
  for (TensorView& tensor : tensors) {
    const std::span<std::byte> place = first.PlaceToRestore(tensor);
    if (place.empty()) continue;
    ASSERT_EQ(place.size(), tensor.bytes.size()) << tensor.name;
    std::ranges::copy(tensor.bytes, place.begin());
    tensor.bytes = place;
    ++placed;
  }
  EXPECT_EQ(placed, tensors.size() - 14);  // no history, position and the like
  TrainState state = std::move(first);     // keeps the arrays
  ASSERT_TRUE(state.Restore(tensors, faults_).ok());
  EXPECT_EQ(state.parameters, used.parameters);
  EXPECT_EQ(state.ComputeDigest(), used.ComputeDigest());
}

TEST_F(TrainStateTest, StateIsUnreadableFromItsFirstPlaceUntilItIsRestored) {
  std::map<std::string, Tensor> stored = Stored(Used());
  const std::vector<TensorView> tensors = ViewsOf(stored);
  TrainState state = Fresh(1);
  ASSERT_TRUE(state.CheckReadable().ok());
  ASSERT_FALSE(state.PlaceToRestore(ViewOf(stored["dense1/bias"])).empty());
  EXPECT_EQ(state.CheckReadable().code(), Code::kFailedPrecondition);
  EXPECT_DEATH(static_cast<void>(state.Tensors()), "not restored completely");
  ASSERT_TRUE(state.Restore(tensors, faults_).ok());
  EXPECT_TRUE(state.CheckReadable().ok());
}

TEST_F(TrainStateTest, OnlyATensorOfTheSameTypeAndShapeHasAPlace) {
  const std::map<std::string, Tensor> stored = Stored(Used());
  TrainState state = Fresh(1);
  const auto has_place = [&](const std::string& name, const auto& change) {
    TensorView tensor = ViewOf(stored.at(name));
    change(tensor);
    return !state.PlaceToRestore(tensor).empty();
  };
  const auto keep = [](TensorView&) {};
  EXPECT_FALSE(has_place("history/loss", keep));
  EXPECT_FALSE(has_place("position/step", keep));
  EXPECT_FALSE(has_place("dense1/bias", [](auto& t) { t.name += "x"; }));
  EXPECT_FALSE(has_place("dense1/bias", [](auto& t) { ++t.shape[0]; }));
  EXPECT_FALSE(
      has_place("dense1/bias", [](auto& t) { t.dtype = DType::kU32; }));
  EXPECT_TRUE(state.CheckReadable().ok());
  EXPECT_TRUE(has_place("dense1/bias", keep));
}

// The digest covers everything that the future depends on: a change of any
// tensor changes it.
TEST_F(TrainStateTest, DigestCoversEveryTensor) {
  const TrainState used = Used();
  std::map<std::string, Tensor> tensors = Stored(used);
  for (auto& [name, tensor] : tensors) {
    if (name == "position/phase") continue;  // must match the history
    ASSERT_FALSE(tensor.bytes.empty()) << name;
    tensor.bytes[0] ^= std::byte{2};
    TrainState state = Fresh(1);
    ASSERT_TRUE(state.Restore(ViewsOf(tensors), faults_).ok()) << name;
    EXPECT_NE(state.ComputeDigest(), used.ComputeDigest()) << name;
    tensor.bytes[0] ^= std::byte{2};
  }
}

TEST_F(TrainStateTest, StoresPendingGradients_OnlyIfStepsAccumulate) {
  job_.accumulate = 2;
  TrainState state = Fresh(1);
  const auto before = Stored(state);
  ASSERT_TRUE(before.contains("accumulated/dense1/bias"));
  state.accumulated.back() = 1.0f;
  EXPECT_NE(Stored(state).at("accumulated/dense1/bias").bytes,
            before.at("accumulated/dense1/bias").bytes);
  job_.accumulate = 1;
  EXPECT_FALSE(Stored(Fresh(1)).contains("accumulated/dense1/bias"));
}

TEST_F(TrainStateTest, HoldsARowOfStateForEachReplica) {
  job_.replicas = 3;
  job_.model.layers[2] = {.kind = LayerKind::kCenter};
  model_ = std::move(Model::Build(job_.model, {.height = 7, .width = 7}, 10,
                                  *kernels_))
               .value();
  TrainState state = Fresh(1);
  state.replica_state[32] = 1.0f;  // replica 1, channel 0
  const auto stored = Stored(state);
  const Tensor& means = stored.at("center0/moving_mean");
  EXPECT_EQ(means.shape, (std::vector<uint64_t>{3, 32}));
  TrainState back = Fresh(1);
  ASSERT_TRUE(back.Restore(ViewsOf(stored), faults_).ok());
  EXPECT_EQ(back.replica_state, state.replica_state);
  EXPECT_NE(back.ComputeDigest(), Fresh(1).ComputeDigest());
}

TEST_F(TrainStateTest, RefusesAMissingTensorByName) {
  const std::map<std::string, Tensor> whole = Stored(Used());
  for (const auto& [name, tensor] : whole) {
    std::map<std::string, Tensor> tensors = whole;
    tensors.erase(name);
    EXPECT_THAT(RefusalOf(tensors), HasSubstr(name));
    tensors[name + "x"] = tensor;
    EXPECT_THAT(RefusalOf(tensors), HasSubstr(name)) << name;
  }
}

TEST_F(TrainStateTest, RefusesASuperfluousTensor) {
  std::map<std::string, Tensor> tensors = Stored(Used());
  tensors["extra"] = tensors["rng/key"];
  EXPECT_EQ(RefusalOf(tensors),
            "tensor extra: in the checkpoint, but not of this run");
}

TEST_F(TrainStateTest, RefusesAnotherTypeOrShapeByName) {
  const std::map<std::string, Tensor> whole = Stored(Used());
  for (const auto& [name, tensor] : whole) {
    std::map<std::string, Tensor> tensors = whole;
    tensors[name].dtype =
        tensor.dtype == DType::kF32 ? DType::kI64 : DType::kF32;
    EXPECT_THAT(RefusalOf(tensors), HasSubstr(name));
    tensors = whole;
    tensors[name].shape.push_back(1);
    EXPECT_THAT(RefusalOf(tensors), HasSubstr(name));
    tensors = whole;
    tensors[name].bytes.pop_back();
    EXPECT_THAT(RefusalOf(tensors), HasSubstr(name));
  }
}

TEST_F(TrainStateTest, RefusesAHistoryOfAbsurdLengthWithoutTakingTheMemory) {
  for (const std::string name :
       {"history/loss", "history/correct", "history/rows", "history/val_loss",
        "history/val_correct", "history/val_rows"}) {
    for (const uint64_t epochs : {uint64_t{1} << 60, (uint64_t{1} << 24) + 1}) {
      std::map<std::string, Tensor> tensors = Stored(Used());
      tensors[name].shape = {epochs};
      EXPECT_EQ(RefusalOf(tensors),
                fmt::format("tensor {}: expected one dimension of at most "
                            "16777216",
                            name));
    }
  }
}

TEST_F(TrainStateTest, RefusesAnInvalidPhase) {
  std::map<std::string, Tensor> tensors = Stored(Used());
  for (const uint64_t phase : {uint64_t{3}, uint64_t{9}, UINT64_MAX}) {
    std::memcpy(tensors["position/phase"].bytes.data(), &phase, sizeof phase);
    EXPECT_EQ(RefusalOf(tensors),
              fmt::format("position/phase: expected 0 to 2, found {}", phase));
  }
}

// If callbacks are due, the history must contain the epoch's validation.
TEST_F(TrainStateTest, RefusesAHistoryOfAnotherPosition) {
  std::map<std::string, Tensor> tensors = Stored(Used());
  for (const uint64_t phase : {uint64_t{0}, uint64_t{1}}) {
    std::memcpy(tensors["position/phase"].bytes.data(), &phase, sizeof phase);
    EXPECT_EQ(RefusalOf(tensors),
              "tensor history/val_loss: expected 1 epochs by history/loss and "
              "the position, found 2");
  }
  TrainState fresh = Fresh(1);
  fresh.position.phase = 2;
  EXPECT_EQ(RefusalOf(Stored(fresh)),
            "tensor history/val_loss: expected 1 epochs by history/loss and "
            "the position, found 0");
}

TEST_F(TrainStateTest, RefusesAHistoryOfSeveralLengths) {
  const auto refusal = [&](const auto& spoil) {
    TrainState state = Used();
    spoil(state.history);
    return RefusalOf(Stored(state));
  };
  EXPECT_THAT(refusal([](History& history) { history.correct.clear(); }),
              HasSubstr("tensor history/correct: expected 1 epochs"));
  EXPECT_THAT(refusal([](History& history) { history.samples.push_back(1); }),
              HasSubstr("tensor history/rows: expected 1 epochs"));
  EXPECT_THAT(refusal([](History& history) { history.val_correct.clear(); }),
              HasSubstr("tensor history/val_correct: expected 2 epochs"));
  EXPECT_THAT(refusal([](History& history) { history.val_samples.clear(); }),
              HasSubstr("tensor history/val_rows: expected 2 epochs"));
}

TEST_F(TrainStateTest, RefusesAStateOfAnotherModel) {
  JobSpec job = PresetJob("tiny").value();
  job.model.layers[1].units = 31;
  auto other = std::move(Model::Build(job.model, {.height = 7, .width = 7}, 10,
                                      *kernels_))
                   .value();
  EXPECT_THAT(RefusalOf(Stored(TrainState(*other, *optimizer_, job))),
              HasSubstr("tensor "));
}

}  // namespace
}  // namespace gauntlet
