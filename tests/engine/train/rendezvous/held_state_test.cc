#include "engine/train/rendezvous/held_state.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/train/rendezvous/rendezvous.pb.h"

namespace gauntlet {
namespace {

using Held = std::vector<std::optional<HeldState>>;

HeldState At(uint64_t step, Phase phase = Phase::kInEpoch) {
  return {.step = step, .phase = phase, .digest = DigestOf("a")};
}

const CheckpointRef kParent = {
    .name = "step-000000005-g2", .step = 5, .generation = 2};

TEST(DecideStartTest, FurthestStateWinsWhoeverHoldsIt) {
  const Held held = {std::nullopt, At(7), At(8), At(8)};
  const StartDecision start = DecideStart(held, kParent, At(5));
  ASSERT_TRUE(start.from_memory);
  EXPECT_EQ(start.from_memory->state, At(8));
  EXPECT_EQ(start.from_memory->holder, 2);
  EXPECT_EQ(start.from_memory->receivers, (std::vector{0, 1}));
  EXPECT_FALSE(start.checkpoint);
}

TEST(DecideStartTest, NearestRankBeforeAReceiverSends) {
  const StartDecision::Memory memory =
      *DecideStart(Held{{}, At(8), {}, {}, At(8)}, {}, {}).from_memory;
  EXPECT_EQ(memory.receivers, (std::vector{0, 2, 3}));
  EXPECT_TRUE(Receives(memory, 3));
  EXPECT_FALSE(Receives(memory, 4));
  EXPECT_EQ(SenderTo(memory, 0, 5), 4) << "around the ring";
  EXPECT_EQ(SenderTo(memory, 2, 5), 1);
  EXPECT_EQ(SenderTo(memory, 3, 5), 1) << "through rank 2";
}

TEST(DecideStartTest, LaterPhaseOfAStepIsFurther) {
  const Held held = {At(6, Phase::kEvaluationDue), At(6),
                     At(6, Phase::kCallbacksDue)};
  EXPECT_EQ(DecideStart(held, {}, {}).from_memory->holder, 1);
}

TEST(DecideStartTest, CheckpointThatIsFurtherThanAllMemoriesWins) {
  const Held held = {At(4), At(3)};
  const StartDecision start = DecideStart(held, kParent, At(5));
  EXPECT_FALSE(start.from_memory);
  EXPECT_EQ(start.checkpoint->name, kParent.name);
}

TEST(DecideStartTest, KeepsAStateAsFarAsTheCheckpoint) {
  const StartDecision start = DecideStart(Held{At(5), At(5)}, kParent, At(5));
  ASSERT_TRUE(start.from_memory);
  EXPECT_TRUE(start.from_memory->receivers.empty());
}

TEST(DecideStartTest, StoreDecides_WhenNoWorkerHoldsAState) {
  EXPECT_EQ(DecideStart(Held(3), kParent, At(5)).checkpoint->step, 5u);
  const StartDecision cold = DecideStart(Held(3), {}, {});
  EXPECT_FALSE(cold.from_memory || cold.checkpoint);
}

TEST(HeldStateTest, DecisionsAndStatesComeBackFromTheirBytes) {
  const StartDecision memory = DecideStart(Held{At(7), std::nullopt}, {}, {});
  EXPECT_EQ(DecodeStart(EncodeStart(memory))->from_memory->state, At(7));
  EXPECT_EQ(DecodeStart(EncodeStart(memory))->from_memory->receivers,
            std::vector{1});
  const StartDecision store = DecideStart(Held(1), kParent, At(5));
  EXPECT_EQ(DecodeStart(EncodeStart(store))->checkpoint->name, kParent.name);
  const StartDecision cold = DecodeStart("").value();
  EXPECT_FALSE(cold.from_memory || cold.checkpoint);
  EXPECT_EQ(DecodeHeld(EncodeHeld(At(7))).value(), At(7));
  EXPECT_EQ(DecodeHeld("").value(), std::nullopt);
}

TEST(HeldStateTest, RefusesHostileStarts) {
  wire::Start path;
  path.mutable_checkpoint()->set_name("../../etc");
  wire::Start phase;
  phase.mutable_memory()->mutable_state()->set_phase(3);
  wire::Start holder;
  holder.mutable_memory()->set_holder(~uint32_t{0});
  for (const wire::Start& start : {path, phase, holder}) {
    EXPECT_EQ(DecodeStart(start.SerializeAsString()).status().code(),
              Code::kDataLoss)
        << start.SerializeAsString();
  }
  EXPECT_EQ(DecodeStart("torn").status().code(), Code::kDataLoss);
}

TEST(HeldStateTest, RefusesHostileStates) {
  wire::HeldState state;
  state.set_phase(3);
  EXPECT_EQ(DecodeHeld(state.SerializeAsString()).status().code(),
            Code::kDataLoss);
  EXPECT_EQ(DecodeHeld("torn").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace gauntlet
