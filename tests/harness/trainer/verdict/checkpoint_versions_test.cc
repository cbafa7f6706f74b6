// Contents of files, and the version of a checkpoint that a resumed run read.
#include "harness/trainer/verdict/checkpoint_versions.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/text_file.h"
#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Texts = std::vector<std::pair<std::string, std::string>>;

// A log of saves, and versions found from the files that runs read.
class CheckpointVersionsTest : public testing::Test {
 protected:
  // Writes ckpt-1, then ckpt-2: operations 1 and 2, then 3 and 4.
  void SaveTwice() {
    written_.Create("ckpt-1");
    written_.Write("ckpt-1", "one");
    written_.Create("ckpt-2");
    written_.Write("ckpt-2", "two");
  }
  // Writes a log before, between and after two checkpoints. Returns its last
  // operation.
  uint64_t SaveAndLog() {
    written_.Create("log");
    written_.Create("ckpt-1");
    written_.Write("ckpt-1", "one");
    written_.Write("log", "x");
    written_.Create("ckpt-2");
    written_.Write("ckpt-2", "two");
    return written_.Write("log", "y", 1);
  }

  CheckpointVersions Versions(const std::vector<std::string>& patterns = {}) {
    auto versions = CheckpointVersions::Of(written_.log(), patterns);
    EXPECT_TRUE(versions.ok()) << versions.status().ToString();
    return std::move(*versions);
  }
  // Returns the contents of a directory with these files.
  static FileContents Contents(const Texts& files) {
    const Folder folder;
    for (const auto& [name, text] : files)
      EXPECT_TRUE(WriteTextFile(folder.path() + "/" + name, text).ok());
    auto contents = ContentsOf({folder.path()});
    EXPECT_TRUE(contents.ok()) << contents.status().ToString();
    return std::move(*contents);
  }
  // Returns the version of a run that reads these files.
  std::optional<CheckpointVersion> Read(
      const Texts& files, const std::vector<std::string>& patterns = {}) {
    std::vector<FileRead> reads;
    for (const auto& [name, text] : files) reads.push_back({0, name});
    return Versions(patterns).VersionOf(reads, Contents(files));
  }

  WrittenLog written_;
};

TEST_F(CheckpointVersionsTest, ContentsOfOneFileAreVersions) {
  written_.Create("ckpt");
  written_.Write("ckpt", "one");
  written_.Close("ckpt");
  written_.Truncate("ckpt", 0);
  written_.Write("ckpt", "two");
  struct Row {
    std::string text;
    uint64_t operation;
    uint64_t begin;
  };
  for (const Row& row : {Row{"one", 2, 1}, Row{"two", 5, 4}}) {
    const auto version = Read({{"ckpt", row.text}});
    ASSERT_TRUE(version) << row.text;
    EXPECT_EQ(version->operation, row.operation) << row.text;
    EXPECT_EQ(version->begin, row.begin) << row.text;
    EXPECT_THAT(version->files, ElementsAre("ckpt"));
    EXPECT_EQ(version->own_file, "") << "it has two versions";
  }
}

TEST_F(CheckpointVersionsTest, IncompleteContentsAreNotKnown) {
  SaveTwice();
  EXPECT_FALSE(Read({{"ckpt-2", "tw"}}));
  // Incomplete contents are ignored if another file that the run read is a
  // known version.
  const auto version = Read({{"ckpt-2", "tw"}, {"ckpt-1", "one"}});
  ASSERT_TRUE(version);
  EXPECT_EQ(version->operation, 2U);
}

TEST_F(CheckpointVersionsTest, RunThatReadsNothingStartsOver) {
  SaveTwice();
  const auto version = Read({});
  ASSERT_TRUE(version);
  EXPECT_EQ(version->operation, 0U);
  EXPECT_TRUE(version->files.empty());
}

TEST_F(CheckpointVersionsTest, NewestFileCounts) {
  SaveTwice();
  const auto version = Read({{"ckpt-1", "one"}, {"ckpt-2", "two"}});
  ASSERT_TRUE(version);
  EXPECT_EQ(version->operation, 4U);
  EXPECT_EQ(version->begin, 3U);
  EXPECT_THAT(version->files, ElementsAre("ckpt-2", "ckpt-1"));
  EXPECT_EQ(version->own_file, "ckpt-2");
}

TEST_F(CheckpointVersionsTest, EndsAreTheLastOperationsOfVersions) {
  SaveTwice();
  EXPECT_THAT(Versions().Ends(), ElementsAre(2U, 4U));
  EXPECT_THAT(Versions({"*-1"}).Ends(), ElementsAre(2U));
}

TEST_F(CheckpointVersionsTest, LogIsNoCheckpoint_UnlessItIsNamed) {
  const uint64_t last = SaveAndLog();
  EXPECT_THAT(GrowingFiles(written_.log()), ElementsAre("log"));
  EXPECT_EQ(Read({{"log", "xy"}})->operation, 0U);
  EXPECT_EQ(Read({{"log", "xy"}}, {"log"})->operation, last);
}

TEST_F(CheckpointVersionsTest, PatternWithoutFileIsRefused) {
  SaveTwice();
  const auto versions = CheckpointVersions::Of(written_.log(), {"model*"});
  EXPECT_EQ(versions.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(versions.status().message(), HasSubstr("found none for model*"));
}

TEST_F(CheckpointVersionsTest, FinishedFileOfSeriesIsMadeAgain) {
  SaveTwice();
  written_.Create("config");
  written_.Write("config", "c");
  struct Row {
    std::string made;
    std::string text;
    std::vector<RemadeFile> expected;
  };
  // ckpt-1 is finished when ckpt-2 begins; ckpt-2 is finished when the run
  // ends.
  for (const Row& row :
       {Row{"ckpt-1", "one", {{"ckpt-1", 3}}}, Row{"ckpt-1", "on", {}},  // torn
        Row{"ckpt-2", "two", {{"ckpt-2", 6}}},
        Row{"config", "c", {}}}) {  // no series
    EXPECT_EQ(
        Versions().MadeAgain({{0, row.made}}, Contents({{row.made, row.text}})),
        row.expected)
        << row.made << " " << row.text;
  }
}

TEST_F(CheckpointVersionsTest, NewestOfSeriesIsTheLastCompleteFile) {
  SaveTwice();
  const Texts both = {{"ckpt-1", "one"}, {"ckpt-2", "two"}};
  EXPECT_EQ(Versions().NewestOfSeries("ckpt-1", Contents(both)), "ckpt-2");
  const Texts torn = {{"ckpt-1", "one"}, {"ckpt-2", "tw"}};
  EXPECT_EQ(Versions().NewestOfSeries("ckpt-2", Contents(torn)), "ckpt-1");
  EXPECT_EQ(Versions().NewestOfSeries("config", Contents(both)), "");
}

TEST(ContentsOfTest, HasRegularFilesOfAllDirectoriesByIndex) {
  const Folder first;
  const Folder second;
  second.Make("sub");
  ASSERT_TRUE(WriteTextFile(first.path() + "/a", "same").ok());
  ASSERT_TRUE(WriteTextFile(second.path() + "/sub/b", "same").ok());
  std::filesystem::create_symlink("a", first.path() + "/link");
  const auto contents = ContentsOf({first.path(), second.path()});
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  ASSERT_EQ(contents->size(), 2U);
  EXPECT_EQ(contents->at({0, "a"}), contents->at({1, "sub/b"}));
  EXPECT_EQ(ContentsOf({first.path() + "/none"}).status().code(),
            Code::kNotFound);
}

}  // namespace
}  // namespace gauntlet
