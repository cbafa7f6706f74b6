// Jobs whose workers rejoin, but of which no worker kept the state in memory.
#include "harness/run/failure/history/last_holder.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

// Returns a run of two workers. Fault c ends worker 1 at 10 ns, and fault d
// ends worker 0 at `second_crash_ns`. Two new workers start at 20 ns.
Record RunWithTwoCrashes(int64_t second_crash_ns) {
  using K = RecordKind;
  Record record;
  record.setup.rejoins = true;
  record.faults = {{.id = "c", .kind = "crash"}, {.id = "d", .kind = "crash"}};
  record.incarnations = {
      {.worker = 0,
       .number = 1,
       .events = {{.kind = K::kInitialized, .t_ns = 1, .generation = 1},
                  {.kind = K::kFaultFired,
                   .t_ns = second_crash_ns,
                   .generation = 1,
                   .detail = "d"}}},
      {.worker = 1,
       .number = 1,
       .events = {{.kind = K::kInitialized, .t_ns = 1, .generation = 1},
                  {.kind = K::kFaultFired,
                   .t_ns = 10,
                   .generation = 1,
                   .detail = "c"}}},
      {.worker = 0,
       .number = 2,
       .events = {{.kind = K::kResumed, .t_ns = 20, .generation = 2}}},
      {.worker = 1,
       .number = 2,
       .events = {{.kind = K::kResumed, .t_ns = 20, .generation = 2}}}};
  return record;
}

TEST(LastHolderTest, SecondCrashEndsTheLastWorkerWithTheState) {
  const Record record = RunWithTwoCrashes(12);
  const Outline outline(record);
  ASSERT_EQ(outline.generations.size(), 2);
  const auto end = FindEndOfLastHolder(outline, outline.generations[1]);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->fault->id, "d");
  EXPECT_EQ(end->worker, 0);
}

TEST(LastHolderTest, CrashAfterTheNextStartEndsNoHolder) {
  const Record record = RunWithTwoCrashes(30);
  const Outline outline(record);
  ASSERT_EQ(outline.generations.size(), 2);
  EXPECT_TRUE(HasNoSurvivor(outline, outline.generations[1]));
  EXPECT_FALSE(
      FindEndOfLastHolder(outline, outline.generations[1]).has_value());
}

}  // namespace
}  // namespace gauntlet
