// Outputs of `gauntlet train` that must not be nested in one another.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/app/train/output_places.h"
#include "engine/app/train/train_command.h"
#include "engine/cli/exit_code.h"
#include "engine/real/storage/posix_storage.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(TrainPlacesTest, OutputInTheStoreOrTheExport_IsRefusedByFlag) {
  using Set = void (*)(TrainCommand&, const std::string&);
  const std::pair<std::string, Set> kFlags[] = {
      {"--export",
       [](TrainCommand& train, const std::string& path) {
         train.options.export_directory = path;
       }},
      {"--tensorboard",
       [](TrainCommand& train, const std::string& path) {
         train.options.summary.directory = path;
       }},
      {"--events",
       [](TrainCommand& train, const std::string& path) {
         train.events_directory = path;
       }},
      {"--logs", [](TrainCommand& train,
                    const std::string& path) { train.logs_directory = path; }},
      {"--plan-state", [](TrainCommand& train, const std::string& path) {
         train.plan_state_directory = path;
       }}};
  MemoryStorage storage;
  for (const auto& [flag, set] : kFlags) {
    for (const std::string path :
         {"ckpt", "ckpt/", "./ckpt/x", "a/../ckpt/x/y"}) {
      TrainCommand train;
      train.options.checkpoint.directory = "ckpt";
      set(train, path);
      const Status refused = CheckPlaces(storage, train);
      EXPECT_EQ(refused.code(), Code::kInvalidArgument) << flag << path;
      EXPECT_THAT(refused.message(),
                  AllOf(HasSubstr(flag), HasSubstr("--ckpt")));
    }
    TrainCommand command;
    command.options.checkpoint.directory = "ckpt";
    set(command, "ckpt-2");
    EXPECT_TRUE(CheckPlaces(storage, command).ok()) << flag;
  }
}

TEST(TrainPlacesTest, StoreInTheExport_IsRefused) {
  MemoryStorage storage;
  TrainCommand train;
  train.options.checkpoint.directory = "model/ckpt";
  train.options.export_directory = "model";
  EXPECT_EQ(CheckPlaces(storage, train).code(), Code::kInvalidArgument);
}

TEST(TrainPlacesTest, RefusedExport_LeavesNoDirectory) {
  PosixStorage storage;
  const ScratchDirectory scratch;
  std::ofstream(scratch / "model") << "a file";
  TrainCommand train;
  train.options.checkpoint.directory = scratch / "ckpt";
  train.options.summary.directory = scratch / "curves";
  train.events_directory = scratch / "events";
  train.logs_directory = scratch / "logs";
  train.options.export_directory = scratch / "model";
  EXPECT_THAT(MakeOutputPlaces(storage, train).message(),
              HasSubstr("--export: "));
  const auto left = storage.List(scratch.path());
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->size(), 1u);
}

TEST(TrainPlacesTest, StoreAmongAUsersFiles_IsRefused) {
  PosixStorage storage;
  const auto check = [&storage](const std::vector<std::string>& names) {
    const ScratchDirectory scratch;
    for (const std::string& name : names) {
      std::ofstream(scratch / name) << name;
    }
    TrainCommand train;
    train.options.checkpoint.directory = scratch.path();
    return CheckPlaces(storage, train);
  };
  const Status refused = check({"train.log", "notes.txt"});
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("--ckpt: "), HasSubstr("found 'notes.txt'")));
  for (const char* of_store :
       {"checkpoint", "lock", "gen-000001", "step-000000005-g1",
        "step-000000005-g1.tmp", "job-token"}) {
    EXPECT_TRUE(check({"notes.txt", of_store}).ok()) << of_store;
  }
  EXPECT_TRUE(check({}).ok());
  EXPECT_TRUE(check({"lost+found", ".snapshot", "train.log"}).ok());
}

TEST(ExitForLookTest, CheckpointsOfAnotherJob_HaveTheirOwnCode) {
  EXPECT_EQ(ExitForInspect(OtherJob("")), ExitCode::kOtherJob);
  EXPECT_EQ(ExitForInspect(FailedPrecondition("")), ExitCode::kNoCheckpoint);
  EXPECT_EQ(ExitForInspect(NotFound("")), ExitCode::kUsage);
}

TEST(TrainPlacesTest, TraceThatCannotBeWritten_IsRefusedBeforeTraining) {
  PosixStorage storage;
  for (const char* file : {"/none/there/t.json", "/tmp", "/dev/null/t"}) {
    const Status refused = CheckPlaces(storage, {.trace_file = file});
    EXPECT_THAT(refused.message(), HasSubstr("--trace: ")) << file;
  }
}

TEST(TrainPlacesTest, TraceInTheCheckpointDirectory_IsRefused) {
  MemoryStorage storage;
  TrainCommand train;
  train.options.checkpoint.directory = "ckpt";
  train.trace_file = "./ckpt";
  EXPECT_THAT(CheckPlaces(storage, train).message(),
              AllOf(HasSubstr("--trace"), HasSubstr("--ckpt")));
}

}  // namespace
}  // namespace gauntlet
