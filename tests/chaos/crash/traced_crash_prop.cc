// Crash states of traced programs, compared with what the programs left.
#include <cstddef>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "chaos/crash/crash_state_list.h"
#include "chaos/crash/directory_builder.h"
#include "tests/chaos/trace/random_script.h"

namespace gauntlet {
namespace {

struct TracedCrashTest : TraceTest {};

// Builds states of one log in its own folder.
class Builder {
 public:
  explicit Builder(const OperationLog& log)
      : builder_(log, {.cache = folder_.Make("cache")}) {}

  // Returns the state's directory as text.
  std::string TextOf(const CrashState& state) {
    const Folder target;
    const Status status = builder_.Build(state, {target.path()});
    if (!status.ok()) return status.ToString();
    return DirectoryText(target.path());
  }

 private:
  Folder folder_;
  DirectoryBuilder builder_;
};

RC_GTEST_FIXTURE_PROP(TracedCrashTest, KillStateIsReplayedPrefix, ()) {
  if (IsSkipped()) return;
  const auto lines = *ArbitraryScript(60);
  TracedRun run;
  RC_ASSERT(RunScript(run, lines).exit_code == 0);
  Replay replay(run.log(), run.folder().Make("replayed"));
  Builder builder(run.log());
  for (size_t n = 0; n <= run.operations().size(); ++n) {
    if (n > 0) {
      const Status status = replay.Do(1);
      if (!status.ok()) RC_FAIL(status.ToString());
    }
    const std::string expected = DirectoryText(replay.Directory(0));
    const std::string found = builder.TextOf({.operations = n});
    if (expected != found) {
      RC_FAIL(
          fmt::format("after operation {} of:\n{}\nexpected:\n{}\n"
                      "found:\n{}",
                      n, run.Text(), expected, found));
    }
  }
}

// Every listed state can be built, also from its id.
RC_GTEST_FIXTURE_PROP(TracedCrashTest, ListedStatesCanBeBuilt, ()) {
  if (IsSkipped()) return;
  const auto lines = *ArbitraryScript(40);
  TracedRun run;
  RC_ASSERT(RunScript(run, lines).exit_code == 0);
  Builder builder(run.log());
  CrashStateList list(run.log(), {});
  for (int i = 0; i < 150; ++i) {
    const auto state = list.Next();
    if (!state.ok()) RC_FAIL(state.status().ToString() + "\n" + run.Text());
    if (!*state) return;
    const auto read = ParseCrashStateId(CrashStateId(**state));
    RC_ASSERT(read.ok());
    const std::string text = builder.TextOf(*read);
    RC_ASSERT(text.find("state is of another log") == std::string::npos);
  }
}

TEST_F(TracedCrashTest, KillState_EqualsDirectoryAfterRealKill) {
  for (const std::string command : {"plain", "names", "renames"}) {
    TracedRun recording;
    recording.Run({command, "{out}", "{aside}"});
    Builder builder(recording.log());
    size_t counted = 0;
    for (size_t i = 0; i < recording.operations().size(); ++i) {
      const FileOperation& op = recording.operations()[i];
      if (op.implied || !IsCrashPoint(op.kind)) continue;
      ++counted;
      if (!IsCut(recording.log(), i + 1)) continue;
      TracedRun run;
      run.options.log = nullptr;
      run.options.injections = {
          {.at = {.occurrence = counted}, .kind = InjectionKind::kKillAfter}};
      ASSERT_TRUE(run.Run({command, "{out}", "{aside}"}).is_killed);
      EXPECT_EQ(builder.TextOf({.operations = i + 1}), DirectoryText(run.out()))
          << command << ", killed after " << DescribeFileOperation(op);
    }
    EXPECT_GT(counted, 4) << command;
  }
}

}  // namespace
}  // namespace gauntlet
