#include "harness/run/failure/history/first_sign.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using K = RecordKind;

RecordEvent Lost(int64_t t_ns, int rank, RecordReason reason) {
  return {
      .kind = K::kWorkerLost, .t_ns = t_ns, .about = rank, .reason = reason};
}

// A process that has started with its number as its rank.
IncarnationEvents Worker(int worker, const RecordEvent& lost) {
  return {.worker = worker,
          .number = 1,
          .events = {{.kind = K::kWorkerStarted, .t_ns = 1, .count = worker},
                     lost,
                     {.kind = K::kWorkerExited, .t_ns = 9, .count = 75}}};
}

// In a ring of three, worker 2 waits for worker 1, which waits for worker 0.
TEST(FirstSignTest, NamesTheWorkerForWhichTheOthersWaited) {
  Record record;
  record.incarnations = {Worker(0, Lost(6, 2, RecordReason::kClosed)),
                         Worker(1, Lost(7, 0, RecordReason::kDeadline)),
                         Worker(2, Lost(5, 1, RecordReason::kDeadline))};
  const FirstSign sign = FindFirstSign(record, 2, 6);
  EXPECT_EQ(
      sign.text,
      "worker 1 lost rank 0 (deadline), while worker 2 waited for worker 1");
  EXPECT_EQ(sign.worker, 0);
  EXPECT_EQ(sign.emitter, 1);
}

// The losses come in another order than the waits.
TEST(FirstSignTest, NamesEachWaitOfAChain) {
  Record record;
  record.incarnations = {Worker(0, Lost(7, 3, RecordReason::kClosed)),
                         Worker(1, Lost(6, 0, RecordReason::kDeadline)),
                         Worker(2, Lost(8, 1, RecordReason::kDeadline)),
                         Worker(3, Lost(5, 2, RecordReason::kDeadline))};
  EXPECT_EQ(FindFirstSign(record, 2, 5).text,
            "worker 1 lost rank 0 (deadline), while worker 3 waited for worker "
            "2 and worker 2 waited for worker 1");
}

TEST(FirstSignTest, CountsTheWaitsOfALongChain) {
  Record record;
  for (int worker = 1; worker < 6; ++worker) {
    record.incarnations.push_back(
        Worker(worker, Lost(8 - worker, worker - 1, RecordReason::kDeadline)));
  }
  EXPECT_EQ(FindFirstSign(record, 2, 3).text,
            "worker 1 lost rank 0 (deadline), while 4 workers waited for each "
            "other in a chain");
}

// Worker 1 lost worker 0 for another reason than a deadline.
TEST(FirstSignTest, IsTheFirstLoss_WithoutAChainOfDeadlines) {
  Record record;
  record.incarnations = {Worker(0, Lost(6, 2, RecordReason::kClosed)),
                         Worker(1, Lost(7, 0, RecordReason::kClosed)),
                         Worker(2, Lost(5, 1, RecordReason::kDeadline))};
  EXPECT_EQ(FindFirstSign(record, 2, 6).text,
            "worker 2 lost rank 1 (deadline)");
}

TEST(FirstSignTest, IsTheFirstLoss_IfWorkersWaitInACircle) {
  Record record;
  record.incarnations = {Worker(0, Lost(6, 1, RecordReason::kDeadline)),
                         Worker(1, Lost(5, 0, RecordReason::kDeadline))};
  EXPECT_EQ(FindFirstSign(record, 2, 6).text,
            "worker 1 lost rank 0 (deadline)");
}

}  // namespace
}  // namespace gauntlet
