#include "engine/real/storage/incarnation_file.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(IncarnationFileTest, NameIsParsed) {
  EXPECT_EQ(IncarnationFileName(1, 2, ".log"), "worker-1-incarnation-2.log");
  EXPECT_EQ(ParseIncarnationFileName("worker-1-incarnation-2.log", ".log"),
            std::pair(1, 2));
  EXPECT_EQ(
      ParseIncarnationFileName("worker-10-incarnation-34.jsonl", ".jsonl"),
      std::pair(10, 34));
}

TEST(IncarnationFileTest, NameOfEarlierVersionsIsParsed) {
  EXPECT_EQ(ParseIncarnationFileName("worker-1-life-2.log", ".log"),
            std::pair(1, 2));
}

TEST(IncarnationFileTest, ReturnsNullopt_ForOtherNames) {
  for (const char* name :
       {"", "-", "worker", "worker-1", "worker-1.log", "worker-1-2.log",
        "worker-1-incarnation-2", "worker-1-incarnation-2.jsonl",
        "worker-1-incarnation-2.log.gz", "worker-1-incarnation-02.log",
        "worker-1-incarnation-x.log", "worker-1-incarnation-99999999999.log",
        "worker--1-incarnation-2.log", "worker-1-incarnation--2.log",
        "worker--incarnation-2.log", "worker-1-incarnation-.log",
        "my-worker-1-incarnation-2.log", "worker-1-attempt-2.log",
        "launcher-1.log"}) {
    EXPECT_EQ(ParseIncarnationFileName(name, ".log"), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace gauntlet
