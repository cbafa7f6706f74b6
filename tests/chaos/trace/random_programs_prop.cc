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

RC_GTEST_FIXTURE_PROP(RandomProgramsTest, KillBeforeOperationLeavesPrefix, ()) {
  if (IsSkipped()) return;
  const auto lines = *ArbitraryScript(30);
  TracedRun recording;
  RunScript(recording, lines);
  size_t operations = 0;
  for (const FileOperation& operation : recording.operations())
    operations += !operation.implied && IsCrashPoint(operation.kind) ? 1 : 0;
  Replay replay(recording.log(), recording.folder().Make("replayed"));
  size_t done = 0;
  for (size_t n = 1; n <= operations; ++n) {
    TracedRun run;
    run.options.log = nullptr;
    run.options.injections = {{.at = {.occurrence = n}}};
    RC_ASSERT(RunScript(run, lines).is_killed);
    const size_t end = EndOfPrefix(recording.log(), n - 1);
    const Status status = replay.Do(end - done);
    if (!status.ok()) RC_FAIL(status.ToString());
    done = end;
    const std::string expected = DirectoryText(replay.Directory(0));
    const std::string found = DirectoryText(run.out());
    if (expected != found) {
      RC_FAIL(
          fmt::format("before operation {} of:\n{}\nexpected:\n{}\n"
                      "found:\n{}",
                      n, recording.Text(), expected, found));
    }
  }
}

}  // namespace
}  // namespace gauntlet
