#include "harness/cli/hooks/train_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/real_world.h"
#include "reports/trace/chrome_trace.h"
#include "tests/reports/trace/trace_rules.h"

namespace gauntlet {
namespace {

using testing::IsEmpty;

TEST(TrainTraceTest, WorkersOfAClusterHaveFilesOfTheirOwn) {
  EXPECT_EQ(TraceFileOfWorker("a/trace.json.gz", 1, 2),
            "a/trace-worker-1-incarnation-2.json.gz");
  EXPECT_EQ(TraceFileOfWorker("trace", 0, 1), "trace-worker-0-incarnation-1");
  EXPECT_EQ(TraceFileOfWorker(".t.gz", 0, 1), ".t-worker-0-incarnation-1.gz");
}

TEST(TrainTraceTest, FileOnFullDisk_IsAnError) {
  const TrainCommand train = {.trace_file = "/dev/full"};
  const auto trace = LocalTrace::Prepare(train);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ((*trace)->Write(train).message(),
            "--trace: /dev/full: cannot be written: No space left on device");
}

TEST(EventMemoryTest, KeepsTheFirstAndTheNewest) {
  RealWorld real;
  EventMemory memory(real.clock, 3);
  for (uint64_t step = 1; step <= 5; ++step) {
    memory.Emit({.kind = EventKind::kStep, .step = step});
  }
  const EventMemory::Kept kept = memory.Copy();
  EXPECT_EQ(kept.left_out, 2u);
  std::vector<uint64_t> steps;
  for (const RecordEvent& event : kept.events) steps.push_back(event.step);
  EXPECT_THAT(steps, testing::ElementsAre(1, 4, 5));
}

TEST(EventMemoryTest, ItsTraceKeepsTheRules) {
  RealWorld real;
  WorkerTrace trace(real.clock);
  trace.events().Emit({.kind = EventKind::kWorkerStarted});
  trace.events().Emit({.kind = EventKind::kInitialized});
  trace.events().Emit({.kind = EventKind::kStep, .step = 1});
  const EventMemory::Kept kept =
      static_cast<EventMemory&>(trace.events()).Copy();
  Record record;
  record.incarnations = {{.events = kept.events}};
  EXPECT_THAT(TraceViolations(RenderChromeTrace(record)), IsEmpty());
}

}  // namespace
}  // namespace gauntlet
