// Faults occur at exactly the operation that they name.
#include "chaos/trace/injection.h"

#include <cerrno>
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/chaos/trace/traced_run.h"

namespace gauntlet {
namespace {

struct InjectionTest : TraceTest {};

Injection At(OperationKind kind, uint64_t occurrence, InjectionKind what) {
  return {.at = {.kind = kind, .occurrence = occurrence}, .kind = what};
}

TEST_F(InjectionTest, KillsBeforeOperation) {
  TracedRun run;
  run.options.injections = {
      At(OperationKind::kRename, 1, InjectionKind::kKillBefore)};
  const TraceOutcome outcome = run.Run({"plain", "{out}"});
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_TRUE(outcome.is_killed);
  ASSERT_EQ(outcome.injected.size(), 1U);
  EXPECT_EQ(DescribeFileOperation(outcome.injected[0].operation),
            "rename sub/a to b");
  EXPECT_EQ(run.CountOf(OperationKind::kRename), 0U);
  EXPECT_TRUE(std::filesystem::exists(run.out() + "/sub/a"));
  run.ExpectReplayed();
}

TEST_F(InjectionTest, KillsAfterRename_IfNewNameMatches) {
  TracedRun run;
  run.options.injections = {
      {.at = {.path = "[b]"}, .kind = InjectionKind::kKillAfter}};
  EXPECT_EQ(run.Run({"plain", "{out}"}).signal, SIGKILL);
  EXPECT_EQ(run.operations().back().kind, OperationKind::kRename);
  EXPECT_TRUE(std::filesystem::exists(run.out() + "/b"));
  EXPECT_FALSE(std::filesystem::exists(run.out() + "/sub/c"));
  run.ExpectReplayed();
}

struct Torn {
  const char* command;
  const char* file;
  uint64_t occurrence;  // number of the write to this file, from 1
  uint64_t bytes;
  uintmax_t size;  // size of the file afterwards
};

TEST_F(InjectionTest, TearsEachFormOfWrite) {
  const Torn cases[] = {
      {"plain", "a", 1, 4096, 4096},        // write
      {"plain", "a", 2, 3, 20003},          // pwrite
      {"vectors", "v", 1, 8, 8},            // writev, in its second part
      {"vectors", "v", 1, 3, 3},            // writev, in its first part
      {"vectors", "v", 2, 7, 107},          // pwritev
      {"vectors", "v", 4, 1, 114},          // pwritev2 with RWF_APPEND
      {"copies", "copied", 1, 1000, 1500},  // copy_file_range
      {"copies", "sent", 1, 1001, 1001},    // sendfile
      {"copies", "spliced", 1, 100, 111},   // splice
      {"direct", "direct", 1, 5000, 4096},  // O_DIRECT: whole blocks
      {"plain", "a", 1, 1 << 20U, 5000},    // more than the write has
  };
  const bool has_direct = TracedRun().Run({"direct", "{out}"}).exit_code == 0;
  for (const Torn& torn : cases) {
    if (torn.command == std::string("direct") && !has_direct) continue;
    TracedRun run;
    run.options.injections = {{.at = {.path = std::string("*") + torn.file,
                                      .kind = OperationKind::kWrite,
                                      .occurrence = torn.occurrence},
                               .kind = InjectionKind::kTornWrite,
                               .torn_bytes = torn.bytes}};
    const TraceOutcome outcome = run.Run({torn.command, "{out}"});
    EXPECT_EQ(outcome.signal, SIGKILL) << torn.command << " " << torn.bytes;
    const std::string sub = run.out() + "/sub/" + torn.file;
    const std::string path =
        std::filesystem::exists(sub) ? sub : run.out() + "/" + torn.file;
    EXPECT_EQ(std::filesystem::file_size(path), torn.size)
        << torn.command << " " << torn.occurrence;
    run.ExpectReplayed();
  }
}

TEST_F(InjectionTest, FailsOnce_OrFromThenOn) {
  for (const bool repeats : {false, true}) {
    TracedRun run;
    run.options.injections = {
        {.at = {.path = "f", .kind = OperationKind::kWrite, .occurrence = 4},
         .kind = InjectionKind::kFail,
         .error = ENOSPC,
         .repeats = repeats}};
    // The exit code is the number of writes that failed with ENOSPC.
    EXPECT_EQ(run.Run({"until-error", "{out}"}).exit_code, repeats ? 7 : 1);
    EXPECT_EQ(std::filesystem::file_size(run.out() + "/f"),
              repeats ? 30U : 90U);
    run.ExpectReplayed();
  }
}

TEST_F(InjectionTest, PausesProcess) {
  TracedRun run;
  run.options.injections = {{.at = {.kind = OperationKind::kSyncFile},
                             .kind = InjectionKind::kPause,
                             .duration = std::chrono::milliseconds(120)}};
  EXPECT_EQ(run.Run({"plain", "{out}"}).exit_code, 0);
  Duration before{};
  Duration after{};
  for (const FileOperation& operation : run.operations()) {
    if (operation.kind == OperationKind::kSetMode) before = operation.time;
    if (operation.kind == OperationKind::kSyncFile) after = operation.time;
  }
  EXPECT_GE(after - before, std::chrono::milliseconds(120));
  run.ExpectReplayed();
}

TEST_F(InjectionTest, Terminates_AndKillsAfterGrace) {
  TracedRun run;
  run.options.injections = {
      {.at = {.kind = OperationKind::kWrite, .occurrence = 3},
       .kind = InjectionKind::kTerminate,
       .duration = std::chrono::seconds(1)}};
  const TraceOutcome outcome = run.Run({"terminated", "{out}"});
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_TRUE(outcome.is_killed);
  EXPECT_EQ(ContentsOf(run.out() + "/on-term"), "saved");
  EXPECT_EQ(ContentsOf(run.out() + "/f"), "xxxxx");
}

TEST_F(InjectionTest, KillsProcessesOfOtherSessions) {
  TracedRun run;
  run.options.injections = {
      {.at = {.path = "main", .kind = OperationKind::kWrite, .occurrence = 5},
       .kind = InjectionKind::kKillBefore}};
  const std::string pids = run.aside() + "/pids";
  EXPECT_EQ(run.Run({"sessions", "{out}", pids}).signal, SIGKILL);
  std::ifstream numbers(pids);
  int count = 0;
  for (pid_t pid = 0; numbers >> pid; ++count) EXPECT_FALSE(IsRunning(pid));
  EXPECT_EQ(count, 3);
  EXPECT_EQ(std::filesystem::file_size(run.out() + "/main"), 40U);
  // No process wrote anything after the kill.
  run.ExpectReplayed();
}

TEST_F(InjectionTest, MatchesRank) {
  for (const int rank : {0, 1}) {
    TracedRun run;
    run.options.injections = {{.at = {.rank = 1}}};
    const auto outcome =
        Trace({.arguments = {VICTIM, "one", run.out()},
               .environment = {{"RANK=" + std::to_string(rank)}}},
              run.options);
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->is_killed, rank == 1);
  }
}

TEST_F(InjectionTest, CountsNoCallThatFails) {
  TracedRun run;
  run.options.injections = {
      At(OperationKind::kWrite, 1, InjectionKind::kKillAfter)};
  EXPECT_EQ(run.Run({"unreadable-memory", "{out}"}).signal, SIGKILL);
  EXPECT_EQ(ContentsOf(run.out() + "/f"), "good");
}

TEST(CheckInjectionTest, RefusesMeaninglessInjections) {
  const Injection cases[] = {
      {.at = {.occurrence = 0}},
      {.at = {.path = ""}},
      {.at = {.kind = OperationKind::kClose}},
      {.kind = InjectionKind::kFail},
      {.kind = InjectionKind::kFail, .error = 5000},
      {.kind = InjectionKind::kPause, .duration = Duration(-1)},
  };
  for (const Injection& injection : cases) {
    const Status status = CheckInjection(injection);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("expected"), std::string::npos);
    TraceOptions options;
    options.injections = {injection};
    EXPECT_EQ(Trace({.arguments = {"true"}}, options).status().code(),
              Code::kInvalidArgument);
  }
  EXPECT_TRUE(CheckInjection({}).ok());
}

}  // namespace
}  // namespace gauntlet
