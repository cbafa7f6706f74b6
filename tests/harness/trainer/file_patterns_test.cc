#include "harness/trainer/file_patterns.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

std::string PatternOf(WrittenLog& written, const std::string& path) {
  return FilePatterns(written.log()).Of({.path = path});
}

TEST(FilePatternsTest, RandomPartsOfTemporaryNamesAreStars) {
  WrittenLog written;
  for (const std::string name : {".tmpdNQpis", ".tmpAb3dE9"}) {
    written.Create(name);
    written.Rename(name, "model");
    EXPECT_EQ(PatternOf(written, name), ".tmp*") << name;
  }
  written.Create("tmpabcdefgh");
  written.Unlink("tmpabcdefgh");
  EXPECT_EQ(PatternOf(written, "tmpabcdefgh"), "tmp*");
}

TEST(FilePatternsTest, NameThatStaysIsNotTemporary) {
  WrittenLog written;
  written.Create("tmpabcdefgh");
  EXPECT_EQ(PatternOf(written, "tmpabcdefgh"), "tmpabcdefgh");
}

TEST(FilePatternsTest, NameThatIsUsedAgainIsNotRandom) {
  WrittenLog written;
  for (const char* const to : {"model-1", "model-2"}) {
    written.Create("tmpabcdefgh");
    written.Rename("tmpabcdefgh", to);
  }
  EXPECT_EQ(PatternOf(written, "tmpabcdefgh"), "tmpabcdefgh");
}

TEST(FilePatternsTest, FileInTemporaryDirectoryHasItsPattern) {
  WrittenLog written;
  written.MakeDirectory("a");
  written.MakeDirectory("a/tmpab_cdefg");
  written.Create("a/tmpab_cdefg/model-2");
  written.Rename("a/tmpab_cdefg", "a/ckpt");
  EXPECT_EQ(PatternOf(written, "a/tmpab_cdefg/model-2"), "a/tmp*/model-*");
}

TEST(FilePatternsTest, OperationIsOneOfItsKindOnSuchFiles) {
  WrittenLog written;
  for (const std::string name : {"ckpt-1", "ckpt-2", "ckpt-3"}) {
    const std::string temporary = name + ".tmp";
    written.Create(temporary);
    written.Write(temporary, "text");
    written.Rename(temporary, name);
  }
  struct Row {
    uint64_t number;
    OperationKind kind;
    uint64_t occurrence;
  };
  for (const Row& row :
       {Row{1, OperationKind::kCreate, 1}, Row{5, OperationKind::kWrite, 2},
        Row{9, OperationKind::kRename, 3}}) {
    const OperationPattern pattern =
        FilePatterns(written.log()).OfOperation(row.number);
    EXPECT_EQ(pattern.path, "ckpt-*.tmp") << row.number;
    EXPECT_EQ(pattern.kind, row.kind) << row.number;
    EXPECT_EQ(pattern.occurrence, row.occurrence) << row.number;
    EXPECT_EQ(pattern.rank, std::nullopt) << row.number;
  }
}

// A fault at an operation must find the same operation in a run with other
// random names.
TEST(FilePatternsTest, OperationIsFoundInAnotherRun) {
  WrittenLog written;
  for (const std::string name : {".tmpdNQpis", ".tmpAb3dE9"}) {
    written.Create(name);
    written.Rename(name, "model");
  }
  const OperationPattern pattern = FilePatterns(written.log()).OfOperation(4);
  EXPECT_EQ(pattern.occurrence, 2U);
  EXPECT_TRUE(Matches(pattern, {.kind = OperationKind::kRename,
                                .name = {.path = ".tmpxyzXYZ"},
                                .to = {.path = "model"}}));
}

TEST(FilePatternsTest, ImpliedOperationsAreNotCounted) {
  WrittenLog written;
  written.Create("a");
  FileOperation implied = written.Named(OperationKind::kSyncFile, "a");
  implied.implied = true;
  written.Add(implied);
  const uint64_t own = written.Sync("a");
  EXPECT_EQ(FilePatterns(written.log()).OfOperation(own).occurrence, 1U);
}

}  // namespace
}  // namespace gauntlet
