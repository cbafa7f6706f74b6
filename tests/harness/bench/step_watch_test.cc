#include "harness/bench/step_watch.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

class StepWatchTest : public testing::Test {
 protected:
  StepWatchTest() { fs::create_directory(folder_); }
  ~StepWatchTest() override { fs::remove_all(folder_); }

  void Append(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::app) << text;
  }
  static std::string Step(int step) {
    return R"({"kind":"step","t_ns":1,"step":)" + std::to_string(step) + "}\n";
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      (std::string("step_watch_") +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  StepWatch watch_{folder_};
};

TEST_F(StepWatchTest, NoFileIsNoStep) { EXPECT_EQ(watch_.Look(), 0u); }

TEST_F(StepWatchTest, FollowsFileAsItGrows) {
  Append("worker-0-incarnation-1.jsonl", "{\"kind\":\"header\"}\n");
  EXPECT_EQ(watch_.Look(), 0u);
  Append("worker-0-incarnation-1.jsonl", Step(1) + Step(2));
  EXPECT_EQ(watch_.Look(), 2u);
  Append("worker-0-incarnation-1.jsonl",
         "{\"kind\":\"save_begin\",\"step\":9}\n");
  EXPECT_EQ(watch_.Look(), 2u);
}

TEST_F(StepWatchTest, WaitsForEndOfLine) {
  const std::string line = Step(5);
  Append("worker-0-incarnation-1.jsonl", Step(4) + line.substr(0, 20));
  EXPECT_EQ(watch_.Look(), 4u);
  Append("worker-0-incarnation-1.jsonl", line.substr(20));
  EXPECT_EQ(watch_.Look(), 5u);
}

TEST_F(StepWatchTest, TakesChiefOfNewestIncarnation) {
  Append("worker-0-incarnation-1.jsonl", Step(40));
  Append("worker-1-incarnation-1.jsonl", Step(41));
  EXPECT_EQ(watch_.Look(), 40u);
  Append("worker-0-incarnation-2.jsonl", "");
  EXPECT_EQ(watch_.Look(), 0u);
  Append("worker-0-incarnation-2.jsonl", Step(31));
  EXPECT_EQ(watch_.Look(), 31u);
}

// Worker 1 was restarted as incarnation 2.
TEST_F(StepWatchTest, FindsIncarnationAfterThatOfAnotherWorker) {
  Append("worker-0-incarnation-1.jsonl", Step(40));
  EXPECT_EQ(watch_.Look(), 40u);
  Append("worker-1-incarnation-2.jsonl", Step(42));
  EXPECT_EQ(watch_.Look(), 40u);
  Append("worker-0-incarnation-3.jsonl", Step(43));
  EXPECT_EQ(watch_.Look(), 43u);
}

}  // namespace
}  // namespace gauntlet
