#include "chaos/crash/crash_state.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/crash/crash_description.h"
#include "tests/chaos/crash/written_log.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

TEST(CrashStateTest, IdIsReadBack) {
  for (const std::string id :
       {"kill-0", "kill-120", "torn-120-4096", "ext4-120", "ext4-120-data0",
        "ext4-120-from118-file7.s4096", "weak-120-lost116.118-file7.s0",
        "weak-120-from119-lost116-data0-file7.s8192.o.b1n.b2f3.b3r7",
        "ext4-1-file7.s1.b0o-file8.s0"}) {
    const auto state = ParseCrashStateId(id);
    ASSERT_TRUE(state.ok()) << state.status().ToString();
    EXPECT_EQ(CrashStateId(*state), id);
  }
}

TEST(CrashStateTest, AnyOtherIdIsRefused) {
  for (const std::string id : {"",
                               "kill",
                               "kill-",
                               "kill-x",
                               "kill--1",
                               "kill-01",
                               "kill-1-",
                               "kill-1-2",
                               "torn-1",
                               "torn-1-",
                               "nfs-1",
                               "ext4-1-",
                               "ext4-1-from0",
                               "ext4-1-lost2.1",
                               "ext4-1-lost1.",
                               "ext4-1-file7",
                               "ext4-1-file7.s",
                               "ext4-1-file7.s1.b",
                               "ext4-1-file7.s1.b0",
                               "ext4-1-file7.s1.b0f0",
                               "ext4-1-file7.s1.b0f8",
                               "ext4-1-file7.s1.b1o.b0o",
                               "ext4-1-file8.s1-file7.s1",
                               "ext4-1-data0-data0",
                               "kill-99999999999999999999"}) {
    const auto state = ParseCrashStateId(id);
    EXPECT_EQ(state.status().code(), Code::kInvalidArgument) << id;
  }
}

TEST(CrashStateTest, StateOfAnotherLogIsRefused) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  for (const std::string id :
       {"torn-2-1", "torn-1-4", "ext4-2-file9.s0", "ext4-2-file1.s2",
        "weak-2-lost2", "ext4-2-file1.s4.b0o", "weak-2-file1.s4.b1o"}) {
    const auto status = log.StatusOf(id);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << id;
    EXPECT_THAT(status.message(), HasSubstr("is of another log")) << id;
  }
  EXPECT_EQ(DescribeCrashState(log.log(), {.operations = 9}).status().code(),
            Code::kInvalidArgument);
}

TEST(CrashStateTest, DescriptionHasPointAndLosses) {
  WrittenLog log;
  log.Create("a.tmp");
  log.Write("a.tmp", std::string(8192, 'x'));
  log.Rename("a.tmp", "a");
  log.Write("a", "end", 8192);
  const auto describe = [&](const std::string& id) {
    const CrashStateText text =
        *DescribeCrashState(log.log(), *ParseCrashStateId(id));
    std::vector<std::string> lines = {text.point};
    lines.insert(lines.end(), text.lost.begin(), text.lost.end());
    return lines;
  };
  EXPECT_THAT(describe("kill-0"),
              ElementsAre("killed before the first operation"));
  EXPECT_THAT(describe("kill-3"),
              ElementsAre("killed after rename a.tmp to a"));
  EXPECT_THAT(describe("torn-1-512"),
              ElementsAre("killed in write [0, 8192) of a.tmp: the first 512 "
                          "of 8192 bytes are there"));
  EXPECT_THAT(describe("ext4-3-data0"),
              ElementsAre("power loss (ext4) after rename a.tmp to a",
                          "write [0, 8192) of a.tmp (operation 2): lost"));
  EXPECT_THAT(describe("ext4-3-from3-file1.s4096"),
              ElementsAre("power loss (ext4) after rename a.tmp to a",
                          "write [0, 8192) of a.tmp (operation 2): 4096 of "
                          "8192 bytes there",
                          "rename a.tmp to a (operation 3): lost"));
  EXPECT_THAT(describe("ext4-4-file1.s8192"),
              ElementsAre("power loss (ext4) after write [8192, 8195) of a",
                          "write [8192, 8195) of a (operation 4): lost"));
}

// Power fails after an operation on `b`, and `a` loses its bytes.
TEST(CrashStateTest, DescriptionNamesFilesThatLostSomething) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  log.Create("b");
  const auto lost_files = [&](const std::string& id) {
    return DescribeCrashState(log.log(), *ParseCrashStateId(id))->lost_files;
  };
  EXPECT_THAT(lost_files("ext4-3-data0"),
              ElementsAre(Field(&FileName::path, "a")));
  EXPECT_TRUE(lost_files("ext4-3").empty());
  EXPECT_TRUE(lost_files("kill-3").empty());
}

TEST(CrashStateTest, DescriptionOfManyLossesIsShort) {
  WrittenLog log;
  for (int i = 0; i < 50; ++i) log.MakeDirectory("d" + std::to_string(i));
  const auto text =
      *DescribeCrashState(log.log(), *ParseCrashStateId("ext4-50-from1"));
  EXPECT_EQ(text.lost.size(), 20);
  EXPECT_EQ(text.lost.back(), "and 31 more");
  EXPECT_EQ(text.lost_files.size(), 50);
}

}  // namespace
}  // namespace gauntlet
