#include "engine/real/posix/folder_entries.h"

#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

TEST(FolderEntriesTest, ListsFilesFoldersAndLinksToThemselves) {
  ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "folder");
  std::filesystem::create_symlink("loop", scratch / "loop");
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : EntriesOf(scratch.path(), error))
    names.insert(entry.path().filename());
  EXPECT_FALSE(error);
  EXPECT_EQ(names, (std::set<std::string>{"folder", "loop"}));
}

TEST(FolderEntriesTest, ReportsAMissingFolder) {
  ScratchDirectory scratch;
  std::error_code error;
  EXPECT_TRUE(EntriesOf(scratch / "missing", error).empty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(EntriesOf(scratch / "missing").empty());
}

}  // namespace
}  // namespace gauntlet
