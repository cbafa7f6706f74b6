#include "harness/cli/run_folders/run_directory.h"

#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

TEST(LinkLatestTest, DirectoryInPlaceOfTheLink_IsToBeRemoved) {
  const ScratchDirectory scratch;
  const std::string runs = scratch.path();
  fs::create_directories(runs + "/latest/of-a-user");
  fs::create_directory(runs + "/7");
  EXPECT_EQ(LinkLatest(runs, "7").message(),
            runs +
                "/latest: expected a link, found a directory: remove or "
                "rename it; the results of this run are in " +
                runs + "/7");
  EXPECT_TRUE(fs::exists(runs + "/latest/of-a-user"));
  EXPECT_FALSE(fs::is_symlink(runs + "/7.link"));
  fs::rename(runs + "/latest", runs + "/former");
  EXPECT_TRUE(LinkLatest(runs, "7").ok());
  EXPECT_EQ(fs::read_symlink(runs + "/latest"), "7");
}

}  // namespace
}  // namespace gauntlet
