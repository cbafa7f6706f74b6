#include "engine/train/launcher/rejoin_tracker.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Duration kGrace = milliseconds(500);
constexpr Duration kSilentGrace = milliseconds(50);
constexpr RejoinTracker::Graces kGraces = {.step = kGrace,
                                           .silent = kSilentGrace};
const Time kStart = Time(milliseconds(1000));

// Returns a tracker of three workers whose generation 4 has formed.
RejoinTracker Formed() {
  RejoinTracker tracker(kGraces);
  tracker.Begin({0, 1, 2});
  for (int worker = 0; worker < 3; ++worker)
    tracker.OnRendezvous(worker, 0, std::nullopt, kStart);
  tracker.OnFormed(4, kStart);
  return tracker;
}

TEST(RejoinTrackerTest, FormedGenerationEndsTheRejoin) {
  const RejoinTracker tracker = Formed();
  EXPECT_FALSE(tracker.is_open());
  EXPECT_FALSE(tracker.has_new_losses());
}

TEST(RejoinTrackerTest, DeathIsCompleteOnceTheOthersArrive) {
  RejoinTracker tracker = Formed();
  tracker.OnDeath(1, kStart);
  EXPECT_TRUE(tracker.has_new_losses());
  tracker.OnRendezvous(0, 4, std::nullopt, kStart);
  EXPECT_FALSE(tracker.IsComplete());
  tracker.OnRendezvous(2, 4, std::nullopt, kStart);
  EXPECT_TRUE(tracker.IsComplete());
  EXPECT_THAT(tracker.dead(), ElementsAre(1));
}

TEST(RejoinTrackerTest, WorkerWithoutAMessageIsOverdueAfterTheGrace) {
  RejoinTracker tracker = Formed();
  tracker.OnRendezvous(0, 4, std::nullopt, kStart);
  EXPECT_THAT(tracker.OverdueWorkers(kStart + kGrace - milliseconds(1)),
              IsEmpty());
  EXPECT_THAT(tracker.OverdueWorkers(kStart + kGrace), ElementsAre(1, 2));
}

TEST(RejoinTrackerTest, BeforeTheFirstGenerationNobodyIsOverdue) {
  RejoinTracker tracker(kGraces);
  tracker.Begin({0, 1, 2});
  tracker.OnDeath(1, kStart);
  EXPECT_THAT(tracker.OverdueWorkers(kStart + 10 * kGrace), IsEmpty());
  tracker.OnRendezvous(0, 0, std::nullopt, kStart);
  tracker.OnRendezvous(2, 0, std::nullopt, kStart);
  EXPECT_TRUE(tracker.IsComplete());
}

TEST(RejoinTrackerTest, WordOfAGenerationBeforeTheLastIsOldNews) {
  RejoinTracker tracker = Formed();
  tracker.OnRendezvous(2, 3, std::nullopt, kStart);
  EXPECT_FALSE(tracker.is_open());
}

TEST(RejoinTrackerTest, DeathsBeforeTheRestart_AreOneLoss_LaterOnesAnother) {
  RejoinTracker tracker = Formed();
  tracker.OnDeath(1, kStart);
  tracker.OnDeath(2, kStart + milliseconds(5));
  EXPECT_EQ(tracker.opened_at(), kStart);
  tracker.ConsumeLosses();
  tracker.OnRestarted(1);
  tracker.OnRestarted(2);
  tracker.OnDeath(2, kStart + milliseconds(90));
  EXPECT_TRUE(tracker.has_new_losses());
  EXPECT_EQ(tracker.opened_at(), kStart + milliseconds(90));
}

TEST(RejoinTrackerTest, NewWorkerIsNotOverdue) {
  RejoinTracker tracker = Formed();
  tracker.OnDeath(1, kStart);
  tracker.OnRendezvous(0, 4, std::nullopt, kStart);
  tracker.OnRendezvous(2, 4, std::nullopt, kStart);
  tracker.ConsumeLosses();
  tracker.OnRestarted(1);
  tracker.OnDeath(2, kStart);
  EXPECT_THAT(tracker.OverdueWorkers(kStart + kGrace), IsEmpty());
  EXPECT_TRUE(tracker.IsComplete());
}

TEST(RejoinTrackerTest, DeathUnknownToTheGenerationOpensTheNextRejoin) {
  RejoinTracker tracker = Formed();
  tracker.OnRendezvous(0, 4, std::nullopt, kStart);
  tracker.ConsumeLosses();
  tracker.OnDeath(1, kStart + milliseconds(1));
  tracker.ConsumeLosses();
  tracker.OnFormed(5, kStart + milliseconds(2));
  EXPECT_TRUE(tracker.is_open());
  EXPECT_TRUE(tracker.has_new_losses());
  EXPECT_FALSE(tracker.IsComplete()) << "the others have yet to notice";
}

// Messages of two workers may arrive in any order.
TEST(RejoinTrackerTest, LeavingBeforeTheGenerationIsReported_CountsAsArrival) {
  RejoinTracker tracker = Formed();
  tracker.OnRendezvous(0, 4, std::nullopt, kStart);
  EXPECT_TRUE(tracker.ConsumeLosses());
  tracker.OnRendezvous(2, 5, std::nullopt, kStart + milliseconds(1));
  tracker.OnFormed(5, kStart + milliseconds(2));
  EXPECT_TRUE(tracker.has_new_losses());
  EXPECT_EQ(tracker.opened_at(), kStart + milliseconds(2));
  tracker.OnRendezvous(0, 5, std::nullopt, kStart + milliseconds(3));
  EXPECT_THAT(tracker.OverdueWorkers(kStart + 2 * kGrace), ElementsAre(1));
  tracker.OnDeath(1, kStart + 2 * kGrace);
  EXPECT_TRUE(tracker.IsComplete());
  EXPECT_TRUE(tracker.ConsumeLosses()) << "another loss than the one before";
}

TEST(RejoinTrackerTest, IgnoresReportsOfOldGenerationsDuringARejoin) {
  RejoinTracker tracker = Formed();
  tracker.OnRendezvous(0, 4, std::nullopt, kStart);
  tracker.ConsumeLosses();
  tracker.OnRendezvous(2, 5, 1, kStart + milliseconds(1));
  tracker.OnFormed(5, kStart + milliseconds(2));
  tracker.OnRendezvous(1, 4, std::nullopt, kStart + milliseconds(3));
  tracker.OnFormed(4, kStart + milliseconds(3));
  EXPECT_TRUE(tracker.is_open());
  tracker.OnRendezvous(0, 5, std::nullopt, kStart + milliseconds(4));
  EXPECT_FALSE(tracker.IsComplete()) << "worker 1 has not left it";
  // Worker 2 reported in this generation that worker 1 is silent, so that
  // report counts.
  EXPECT_THAT(tracker.OverdueWorkers(kStart + milliseconds(2) + kSilentGrace),
              ElementsAre(1));
}

TEST(RejoinTrackerTest, NewIncarnationArrives_ThoughItLeftNoGeneration) {
  RejoinTracker tracker = Formed();
  tracker.OnDeath(1, kStart);
  tracker.ConsumeLosses();
  tracker.OnRestarted(1);
  tracker.OnRendezvous(1, 0, std::nullopt, kStart + milliseconds(1));
  tracker.OnRendezvous(0, 4, std::nullopt, kStart + milliseconds(1));
  tracker.OnRendezvous(2, 4, std::nullopt, kStart + milliseconds(1));
  EXPECT_TRUE(tracker.IsComplete());
}

// Returns a tracker in which worker 1, after a restart, dies again while the
// generation forms.
RejoinTracker DiedAsTheGenerationForms() {
  RejoinTracker tracker = Formed();
  tracker.OnDeath(1, kStart);
  EXPECT_TRUE(tracker.ConsumeLosses());
  tracker.OnRestarted(1);
  tracker.OnDeath(1, kStart + milliseconds(1));
  EXPECT_TRUE(tracker.ConsumeLosses());
  tracker.OnFormed(5, kStart + milliseconds(2));
  EXPECT_TRUE(tracker.has_new_losses());
  return tracker;
}

TEST(RejoinTrackerTest, DeathAsAGenerationFormsIsNotTakenNoteOfTwice) {
  RejoinTracker tracker = DiedAsTheGenerationForms();
  tracker.OnRendezvous(0, 5, std::nullopt, kStart + milliseconds(3));
  tracker.OnRendezvous(2, 5, std::nullopt, kStart + milliseconds(3));
  EXPECT_TRUE(tracker.IsComplete());
  EXPECT_FALSE(tracker.ConsumeLosses());
  EXPECT_FALSE(tracker.has_new_losses());
  EXPECT_THAT(tracker.dead(), ElementsAre(1));
}

TEST(RejoinTrackerTest, AnotherDeathAfterItHasFormedIsTakenNoteOf) {
  RejoinTracker tracker = DiedAsTheGenerationForms();
  tracker.OnDeath(2, kStart + milliseconds(3));
  EXPECT_TRUE(tracker.ConsumeLosses());
}

TEST(RejoinTrackerTest, NextLossAfterItHasFormedIsTakenNoteOf) {
  RejoinTracker tracker = DiedAsTheGenerationForms();
  EXPECT_FALSE(tracker.ConsumeLosses());
  tracker.OnRestarted(1);
  tracker.OnFormed(6, kStart + milliseconds(4));
  tracker.OnDeath(1, kStart + milliseconds(5));
  EXPECT_TRUE(tracker.ConsumeLosses());
}

TEST(RejoinTrackerTest, WorkerInASaveIsNotOverdueBeforeTheBoundOfASave) {
  RejoinTracker tracker = Formed();
  tracker.OnSaveBegun(1, kStart + 10 * kGrace);
  tracker.OnSaveBegun(2, kStart + 10 * kGrace);
  tracker.OnSaveEnded(1, kStart);
  tracker.OnDeath(0, kStart);
  EXPECT_THAT(tracker.OverdueWorkers(kStart + kGrace), ElementsAre(1));
  EXPECT_THAT(tracker.OverdueWorkers(kStart + 10 * kGrace), ElementsAre(1, 2));
}

// The worker detects the loss only at the end of its save, and must then
// compute the digest of its state.
TEST(RejoinTrackerTest, WorkerHasTheGraceFromTheEndOfItsSave) {
  RejoinTracker tracker = Formed();
  tracker.OnSaveBegun(1, kStart + 10 * kGrace);
  tracker.OnDeath(0, kStart);
  tracker.OnRendezvous(2, 4, std::nullopt, kStart);
  const Time ended = kStart + 5 * kGrace;
  tracker.OnSaveEnded(1, ended);
  EXPECT_THAT(tracker.OverdueWorkers(ended + kGrace - milliseconds(1)),
              IsEmpty());
  EXPECT_THAT(tracker.OverdueWorkers(ended + kGrace), ElementsAre(1));
}

TEST(RejoinTrackerTest, WorkerWithoutHeartbeatsHasTheShorterGrace_EvenInASave) {
  RejoinTracker tracker = Formed();
  tracker.OnSaveBegun(1, kStart + 10 * kGrace);
  tracker.OnRendezvous(0, 4, std::nullopt, kStart);
  EXPECT_THAT(tracker.OverdueWorkers(kStart + kGrace), ElementsAre(2));
  const Time found = kStart + milliseconds(100);
  tracker.OnRendezvous(2, 4, 1, found);
  // A second worker's report of the same silence extends no deadline.
  tracker.OnRendezvous(0, 4, 1, found + milliseconds(1));
  EXPECT_THAT(tracker.OverdueWorkers(found + kSilentGrace - milliseconds(1)),
              IsEmpty());
  EXPECT_THAT(tracker.OverdueWorkers(found + kSilentGrace), ElementsAre(1));
}

TEST(RejoinTrackerTest, AnyMessage_EndsTheSilence) {
  RejoinTracker tracker = Formed();
  tracker.OnRendezvous(0, 4, 1, kStart);
  tracker.OnSaveBegun(1, kStart + 10 * kGrace);
  tracker.OnRendezvous(2, 4, std::nullopt, kStart);
  EXPECT_THAT(tracker.OverdueWorkers(kStart + kGrace), IsEmpty());
  tracker.OnRendezvous(1, 4, std::nullopt, kStart + kGrace);
  // A later report does not make a worker silent that has already arrived.
  tracker.OnRendezvous(2, 4, 1, kStart + kGrace);
  EXPECT_TRUE(tracker.IsComplete());
  EXPECT_THAT(tracker.OverdueWorkers(kStart + 2 * kGrace), IsEmpty());
}

TEST(RejoinTrackerTest, SilenceEndsWithItsRejoin) {
  RejoinTracker tracker = Formed();
  // A report of an earlier generation is dropped completely.
  tracker.OnRendezvous(0, 3, 1, kStart);
  tracker.OnDeath(2, kStart + milliseconds(10));
  EXPECT_THAT(tracker.OverdueWorkers(kStart + milliseconds(10) + kSilentGrace),
              IsEmpty());
  tracker.OnRendezvous(0, 4, 1, kStart + milliseconds(20));
  tracker.OnRestarted(2);
  tracker.OnFormed(5, kStart + milliseconds(30));
  tracker.OnDeath(0, kStart + milliseconds(50));
  EXPECT_THAT(tracker.OverdueWorkers(kStart + milliseconds(50) + kSilentGrace),
              IsEmpty());
}

}  // namespace
}  // namespace gauntlet
