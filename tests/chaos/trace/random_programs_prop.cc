// Random programs of file operations, most of which fail somewhere.
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/chaos/trace/traced_run.h"

namespace gauntlet {
namespace {

// Few names, so that operations meet; some lead out of the directory and in.
rc::Gen<std::string> ArbitraryName() {
  return rc::gen::element<std::string>("a", "b", "c", "d", "d/a", "d/b", "e",
                                       "e/a", "e/d", "d/../c", "../aside/x",
                                       "../aside/y", "../out/b");
}

// A line of the victim's script.
rc::Gen<std::string> ArbitraryLine() {
  return rc::gen::exec([] {
    const std::string verb = *rc::gen::element<std::string>(
        "open", "open", "create", "empty", "unnamed", "name", "write", "write",
        "write", "pwrite", "pwrite", "append", "append", "truncate", "punch",
        "allocate", "rename", "rename", "exchange", "link", "symlink", "unlink",
        "mkdir", "mkdir", "rmdir", "chmod", "fsync");
    const std::string first =
        verb == "unnamed" ? *rc::gen::element<std::string>(".", "d", "e")
                          : *ArbitraryName();
    return fmt::format("{} {} {} {} {}", verb, first, *ArbitraryName(),
                       *rc::gen::inRange(0, 3), *rc::gen::inRange(0, 9000));
  });
}

// Shrinks towards fewer lines.
rc::Gen<std::vector<std::string>> ArbitraryScript(int lines) {
  return rc::gen::resize(
      lines, rc::gen::container<std::vector<std::string>>(ArbitraryLine()));
}

TraceOutcome RunScript(TracedRun& run, const std::vector<std::string>& lines) {
  run.aside();
  const std::string script = run.folder().Make("script") + "/lines";
  std::ofstream file(script);
  // Something for the first lines to act on.
  file << "open a - 0 0\nopen b - 1 0\nmkdir d\nopen d/a - 2 0\n";
  for (const std::string& line : lines) file << line << "\n";
  file.close();
  return run.Run({"script", "{out}", script});
}

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

// Index behind the first `count` operations that injections count.
size_t EndOfPrefix(const OperationLog& log, size_t count) {
  size_t i = 0;
  while (i < log.operations().size()) {
    const FileOperation& next = log.operations()[i];
    const bool counts = !next.implied && IsCrashPoint(next.kind);
    if (counts && count == 0) break;
    count -= counts ? 1 : 0;
    ++i;
  }
  return i;
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
