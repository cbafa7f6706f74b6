// Random programs of file operations, most of which fail somewhere.
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/chaos/trace/random_script.h"

namespace gauntlet {
namespace {

struct RandomProgramsTest : TraceTest {};

RC_GTEST_FIXTURE_PROP(RandomProgramsTest, LogLeadsToSameDirectory, ()) {
  if (IsSkipped()) return;
  const auto lines = *ArbitraryScript(120);
  TracedRun run;
  RC_ASSERT(RunScript(run, lines).exit_code == 0);
  Replay replay(run.log(), run.folder().Make("replayed"));
  const Status status = replay.DoAll();
  if (!status.ok()) RC_FAIL(status.ToString() + "\n" + run.Text());
  RC_ASSERT(DirectoryText(replay.Directory(0)) == DirectoryText(run.out()));
}

// Runs the script once to the end, and once for each of its operations, killed
// before it. Returns the first difference between what a killed run left and
// what the log says; empty: none.
std::string DifferenceAfterKill(const std::vector<std::string>& lines) {
  TracedRun recording;
  RunScript(recording, lines);
  size_t operations = 0;
  for (const FileOperation& operation : recording.operations())
    operations += IsOwnCrashPoint(operation) ? 1 : 0;
  Replay replay(recording.log(), recording.folder().Make("replayed"));
  size_t done = 0;
  for (size_t n = 1; n <= operations; ++n) {
    TracedRun run;
    run.options.log = nullptr;
    run.options.injections = {{.at = {.occurrence = n}}};
    if (!RunScript(run, lines).is_killed)
      return fmt::format("no operation {} of:\n{}", n, recording.Text());
    const size_t end = EndOfPrefix(recording.log(), n - 1);
    const Status status = replay.Do(end - done);
    if (!status.ok()) return status.ToString() + "\n" + recording.Text();
    done = end;
    const std::string expected = DirectoryText(replay.Directory(0));
    const std::string found = DirectoryText(run.out());
    if (expected != found) {
      return fmt::format(
          "before operation {} of:\n{}\nexpected:\n{}\nfound:\n{}", n,
          recording.Text(), expected, found);
    }
  }
  return "";
}

RC_GTEST_FIXTURE_PROP(RandomProgramsTest, KillBeforeOperationLeavesPrefix, ()) {
  if (IsSkipped()) return;
  const std::string difference = DifferenceAfterKill(*ArbitraryScript(30));
  if (!difference.empty()) RC_FAIL(difference);
}

// In each script, slot 0 has file "a" open.
TEST_F(RandomProgramsTest, KillLeavesPrefix_IfOpenFileLosesItsNameAndChanges) {
  for (const std::string loss :
       {"unlink a", "rename b a", "rename a ../aside/x", "rename a ../aside/b",
        "exchange a ../aside/y", "rename d ../aside/d"}) {
    for (const std::string change :
         {"pwrite - - 0 20", "punch - - 0 50", "append ../aside/x - 2 9"}) {
      EXPECT_EQ(DifferenceAfterKill({"open ../aside/y - 1 0", "open b - 1 0",
                                     "write - - 0 100", "write - - 1 30", loss,
                                     change, "mkdir e - 0 0"}),
                "")
          << loss << ", " << change;
    }
  }
}

}  // namespace
}  // namespace gauntlet
