// Files of TMPDIR are temporary unless they outlast the program or move to
// {out}.
#include "harness/trainer/run/temporary_files.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trainer/run/recording.h"
#include "harness/trainer/run/trainer_runs.h"
#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;

FileName Out(const std::string& path) { return {TrainerRuns::kOut, path}; }
FileName Temporary(const std::string& path) {
  return {TrainerRuns::kTemporary, path};
}

class TemporaryFilesTest : public testing::Test {
 protected:
  uint64_t Make(OperationKind kind, const FileName& name) {
    const uint64_t file = log_.log().AddFile({.device = 1, .inode = ++inodes_});
    return log_.Add({.kind = kind, .file = file, .name = name});
  }
  uint64_t Create(const FileName& name) {
    return Make(OperationKind::kCreate, name);
  }
  uint64_t Do(OperationKind kind, const FileName& name,
              const FileName& to = {}) {
    return log_.Add({.kind = kind, .name = name, .to = to});
  }
  std::set<uint64_t> Found() {
    const auto found = OperationsOnTemporaryFiles(log_.log());
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return found.ok() ? *found : std::set<uint64_t>();
  }

  WrittenLog log_{2};
  uint64_t inodes_ = 0;
};

TEST_F(TemporaryFilesTest, RemovedFilesAreTemporary) {
  Create(Temporary("probe"));
  Do(OperationKind::kTruncate, Temporary("probe"));
  Do(OperationKind::kRename, Temporary("probe"), Temporary("renamed"));
  Do(OperationKind::kUnlink, Temporary("renamed"));
  EXPECT_THAT(Found(), ElementsAre(1U, 2U, 3U, 4U));
}

TEST_F(TemporaryFilesTest, DirectoriesWithoutFilesAreTemporary) {
  Make(OperationKind::kMakeDirectory, Temporary("empty"));
  Make(OperationKind::kMakeDirectory, Temporary("empty/inner"));
  Make(OperationKind::kMakeDirectory, Temporary("cache"));
  Create(Temporary("cache/kernel"));
  EXPECT_THAT(Found(), ElementsAre(1U, 2U));
}

TEST_F(TemporaryFilesTest, FilesThatMoveToOutAreNotTemporary) {
  Make(OperationKind::kMakeDirectory, Temporary("staged"));
  Create(Temporary("staged/model"));
  Do(OperationKind::kRename, Temporary("staged"), Out("ckpt"));
  Create(Temporary("linked"));
  Do(OperationKind::kLink, Temporary("linked"), Out("link"));
  Do(OperationKind::kUnlink, Temporary("linked"));
  Create(Temporary("swapped"));
  Do(OperationKind::kExchange, Out("link"), Temporary("swapped"));
  EXPECT_THAT(Found(), ElementsAre());
}

TEST_F(TemporaryFilesTest, FilesThatMoveFromOutAreNotTemporary) {
  Create(Out("old"));
  Do(OperationKind::kRename, Out("old"), Temporary("old"));
  Do(OperationKind::kUnlink, Temporary("old"));
  Create(Out("swapped"));
  Create(Temporary("new"));
  Do(OperationKind::kExchange, Temporary("new"), Out("swapped"));
  Do(OperationKind::kUnlink, Temporary("new"));
  EXPECT_THAT(Found(), ElementsAre());
}

TEST_F(TemporaryFilesTest, RemovedFilesOfOutAreNotTemporary) {
  Create(Out("a"));
  Do(OperationKind::kUnlink, Out("a"));
  Do(OperationKind::kSyncDirectory, Temporary("."));
  Do(OperationKind::kSyncFileSystem, {});
  EXPECT_THAT(Found(), ElementsAre());
}

TEST_F(TemporaryFilesTest, OperationsOnTemporaryFilesAreNoCrashPoints) {
  Create(Temporary("probe"));
  Create(Out("a"));
  Do(OperationKind::kUnlink, Temporary("probe"));
  const Recording recording{.run = {},
                            .end = {},
                            .log = std::move(log_.log()),
                            .on_temporary_files = {1, 3}};
  EXPECT_THAT(recording.CrashPoints(), ElementsAre(2U));
}

}  // namespace
}  // namespace gauntlet
