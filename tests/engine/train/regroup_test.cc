#include "engine/train/regroup.h"

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
constexpr Regroup::Graces kGraces = {.step = kGrace, .silent = kSilentGrace};
const Time kStart = Time(milliseconds(1000));

// Three workers, of which generation 4 has formed.
Regroup Formed() {
  Regroup regroup(kGraces);
  regroup.Begin({0, 1, 2});
  for (int worker = 0; worker < 3; ++worker)
    regroup.Meets(worker, 0, std::nullopt, kStart);
  regroup.Formed(4, kStart);
  return regroup;
}

TEST(RegroupTest, AFormedGenerationIsNoMatter) {
  const Regroup regroup = Formed();
  EXPECT_FALSE(regroup.is_open());
  EXPECT_FALSE(regroup.is_news());
}

TEST(RegroupTest, ADeathIsCompleteOnceTheOthersMeet) {
  Regroup regroup = Formed();
  regroup.Died(1, kStart);
  EXPECT_TRUE(regroup.is_news());
  regroup.Meets(0, 4, std::nullopt, kStart);
  EXPECT_FALSE(regroup.IsComplete());
  regroup.Meets(2, 4, std::nullopt, kStart);
  EXPECT_TRUE(regroup.IsComplete());
  EXPECT_THAT(regroup.dead(), ElementsAre(1));
}

TEST(RegroupTest, WhoIsNotHeardOfAfterTheGraceIsOverdue) {
  Regroup regroup = Formed();
  regroup.Meets(0, 4, std::nullopt, kStart);
  EXPECT_THAT(regroup.Overdue(kStart + kGrace - milliseconds(1)), IsEmpty());
  EXPECT_THAT(regroup.Overdue(kStart + kGrace), ElementsAre(1, 2));
}

TEST(RegroupTest, BeforeTheFirstGenerationNobodyIsOverdue) {
  Regroup regroup(kGraces);
  regroup.Begin({0, 1, 2});
  regroup.Died(1, kStart);
  EXPECT_THAT(regroup.Overdue(kStart + 10 * kGrace), IsEmpty());
  regroup.Meets(0, 0, std::nullopt, kStart);
  regroup.Meets(2, 0, std::nullopt, kStart);
  EXPECT_TRUE(regroup.IsComplete());
}

TEST(RegroupTest, WordOfAGenerationBeforeTheLastIsOldNews) {
  Regroup regroup = Formed();
  regroup.Meets(2, 3, std::nullopt, kStart);
  EXPECT_FALSE(regroup.is_open());
}

TEST(RegroupTest, DeathsBeforeTheRestartAreOneLossAndThoseAfterItAnother) {
  Regroup regroup = Formed();
  regroup.Died(1, kStart);
  regroup.Died(2, kStart + milliseconds(5));
  EXPECT_EQ(regroup.opened_at(), kStart);
  regroup.TakeNote();
  regroup.Started(1);
  regroup.Started(2);
  regroup.Died(2, kStart + milliseconds(90));
  EXPECT_TRUE(regroup.is_news());
  EXPECT_EQ(regroup.opened_at(), kStart + milliseconds(90));
}

TEST(RegroupTest, WhoHasJustBeenStartedIsNotOverdue) {
  Regroup regroup = Formed();
  regroup.Died(1, kStart);
  regroup.Meets(0, 4, std::nullopt, kStart);
  regroup.Meets(2, 4, std::nullopt, kStart);
  regroup.TakeNote();
  regroup.Started(1);
  regroup.Died(2, kStart);
  EXPECT_THAT(regroup.Overdue(kStart + kGrace), IsEmpty());
  EXPECT_TRUE(regroup.IsComplete());
}

TEST(RegroupTest, ADeathThatTheGenerationDidNotWaitForIsTheNextMatter) {
  Regroup regroup = Formed();
  regroup.Meets(0, 4, std::nullopt, kStart);
  regroup.TakeNote();
  regroup.Died(1, kStart + milliseconds(1));
  regroup.TakeNote();
  regroup.Formed(5, kStart + milliseconds(2));
  EXPECT_TRUE(regroup.is_open());
  EXPECT_TRUE(regroup.is_news());
  EXPECT_FALSE(regroup.IsComplete()) << "the others have yet to notice";
}

// Signs of two workers have no order between them.
TEST(RegroupTest, WhoLeftAGenerationBeforeItIsHeardToHaveFormedMeetsStill) {
  Regroup regroup = Formed();
  regroup.Meets(0, 4, std::nullopt, kStart);
  EXPECT_TRUE(regroup.TakeNote());
  regroup.Meets(2, 5, std::nullopt, kStart + milliseconds(1));
  regroup.Formed(5, kStart + milliseconds(2));
  EXPECT_TRUE(regroup.is_news());
  EXPECT_EQ(regroup.opened_at(), kStart + milliseconds(2));
  regroup.Meets(0, 5, std::nullopt, kStart + milliseconds(3));
  EXPECT_THAT(regroup.Overdue(kStart + 2 * kGrace), ElementsAre(1));
  regroup.Died(1, kStart + 2 * kGrace);
  EXPECT_TRUE(regroup.IsComplete());
  EXPECT_TRUE(regroup.TakeNote()) << "another loss than the one before";
}

TEST(RegroupTest, OldWordsCountForNothingWhileTheNextMatterIsOpen) {
  Regroup regroup = Formed();
  regroup.Meets(0, 4, std::nullopt, kStart);
  regroup.TakeNote();
  regroup.Meets(2, 5, 1, kStart + milliseconds(1));
  regroup.Formed(5, kStart + milliseconds(2));
  regroup.Meets(1, 4, std::nullopt, kStart + milliseconds(3));
  regroup.Formed(4, kStart + milliseconds(3));
  EXPECT_TRUE(regroup.is_open());
  regroup.Meets(0, 5, std::nullopt, kStart + milliseconds(4));
  EXPECT_FALSE(regroup.IsComplete()) << "worker 1 has not left it";
  // Worker 2 reported worker 1 as silent in this generation, and that counts.
  EXPECT_THAT(regroup.Overdue(kStart + milliseconds(2) + kSilentGrace),
              ElementsAre(1));
}

TEST(RegroupTest, ANewLifeMeetsThoughItLeftNoGeneration) {
  Regroup regroup = Formed();
  regroup.Died(1, kStart);
  regroup.TakeNote();
  regroup.Started(1);
  regroup.Meets(1, 0, std::nullopt, kStart + milliseconds(1));
  regroup.Meets(0, 4, std::nullopt, kStart + milliseconds(1));
  regroup.Meets(2, 4, std::nullopt, kStart + milliseconds(1));
  EXPECT_TRUE(regroup.IsComplete());
}

// Worker 1, which was started again, dies once more as the generation forms.
Regroup DiedAsTheGenerationForms() {
  Regroup regroup = Formed();
  regroup.Died(1, kStart);
  EXPECT_TRUE(regroup.TakeNote());
  regroup.Started(1);
  regroup.Died(1, kStart + milliseconds(1));
  EXPECT_TRUE(regroup.TakeNote());
  regroup.Formed(5, kStart + milliseconds(2));
  EXPECT_TRUE(regroup.is_news());
  return regroup;
}

TEST(RegroupTest, ADeathAsAGenerationFormsIsNotTakenNoteOfTwice) {
  Regroup regroup = DiedAsTheGenerationForms();
  regroup.Meets(0, 5, std::nullopt, kStart + milliseconds(3));
  regroup.Meets(2, 5, std::nullopt, kStart + milliseconds(3));
  EXPECT_TRUE(regroup.IsComplete());
  EXPECT_FALSE(regroup.TakeNote());
  EXPECT_FALSE(regroup.is_news());
  EXPECT_THAT(regroup.dead(), ElementsAre(1));
}

TEST(RegroupTest, AnotherDeathAfterItHasFormedIsTakenNoteOf) {
  Regroup regroup = DiedAsTheGenerationForms();
  regroup.Died(2, kStart + milliseconds(3));
  EXPECT_TRUE(regroup.TakeNote());
}

TEST(RegroupTest, TheNextLossAfterItHasFormedIsTakenNoteOf) {
  Regroup regroup = DiedAsTheGenerationForms();
  EXPECT_FALSE(regroup.TakeNote());
  regroup.Started(1);
  regroup.Formed(6, kStart + milliseconds(4));
  regroup.Died(1, kStart + milliseconds(5));
  EXPECT_TRUE(regroup.TakeNote());
}

TEST(RegroupTest, WhoIsInASaveIsNotOverdueBeforeItsBound) {
  Regroup regroup = Formed();
  regroup.Saves(1, kStart + 10 * kGrace);
  regroup.Saves(2, kStart + 10 * kGrace);
  regroup.Saved(1);
  regroup.Died(0, kStart);
  EXPECT_THAT(regroup.Overdue(kStart + kGrace), ElementsAre(1));
  EXPECT_THAT(regroup.Overdue(kStart + 10 * kGrace), ElementsAre(1, 2));
}

TEST(RegroupTest,
     WhoseHeartStoppedHasTheShorterGraceHoweverLongItsSaveMayTake) {
  Regroup regroup = Formed();
  regroup.Saves(1, kStart + 10 * kGrace);
  regroup.Meets(0, 4, std::nullopt, kStart);
  EXPECT_THAT(regroup.Overdue(kStart + kGrace), ElementsAre(2));
  const Time found = kStart + milliseconds(100);
  regroup.Meets(2, 4, 1, found);
  // Another one that finds the same puts nothing off.
  regroup.Meets(0, 4, 1, found + milliseconds(1));
  EXPECT_THAT(regroup.Overdue(found + kSilentGrace - milliseconds(1)),
              IsEmpty());
  EXPECT_THAT(regroup.Overdue(found + kSilentGrace), ElementsAre(1));
}

TEST(RegroupTest, WhoSaysAnythingIsNotSilent) {
  Regroup regroup = Formed();
  regroup.Meets(0, 4, 1, kStart);
  regroup.Saves(1, kStart + 10 * kGrace);
  regroup.Meets(2, 4, std::nullopt, kStart);
  EXPECT_THAT(regroup.Overdue(kStart + kGrace), IsEmpty());
  regroup.Meets(1, 4, std::nullopt, kStart + kGrace);
  // A later report does not make a worker silent that is meeting already.
  regroup.Meets(2, 4, 1, kStart + kGrace);
  EXPECT_TRUE(regroup.IsComplete());
  EXPECT_THAT(regroup.Overdue(kStart + 2 * kGrace), IsEmpty());
}

TEST(RegroupTest, SilenceIsOfOneMatter) {
  Regroup regroup = Formed();
  // A report of an earlier generation is dropped as a whole.
  regroup.Meets(0, 3, 1, kStart);
  regroup.Died(2, kStart + milliseconds(10));
  EXPECT_THAT(regroup.Overdue(kStart + milliseconds(10) + kSilentGrace),
              IsEmpty());
  regroup.Meets(0, 4, 1, kStart + milliseconds(20));
  regroup.Started(2);
  regroup.Formed(5, kStart + milliseconds(30));
  regroup.Died(0, kStart + milliseconds(50));
  EXPECT_THAT(regroup.Overdue(kStart + milliseconds(50) + kSilentGrace),
              IsEmpty());
}

}  // namespace
}  // namespace gauntlet
