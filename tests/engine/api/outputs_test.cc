// Outputs inside a directory that only another component may use.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/backup_and_restore.h"
#include "engine/api/model_checkpoint.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/train/output_overlap.h"
#include "tests/engine/api/fit_fixture.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

// A store, another directory, and links to both.
class OutputOverlapTest : public testing::Test {
 protected:
  OutputOverlapTest() {
    fs::create_directories(scratch_ / "ckpt/sub");
    fs::create_directories(scratch_ / "other");
    fs::create_directory_symlink(scratch_ / "ckpt", scratch_ / "link");
    fs::create_directory_symlink("../ckpt/sub", scratch_ / "other/in");
  }

  Status Check(const OutputPlaces& places) {
    return CheckOverlap(storage_, places);
  }
  OutputPlace At(const std::string& role, const std::string& path) const {
    return {.role = role, .path = path.empty() ? path : scratch_ / path};
  }

  ScratchDirectory scratch_;
  PosixStorage storage_;
};

TEST_F(OutputOverlapTest, OutputInsideTheStore_IsRefusedByName) {
  for (const std::string path :
       {"ckpt", "ckpt/", "ckpt/.", "ckpt/tb", "ckpt/a/b/../c",
        "other/../ckpt/x", "link", "link/new/deep", "other/in", "other/in/x",
        "link/../ckpt/x"}) {
    const Status status = Check({.store = At("--ckpt", "ckpt/"),
                                 .exported = {},
                                 .others = {At("--tensorboard", path)}});
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << path;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("--tensorboard"), HasSubstr("--ckpt")));
  }
  const Status status = Check({.store = At("--ckpt", "link"),
                               .exported = At("--export", "ckpt/model"),
                               .others = {}});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
}

TEST_F(OutputOverlapTest, StoreOrOutputInsideTheExport_IsRefused) {
  for (const std::string path : {"model", "model/ckpt", "./model//x"}) {
    EXPECT_FALSE(Check({.store = At("--ckpt", path),
                        .exported = At("--export", "model"),
                        .others = {}})
                     .ok());
    EXPECT_FALSE(Check({.store = {},
                        .exported = At("--export", "model"),
                        .others = {At("--logs", path)}})
                     .ok());
  }
}

TEST_F(OutputOverlapTest, OneDirectoryForTwoRoles_IsRefused) {
  EXPECT_FALSE(
      Check({.store = {},
             .exported = {},
             .others = {At("--logs", "link/x"), At("--events", "ckpt/x")}})
          .ok());
}

TEST_F(OutputOverlapTest, PlacesApart_AreFine) {
  EXPECT_TRUE(Check({.store = At("--ckpt", "ckpt"),
                     .exported = At("--export", "ckpt-model"),
                     .others = {At("--tensorboard", "other"),
                                At("--logs", "other/logs"),
                                At("--events", "ckp"), At("--plan-state", "")}})
                  .ok());
  EXPECT_TRUE(Check({.store = At("--ckpt", "other/ckpt"),
                     .exported = {},
                     .others = {At("--tensorboard", "other")}})
                  .ok())
      << "a store in a directory of curves, as a Supervisor has it";
}

TEST(FitOutputsTest, ModelCheckpointInTheBackup_IsRefused) {
  FitFixture fixture;
  BackupAndRestore backup({.backup_dir = "/backup"});
  for (const std::string path : {"/backup/best.safetensors",
                                 "/x/../backup/weights-{epoch}.safetensors"}) {
    ModelCheckpoint weights({.path = path});
    const Status refused =
        FitOnce(fixture, SmallFit(1, {&backup, &weights})).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr("callback model_checkpoint"),
                                         HasSubstr("backup_dir")));
  }
  EXPECT_EQ(fixture.disk().List("/backup").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace gauntlet
