#include "harness/bench/checkpoint_bench.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

class InterruptedImmediately final : public BenchObserver {
 public:
  void OnTrialBegun(uint64_t, uint64_t, const std::string&) override {}
  bool Interrupted() override { return true; }
};

TEST(CheckpointBenchTest, IsCancelled_WhenInterruptedBeforeTheFirstTrialEnds) {
  const ScratchDirectory scratch;
  const fs::path program = scratch / "trains-forever";
  ASSERT_TRUE(WriteTextFile(program, "#!/bin/sh\nexec sleep 1000\n").ok());
  fs::permissions(program, fs::perms::owner_all);
  const CheckpointBenchPlan plan = {.program = program,
                                    .directory = scratch.path(),
                                    .modes = {SaveMode::kSync},
                                    .state_bytes = {1'000'000},
                                    .every = {1},
                                    .workers = {1}};
  InterruptedImmediately observer;
  const Result<CheckpointResult> result = RunCheckpointBench(plan, observer);
  EXPECT_EQ(result.status().code(), Code::kCancelled);
  EXPECT_THAT(result.status().message(), testing::HasSubstr("no figures"));
}

}  // namespace
}  // namespace gauntlet
