// What is owed after a run that finished unseen and deleted its store.
#include <algorithm>

#include <gtest/gtest.h>

#include "harness/oracle/evidence.h"
#include "tests/harness/oracle/record_builder.h"

namespace gauntlet {
namespace {

using K = RecordKind;

uint64_t Breaches(const Record& record, std::string_view invariant) {
  return ReportOf(record, invariant).breaches;
}

// It finds the store of a run that had finished, and has nothing to go on from.
Record RefusedAfterTheDeletion() {
  Record record = RunThatFinishedUnseen();
  for (const int worker : {0, 1}) {
    LifeOf(record, worker, 2).events = {
        {.kind = K::kLifeBegin},
        {.kind = K::kLifeEnd, .count = 7},
    };
  }
  record.launchers.back() = {.exit_code = 7, .restarts = 1, .result = {}};
  return record;
}

TEST(DeletedStoreTest, ANumberThatIsGivenOutAgainIsAnotherGeneration) {
  const Record record = RunThatFinishedUnseen();
  const Evidence evidence(record);
  ASSERT_EQ(evidence.generations.size(), 2u);
  const auto& [first, second] =
      std::pair{evidence.generations.begin()->first,
                std::next(evidence.generations.begin())->first};
  EXPECT_EQ(first, (GenerationId{.store = 0, .number = 1}));
  EXPECT_EQ(second, (GenerationId{.store = 1, .number = 1}));
  EXPECT_EQ(evidence.GoodSavesBefore({.store = 1, .number = 2}).size(), 1u)
      << "the second's newest, which goes last";
  EXPECT_TRUE(evidence.GoodSavesBefore(evidence.End()).empty());
}

// Its chief claimed before the deletion: it belongs to what is gone.
TEST(DeletedStoreTest, WhoJoinsAfterTheDeletionIsOfTheClaimsStore) {
  Record record = RunThatFinishedUnseen();
  const int64_t deleted = EventOf(record, 0, 1, K::kBackupDeleted, 0).t_ns;
  LifeEvents late = {.worker = 1, .life = 3, .events = {}};
  late.events = {{.kind = K::kLifeBegin, .t_ns = deleted + 1, .generation = 1}};
  record.lives.push_back(late);
  const Evidence evidence(record);
  EXPECT_EQ(evidence.IdOf(record.lives.back(), 1).store, 0u);
}

TEST(DeletedStoreTest, ADeletionByARunThatHadNotFinishedDeletesNoStore) {
  Record record = RunThatFinishedUnseen();
  EventOf(record, 0, 1, K::kFinished, 0).kind = K::kNotice;
  const Evidence evidence(record);
  EXPECT_EQ(evidence.generations.size(), 1u);
  EXPECT_GT(Breaches(record, "checkpoints-deleted"), 0u);
}

TEST(DeletedStoreTest, WhatOneWorkerHadNotFinishedIsDeletedTooEarly) {
  Record record = RunThatFinishedUnseen();
  ASSERT_EQ(Breaches(record, "checkpoints-deleted"), 0u);
  RecordEvent& finished = EventOf(record, 1, 1, K::kFinished, 0);
  finished.t_ns = EventOf(record, 0, 1, K::kBackupDeleted, 0).t_ns + 1;
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u);
  finished.kind = K::kNotice;
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u);
}

// The claims go first: it is given the number while the rest is deleted.
TEST(DeletedStoreTest, ALateSurvivorsClaimOfItsNumberMakesNoDeletionTooEarly) {
  Record record = RunThatFinishedUnseen();
  const int64_t deleted = EventOf(record, 0, 2, K::kBackupDeleted, 0).t_ns;
  LifeEvents late = {.worker = 1, .life = 1, .events = {}};
  late.events = {
      {.kind = K::kGeneration, .t_ns = deleted - 1, .generation = 1}};
  std::erase_if(record.lives, [](const LifeEvents& life) {
    return life.worker == 1 && life.life == 1;
  });
  record.lives.push_back(late);
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 0u);
  record.lives.back().worker = 2;
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u) << "one of its own";
}

// It finishes when another has the store, and deletes it all the same.
TEST(DeletedStoreTest, WhatALaterGenerationHadClaimedIsNotDeleted) {
  Record record = RunThatFinishedUnseen();
  std::erase_if(record.lives,
                [](const LifeEvents& life) { return life.life == 2; });
  const int64_t finished = EventOf(record, 0, 1, K::kFinished, 0).t_ns;
  LifeEvents later = {.worker = 0, .life = 2, .events = {}};
  later.events = {
      {.kind = K::kLifeBegin, .t_ns = finished - 2},
      {.kind = K::kGeneration, .t_ns = finished - 1, .generation = 2}};
  record.lives.push_back(later);
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u);
  EXPECT_EQ(Evidence(record).End().store, 0u);
  record.lives.back().events.back().t_ns = finished + 1;
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 0u) << "it came too late";
  EXPECT_EQ(Evidence(record).End().store, 1u);
}

TEST(DeletedStoreTest, TheDeletionIsLawfulThoughTheJobIsNotDone) {
  Record record = RefusedAfterTheDeletion();
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 0u);
  record.setup.delete_at_success = false;
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u);
}

TEST(DeletedStoreTest, ARefusalNeedNotShowWhatWasDeleted) {
  Record record = RefusedAfterTheDeletion();
  EXPECT_EQ(Breaches(record, "clean-refusal"), 0u);
  EventOf(record, 0, 1, K::kBackupDeleted, 0).kind = K::kNotice;
  EXPECT_GT(Breaches(record, "clean-refusal"), 0u);
}

// The chief died out of sight, with the newest still there or not.
TEST(DeletedStoreTest, ARefusalIsDueToADeletionThatWasCutShort) {
  Record record = RefusedAfterTheDeletion();
  std::vector<RecordEvent>& chief = LifeOf(record, 0, 1).events;
  std::erase_if(chief, [](const RecordEvent& event) {
    return event.kind == K::kBackupDeleted || event.kind == K::kLifeEnd;
  });
  EXPECT_EQ(Breaches(record, "clean-refusal"), 0u);
  EXPECT_EQ(Breaches(record, "store"), 0u);
  chief.push_back({.kind = K::kLifeEnd, .count = 75});
  EXPECT_GT(Breaches(record, "clean-refusal"), 0u) << "it left for the others";
  record.faults[0].kind = "errno";
  EXPECT_EQ(Breaches(record, "clean-refusal"), 0u) << "the disk said no";
  chief.back().count = 0;
  EXPECT_GT(Breaches(record, "clean-refusal"), 0u) << "it ended in order";
}

TEST(DeletedStoreTest, WhoResumedBehindADeletionHadFoundTheNewest) {
  Record record = RefusedAfterTheDeletion();
  std::erase_if(LifeOf(record, 0, 1).events, [](const RecordEvent& event) {
    return event.kind == K::kBackupDeleted || event.kind == K::kLifeEnd;
  });
  ASSERT_EQ(Breaches(record, "clean-refusal"), 0u);
  const int64_t died = LifeOf(record, 0, 1).events.back().t_ns;
  for (LifeEvents& life : record.lives) {
    if (life.life == 2) life.life = 3;
  }
  LifeEvents between = {.worker = 0, .life = 2, .events = {}};
  between.events = {{.kind = K::kLifeBegin, .t_ns = died + 1},
                    {.kind = K::kGeneration,
                     .t_ns = died + 2,
                     .generation = 2,
                     .path = "/s/step-000000008-g2"}};
  record.lives.push_back(between);
  EXPECT_GT(Breaches(record, "clean-refusal"), 0u);
}

TEST(DeletedStoreTest, NothingOfBeforeIsOwedToTheNext) {
  Record record = RunThatFinishedUnseen();
  for (const char* invariant :
       {"no-cold-start", "resume-point", "bounded-loss", "store", "samples"}) {
    EXPECT_EQ(Breaches(record, invariant), 0u) << invariant;
  }
  EventOf(record, 0, 1, K::kBackupDeleted, 0).kind = K::kNotice;
  record.setup.delete_at_success = false;
  for (RecordEvent& event : LifeOf(record, 0, 2).events) event.generation = 2;
  for (RecordEvent& event : LifeOf(record, 1, 2).events) event.generation = 2;
  EXPECT_EQ(Breaches(record, "no-cold-start"), 1u);
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
}

// The power goes when the last checkpoint is gone, before that is said; numbers
// still rise by what is half deleted.
TEST(DeletedStoreTest, ADeletionThatWasCutShortMayHaveLeftNothing) {
  Record record = RunThatFinishedUnseen();
  std::erase_if(LifeOf(record, 0, 1).events, [](const RecordEvent& event) {
    return event.kind == K::kBackupDeleted || event.kind == K::kLifeEnd;
  });
  for (LifeEvents& life : record.lives) {
    if (life.life != 2) continue;
    for (RecordEvent& event : life.events) {
      if (event.generation != 0) event.generation = 2;
    }
  }
  const auto owed_of_first = [&] {
    const Evidence evidence(record);
    const auto owed = evidence.GoodSavesBefore({.store = 0, .number = 3});
    return std::ranges::count_if(
        owed, [](const Acknowledged& save) { return save.moment.step == 8; });
  };
  EXPECT_EQ(owed_of_first(), 1) << "the second's own";
  EventOf(record, 1, 1, K::kFinished, 0).kind = K::kNotice;
  EXPECT_EQ(owed_of_first(), 2)
      << "nothing is deleted before all have finished";
}

// The claims go before the newest checkpoint does: its number is given out
// again, and that is gone on from.
TEST(DeletedStoreTest, ADeletionThatDiedBehindTheClaimsIsOne) {
  Record record = RunThatFinishedUnseen();
  std::vector<RecordEvent>& chief = LifeOf(record, 0, 1).events;
  std::erase_if(chief, [](const RecordEvent& event) {
    return event.kind == K::kBackupDeleted || event.kind == K::kLifeEnd;
  });
  EXPECT_EQ(Evidence(record).generations.size(), 2u);
  EXPECT_EQ(Breaches(record, "samples"), 0u);
  chief.push_back({.kind = K::kLifeEnd, .t_ns = chief.back().t_ns + 1});
  EXPECT_EQ(Evidence(record).generations.size(), 1u) << "it did not die";
}

// It is not the one that finished that had come so far: a later one did no more
// than finish, and died as it deleted.
TEST(DeletedStoreTest, WhatAFinishedRunDeletedIsNoLossOfAnEarlierOne) {
  Record record = RunThatFinishedUnseen();
  constexpr int64_t kLater = 1'000'000'000;
  for (LifeEvents& life : record.lives) {
    if (life.life == 1) {
      std::erase_if(life.events, [](const RecordEvent& event) {
        return event.kind == K::kFinished || event.kind == K::kBackupDeleted ||
               event.kind == K::kLifeEnd;
      });
      continue;
    }
    life.life = 3;
    for (RecordEvent& event : life.events) {
      event.t_ns += kLater;
      if (event.generation != 0) event.generation = 3;
    }
  }
  int64_t now = LifeOf(record, 0, 1).events.back().t_ns;
  for (const int worker : {0, 1}) {
    LifeEvents life = {.worker = worker, .life = 2, .events = {}};
    const RecordKind first = worker == 0 ? K::kGeneration : K::kLifeBegin;
    for (const RecordKind kind : {first, K::kResumed, K::kFinished,
                                  K::kResultAcknowledged, K::kLifeEnd}) {
      life.events.push_back(
          {.kind = kind, .t_ns = now += 1000, .generation = 2, .step = 8});
    }
    record.lives.push_back(life);
  }
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u) << "it ended in order";
  LifeOf(record, 0, 2).events.pop_back();
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  record.setup.delete_at_success = false;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
}

// Its write after the successor's deletion may be a later owner's by its name.
TEST(DeletedStoreTest, WhatALateSurvivorSavesMeanwhileMayBeLeft) {
  Record record = RunThatFinishedUnseen();
  record.left.checkpoints = {
      {.name = "step-000000006-g1", .step = 6, .valid = true}};
  ASSERT_EQ(Breaches(record, "checkpoints-deleted"), 1u);
  const int64_t finished = EventOf(record, 0, 2, K::kFinished, 0).t_ns;
  std::vector<RecordEvent>& late = LifeOf(record, 1, 1).events;
  late.push_back({.kind = K::kSaveBegin, .t_ns = finished, .step = 6});
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u);
  late.push_back({.kind = K::kSaveFailed, .t_ns = finished + 1, .step = 6});
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 0u);
  late.insert(late.end() - 1, {.kind = K::kSaveAcknowledged,
                               .t_ns = finished,
                               .step = 6,
                               .path = "step-000000006-g1"});
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u) << "it had come out";
  late.erase(late.end() - 2);
  ASSERT_EQ(Breaches(record, "checkpoints-deleted"), 0u);
  record.left.checkpoints.push_back(
      {.name = "step-000000008-g1", .step = 8, .valid = true});
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u) << "that is its own";
  record.left.checkpoints.pop_back();
  EventOf(record, 0, 1, K::kBackupDeleted, 0).kind = K::kNotice;
  EventOf(record, 0, 2, K::kBackupDeleted, 0).kind = K::kNotice;
  EXPECT_EQ(Breaches(record, "checkpoints-deleted"), 1u)
      << "nothing was deleted";
}

}  // namespace
}  // namespace gauntlet
