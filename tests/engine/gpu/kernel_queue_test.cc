#include "engine/gpu/kernel_queue.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace gauntlet::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Number {
  static constexpr unsigned kThreads = 32;
  int value = 0;
};

// Returns a launch of kernel `name` (below 8) with a value.
KernelLaunch Of(size_t name, int value, size_t blocks = 1) {
  static const char kNames[8] = {};
  return KernelLaunch::Of(kNames + name, Number{value}, {.x = blocks}, 0);
}

int ValueOf(const KernelLaunch& launch) {
  Number number;
  std::memcpy(&number, launch.values, sizeof number);
  return number.value;
}

// Records the calls of the queue, and the values of launches that ran, in
// order.
class Recorder {
 public:
  struct Graph {
    std::vector<int> values;
  };

  void Launch(const KernelLaunch& launch) {
    ran.push_back(ValueOf(launch));
    calls.push_back("launch");
  }
  Graph* Build(const KernelLaunch* launches, size_t count) {
    calls.push_back("build");
    if (!builds) return nullptr;
    auto graph = std::make_unique<Graph>();
    for (size_t i = 0; i < count; ++i) {
      graph->values.push_back(ValueOf(launches[i]));
    }
    ++alive;
    return graph.release();
  }
  bool Change(Graph* graph, size_t index, const KernelLaunch& launch) {
    calls.push_back(fmt::format("change {}", index));
    graph->values[index] = ValueOf(launch);
    return changes;
  }
  void LaunchGraph(Graph* graph) {
    calls.push_back("graph");
    ran.insert(ran.end(), graph->values.begin(), graph->values.end());
  }
  void Destroy(Graph* graph) {
    --alive;
    delete graph;
  }

  // Returns the calls since the last call of this function.
  std::vector<std::string> TakeCalls() { return std::exchange(calls, {}); }
  std::vector<int> TakeRan() { return std::exchange(ran, {}); }

  std::vector<std::string> calls;
  std::vector<int> ran;
  bool builds = true;
  bool changes = true;
  int alive = 0;
};

class KernelQueueTest : public ::testing::Test {
 protected:
  void Run(const std::vector<KernelLaunch>& launches) {
    for (const KernelLaunch& launch : launches) queue_.Add(launch);
    queue_.Flush();
  }

  Recorder recorder_;
  KernelQueue<Recorder> queue_{recorder_};
};

TEST_F(KernelQueueTest, NothingIsLaunchedBeforeSomebodyAsks) {
  queue_.Add(Of(0, 1));
  EXPECT_THAT(recorder_.TakeCalls(), IsEmpty());
  queue_.Flush();
  EXPECT_THAT(recorder_.TakeRan(), ElementsAre(1));
  queue_.Flush();
  EXPECT_THAT(recorder_.TakeRan(), IsEmpty());
}

TEST_F(KernelQueueTest, RepeatedSequenceIsAGraphWithChangedArguments) {
  Run({Of(0, 1), Of(1, 2), Of(0, 3), Of(2, 4)});
  EXPECT_EQ(recorder_.TakeCalls(), std::vector<std::string>(4, "launch"));
  Run({Of(0, 1), Of(1, 20), Of(0, 3), Of(2, 4)});
  EXPECT_THAT(recorder_.TakeCalls(), ElementsAre("build", "graph"));
  Run({Of(0, 1), Of(1, 21), Of(0, 4), Of(2, 4)});
  EXPECT_THAT(recorder_.TakeCalls(),
              ElementsAre("change 1", "change 2", "graph"));
  Run({Of(0, 1), Of(1, 21), Of(0, 4), Of(2, 4)});
  EXPECT_THAT(recorder_.TakeCalls(), ElementsAre("graph"));
  EXPECT_THAT(recorder_.TakeRan(),
              ElementsAre(1, 2, 3, 4, 1, 20, 3, 4, 1, 21, 4, 4, 1, 21, 4, 4));
}

TEST_F(KernelQueueTest, RowOfOtherKernelsOrBlocksIsAnotherRow) {
  const std::vector<KernelLaunch> row = {Of(0, 1), Of(1, 2), Of(2, 3),
                                         Of(3, 4)};
  Run(row);
  Run(row);
  recorder_.TakeCalls();
  std::vector<KernelLaunch> other = row;
  other[1] = Of(4, 2);
  Run(other);
  other[1] = Of(1, 2, /*blocks=*/7);
  Run(other);
  other = row;
  other.push_back(Of(3, 4));
  Run(other);
  EXPECT_EQ(recorder_.TakeCalls(), std::vector<std::string>(13, "launch"));
  Run(row);
  EXPECT_THAT(recorder_.TakeCalls(), ElementsAre("graph"));
}

TEST_F(KernelQueueTest, ShortSequenceIsNoGraph) {
  for (int i = 0; i < 4; ++i) Run({Of(0, i), Of(1, i), Of(2, i)});
  EXPECT_EQ(recorder_.TakeCalls(), std::vector<std::string>(12, "launch"));
}

TEST_F(KernelQueueTest, NoGraphIfDisabled) {
  for (int i = 0; i < 4; ++i) {
    for (size_t name = 0; name < 5; ++name) queue_.Add(Of(name, i));
    queue_.FlushOneByOne();
  }
  EXPECT_EQ(recorder_.TakeCalls(), std::vector<std::string>(20, "launch"));
}

TEST_F(KernelQueueTest, LongRowIsCutAndKeepsItsOrder) {
  std::vector<int> expected;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 150; ++i) {
      queue_.Add(Of(static_cast<size_t>(i % 8), i + round));
      expected.push_back(i + round);
    }
    queue_.Flush();
  }
  EXPECT_EQ(recorder_.TakeRan(), expected);
}

std::vector<KernelLaunch> FourOf(int value, size_t blocks = 1) {
  return {Of(0, value, blocks), Of(1, value, blocks), Of(2, value, blocks),
          Of(3, value, blocks)};
}

TEST_F(KernelQueueTest, WithoutGraphsItLaunchesOneByOneAndAsksOnce) {
  recorder_.builds = false;
  for (int i = 0; i < 3; ++i) Run(FourOf(i));
  EXPECT_THAT(recorder_.TakeRan(),
              ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2));
  EXPECT_EQ(std::ranges::count(recorder_.calls, "build"), 1);
}

TEST_F(KernelQueueTest, LaunchesSingly_IfAGraphRefusesNewValues) {
  recorder_.changes = false;
  for (int i = 0; i < 4; ++i) Run(FourOf(i));
  EXPECT_THAT(recorder_.TakeRan(),
              ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
  EXPECT_EQ(recorder_.alive, 0);
}

// Runs far more sequences than are cached, each twice in a row, and one other
// sequence after each of them.
TEST_F(KernelQueueTest, ForgetsTheLeastRecentlyUsedRow) {
  constexpr size_t kOthers = 200;
  for (size_t other = 0; other < kOthers; ++other) {
    for (int round = 0; round < 2; ++round) Run(FourOf(1, 2 + other));
    Run(FourOf(1));
  }
  EXPECT_EQ(std::ranges::count(recorder_.calls, "build"), kOthers + 1);
  EXPECT_EQ(recorder_.alive, 64);
}

TEST(KernelQueueEndTest, LetsGoOfItsGraphs) {
  Recorder recorder;
  {
    KernelQueue<Recorder> queue(recorder);
    for (int i = 0; i < 2; ++i) {
      for (const KernelLaunch& launch : FourOf(1)) queue.Add(launch);
      queue.Flush();
    }
    EXPECT_EQ(recorder.alive, 1);
    queue.Add(Of(0, 7));
    queue.Drop();
  }
  EXPECT_EQ(recorder.alive, 0);
  EXPECT_EQ(recorder.ran, std::vector<int>(8, 1));
}

}  // namespace
}  // namespace gauntlet::gpu
