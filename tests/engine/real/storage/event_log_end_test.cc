#include "engine/real/storage/event_log_end.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(EventLogEndTest, IsFoundInTheOutputOfALauncher) {
  const std::string line = EventLogEndLine(IoError("/r/w.jsonl: write: why"));
  EXPECT_EQ(line, "event log: /r/w.jsonl: write: why; it ends here");
  EXPECT_EQ(FindEventLogEnd(line), line);
  EXPECT_EQ(FindEventLogEnd("a\ngauntlet train: " + line + "\n{}\n"), line);
}

TEST(EventLogEndTest, OtherLinesAreNotFound) {
  EXPECT_EQ(FindEventLogEnd(""), "");
  EXPECT_EQ(FindEventLogEnd("event log: on\n; it ends here\n"), "");
  EXPECT_EQ(FindEventLogEnd("event log: event log: "), "");
}

}  // namespace
}  // namespace gauntlet
