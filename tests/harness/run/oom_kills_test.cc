#include "harness/run/oom_kills.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(OomKillsTest, AreTheKernelsCount) {
  EXPECT_EQ(OomKillsIn("nr_free_pages 7\noom_kill 12\ndrop_slab 3\n"), 12u);
  EXPECT_EQ(OomKillsIn("oom_kill 3"), 3u);
}

TEST(OomKillsTest, AreNoneWhereTheKernelDoesNotCount) {
  EXPECT_EQ(OomKillsIn(""), 0u);
  EXPECT_EQ(OomKillsIn("nr_free_pages 7\n"), 0u);
  EXPECT_EQ(OomKillsIn("noom_kill 7\noom_kill_disable 1\noom_kill x\n"), 0u);
}

}  // namespace
}  // namespace gauntlet
