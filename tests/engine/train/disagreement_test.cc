// Workers whose states differ: the run stops and names the rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/link/chunk_format.h"
#include "engine/cluster/link/numbered_channel.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;

// The first rank to detect the disagreement reports it and leaves; the others
// may see only that it left. The launcher acts on the rank that failed.
void ExpectFailure(const AttemptResult& outcome, const std::string& reason) {
  EXPECT_THAT(outcome.exits, Contains(1));
  for (size_t rank = 0; rank < outcome.exits.size(); ++rank) {
    if (outcome.exits[rank] == 1) {
      EXPECT_THAT(outcome.reasons[rank], HasSubstr(reason));
    } else {
      EXPECT_EQ(outcome.exits[rank], 75) << outcome.reasons[rank];
    }
  }
  EXPECT_FALSE(outcome.result);
}

// A rank whose directory holds claims of its own could mistake the chief's
// claim for an old one.
TEST(DisagreementTest, NamesTheRankWithoutCheckpoints) {
  TrainingFixture fixture;
  fixture.Run(2, SmallRun());
  fixture.Run(2, SmallRun());
  for (const int without : {0, 1}) {
    const AttemptResult outcome = fixture.RunEach(2, [&](int rank) {
      TrainOptions options = SmallRun();
      if (rank == without) options.checkpoint.directory.clear();
      return options;
    });
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kBadInput)) << without;
    EXPECT_THAT(outcome.reasons, Each(HasSubstr("checkpoint.used: ")));
  }
}

// If one rank used arithmetic outside the contract, the result would be that of
// neither arithmetic.
TEST(DisagreementTest, SoIsAnotherArithmetic) {
  const AttemptResult outcome = TrainingFixture().RunEach(2, [](int rank) {
    TrainOptions options = SmallRun();
    options.kernels.math = rank == 0 ? Math::kCanonical : Math::kFast;
    return options;
  });
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(outcome.reasons, Each(HasSubstr("math: canonical at the chief, "
                                              "library at rank 1")));
}

// Rank 2 has another learning rate, so its job differs.
TEST(DisagreementTest, AnotherJobIsFoundBeforeTheFirstStep) {
  const AttemptResult outcome = TrainingFixture().RunEach(3, [](int rank) {
    TrainOptions options = SmallRun();
    if (rank == 2) options.job.optimizer.learning_rate = 0.5f;
    return options;
  });
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(
      outcome.reasons,
      Each(HasSubstr("rank 2 was told something else than the chief: "
                     "optimizer.learning_rate: 0.01 at the chief, 0.5 at rank "
                     "2")));
  EXPECT_TRUE(outcome.StepsOf(EventKind::kStep).empty());
}

TEST(DisagreementTest, SoIsAnotherHorizonOrAnotherTimeToSave) {
  const AttemptResult outcome = TrainingFixture().RunEach(2, [](int rank) {
    TrainOptions options = SmallRun();
    if (rank == 0) return options;
    options.horizon.epochs = 9;
    options.checkpoint.trigger.unit = SaveUnit::kEpochs;
    options.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
    return options;
  });
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(outcome.reasons,
              Each(HasSubstr(
                  "rank 1 was told something else than the chief: "
                  "checkpoint.on_success: keep at the chief, delete at rank "
                  "1; checkpoint.unit: steps at the chief, epochs at rank 1; "
                  "epochs: 4 at the chief, 9 at rank 1")));
}

TEST(DisagreementTest, AnotherModeOfSavingIsFoundBeforeTheFirstStep) {
  const AttemptResult outcome = TrainingFixture().RunEach(2, [](int rank) {
    TrainOptions options = SmallRun();
    if (rank == 1) options.checkpoint.mode = SaveMode::kAsync;
    return options;
  });
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(
      outcome.reasons,
      Each(HasSubstr("checkpoint.mode: sync at the chief, async at rank "
                     "1")));
}

TEST(DisagreementTest, DetectsAnUnsharedDirectoryBeforeTheFirstStep) {
  const AttemptResult outcome = TrainingFixture().RunEach(2, [](int rank) {
    TrainOptions options = SmallRun();
    if (rank == 1) options.checkpoint.directory = "/elsewhere";
    return options;
  });
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kBadInput));
  EXPECT_THAT(outcome.reasons,
              Each("rank 1: /elsewhere: expected the directory that all "
                   "workers share, found no gen-000001 in it, which the chief "
                   "has claimed"));
  EXPECT_TRUE(outcome.StepsOf(EventKind::kStep).empty());
}

TEST(DisagreementTest, AnotherStartingStateIsFoundBeforeTheFirstStep) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 8;
  fixture.Run(3, options);
  const AttemptResult outcome = fixture.RunEach(3, [&](int rank) {
    TrainOptions mine = options;
    if (rank == 1) mine.job.seed = 9;
    return mine;
  });
  EXPECT_THAT(outcome.reasons, Contains(HasSubstr("rank 1")));
  EXPECT_TRUE(outcome.StepsOf(EventKind::kStep).empty());
}

// Flips one bit of the totals that a rank receives in a step.
class FlippingChannel final : public Channel {
 public:
  FlippingChannel(std::unique_ptr<Channel> base, uint64_t step)
      : base_(std::move(base)), step_(step) {}

  Status Send(Frame frame, Time deadline) override {
    return base_->Send(std::move(frame), deadline);
  }
  Result<Frame> Receive(Time deadline) override {
    Result<Frame> frame = base_->Receive(deadline);
    if (!frame.ok()) return frame;
    const std::optional<uint64_t> number = TakeFrameNumber(*frame);
    const Result<ChunkHeader> header = DecodeChunk(*frame);
    if (header.ok() && header->kind == ChunkKind::kTotal &&
        header->step == step_) {
      (*frame)[kChunkHeaderBytes + 1] ^= 1;
    }
    if (number) AppendFrameNumber(*number, *frame);
    return frame;
  }
  void Close() override { base_->Close(); }
  const Nonce& nonce() const override { return base_->nonce(); }

 private:
  std::unique_ptr<Channel> base_;
  uint64_t step_;
};

class FlippingListener final : public Listener {
 public:
  FlippingListener(std::unique_ptr<Listener> base, uint64_t step)
      : base_(std::move(base)), step_(step) {}
  Result<Incoming> Accept(Time deadline) override {
    ASSIGN_OR_RETURN(Incoming incoming, base_->Accept(deadline));
    incoming.channel =
        std::make_unique<FlippingChannel>(std::move(incoming.channel), step_);
    return incoming;
  }

 private:
  std::unique_ptr<Listener> base_;
  uint64_t step_;
};

class FlippingNetwork final : public Network {
 public:
  FlippingNetwork(Network& base, uint64_t step) : base_(base), step_(step) {}
  using Network::Listen;
  Result<std::unique_ptr<Listener>> Listen(const std::string& address,
                                           ConnectionFilter filter) override {
    ASSIGN_OR_RETURN(auto listener, base_.Listen(address, std::move(filter)));
    return std::unique_ptr<Listener>(
        std::make_unique<FlippingListener>(std::move(listener), step_));
  }
  Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                           Time deadline) override {
    return base_.Connect(address, deadline);
  }

 private:
  Network& base_;
  uint64_t step_;
};

// The last rank computes the totals, and the rank before it receives them last:
// with four ranks, rank 2. A wrong value there is wrong on no other rank.
AttemptResult RunWithAFlippedBit(int workers, uint64_t step,
                                 const TrainOptions& options) {
  TrainingFixture fixture;
  fixture.PutBeforeTheNetwork(
      [=](int rank, Network& base) -> std::unique_ptr<Network> {
        if (rank != workers - 2) return nullptr;
        return std::make_unique<FlippingNetwork>(base, step);
      });
  return fixture.Run(workers, options);
}

TEST(DisagreementTest, StateThatDriftedIsFoundAtTheNextSave) {
  for (const SaveMode mode :
       {SaveMode::kSync, SaveMode::kAsync, SaveMode::kZeroCopy}) {
    TrainOptions options = SmallRun();
    options.checkpoint.mode = mode;
    const AttemptResult outcome = RunWithAFlippedBit(4, 12, options);
    ExpectFailure(
        outcome, "step 15: state digests differ between workers: 3 ranks have");
    ExpectFailure(outcome, "rank 2 has");
    EXPECT_EQ(outcome.StepsOf(EventKind::kSaveAcknowledged).back(), 10u);
  }
}

// Each of two digests has one rank, so neither is the more frequent one.
TEST(DisagreementTest, DriftedStateOfTwoRanksNamesBoth) {
  const AttemptResult outcome = RunWithAFlippedBit(2, 12, SmallRun());
  ExpectFailure(outcome,
                "step 15: state digests differ between workers: rank ");
  ExpectFailure(outcome, "rank 0 has");
  ExpectFailure(outcome, "rank 1 has");
}

TEST(DisagreementTest, StateThatDriftedIsFoundAtTheEndAtTheLatest) {
  TrainOptions options = SmallRun();
  options.checkpoint = {};
  const AttemptResult outcome = RunWithAFlippedBit(4, 12, options);
  ExpectFailure(outcome, "final state digests differ");
}

}  // namespace
}  // namespace gauntlet
