#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "engine/cli/flags/flags.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

class DidYouMeanFileTest : public testing::Test {
 protected:
  DidYouMeanFileTest() {
    for (const char* name :
         {"01.yaml", "crash-1.yaml", "crash-2.yaml", "notes.txt"}) {
      std::ofstream(scratch_ / name) << "text";
    }
    std::filesystem::create_directory(scratch_ / "checkpoints");
  }

  std::string Suggestion(const std::string& name) const {
    return DidYouMeanFile(scratch_ / name);
  }

  ScratchDirectory scratch_;
};

TEST_F(DidYouMeanFileTest, NamesSimilarFilesAndFoldersBesideThePath) {
  EXPECT_EQ(Suggestion("note.txt"), "; did you mean notes.txt?");
  EXPECT_EQ(Suggestion("note.text"), "; did you mean notes.txt?");
  EXPECT_EQ(Suggestion("chekpoints"), "; did you mean checkpoints?");
}

TEST_F(DidYouMeanFileTest, NamesEquallySimilarOnesInTheirOrder) {
  EXPECT_EQ(Suggestion("crash-3.yaml"),
            "; did you mean crash-1.yaml or crash-2.yaml?");
}

TEST_F(DidYouMeanFileTest, IsEmptyWithoutASimilarName) {
  EXPECT_EQ(Suggestion("weights"), "");
  EXPECT_EQ(Suggestion("nope.yaml"), "") << "only the extension is similar";
  EXPECT_EQ(Suggestion("none/notes.txt"), "") << "the folder is missing";
}

}  // namespace
}  // namespace gauntlet
