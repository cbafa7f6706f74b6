#include "harness/run/files/oom_kills.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(OomKillsTest, AreTheKernelsCount) {
  EXPECT_EQ(OomKillsIn("nr_free_pages 7\noom_kill 12\ndrop_slab 3\n"), 12u);
  EXPECT_EQ(OomKillsIn("oom_kill 3"), 3u);
}

TEST(OomKillsTest, AreZeroIfTheKernelDoesNotCount) {
  EXPECT_EQ(OomKillsIn(""), 0u);
  EXPECT_EQ(OomKillsIn("nr_free_pages 7\n"), 0u);
  EXPECT_EQ(OomKillsIn("noom_kill 7\noom_kill_disable 1\noom_kill x\n"), 0u);
}

TEST(RanOutTest, IsALineOfTheLog) {
  EXPECT_EQ(RanOutIn("a\ngauntlet: out of memory\nb\n"),
            "gauntlet: out of memory");
  EXPECT_EQ(RanOutIn("gauntlet: out of threads"), "gauntlet: out of threads");
  EXPECT_EQ(RanOutIn(""), "");
  EXPECT_EQ(RanOutIn("it said gauntlet: out of memory\n"), "");
  EXPECT_EQ(RanOutIn("a\nb.cc:330] tcmalloc: allocation failed 73728 \nc\n"),
            "b.cc:330] tcmalloc: allocation failed 73728 ");
}

}  // namespace
}  // namespace gauntlet
