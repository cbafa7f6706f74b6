// The log of a program reproduces the directory that the program left.
#include <algorithm>
#include <set>
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/inject/child_process.h"
#include "tests/chaos/trace/traced_run.h"
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

constexpr int kNotOnThisFileSystem = 77;  // exit code of the victim

struct RecordingTest : TraceTest {};

// Tests with commands whose logs are checked only for completeness.
class ReplayTest : public TraceTest,
                   public testing::WithParamInterface<const char*> {};

TEST_P(ReplayTest, LeadsToSameDirectory) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({GetParam(), "{out}", "{aside}"});
  if (outcome.exit_code == kNotOnThisFileSystem)
    GTEST_SKIP() << "the file system of " << run.out() << " cannot do this";
  for (const std::string& note : outcome.notes)
    EXPECT_EQ(note.find("in the middle of"), std::string::npos) << note;
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.background_processes, 0);
  EXPECT_FALSE(std::filesystem::is_empty(run.out()));
  // The creation of each file was recorded: only "moves" brings files from
  // outside.
  const bool moves = GetParam() == std::string("moves");
  EXPECT_EQ(run.CountOf(OperationKind::kEnter), moves ? 3U : 0U) << run.Text();
  run.ExpectReplayed();
}

INSTANTIATE_TEST_SUITE_P(
    Commands, ReplayTest,
    testing::Values("plain", "threads", "vfork", "spawn", "exec-from-thread",
                    "append", "vectors", "copies", "pipes", "clone", "direct",
                    "handles", "starts", "taken-descriptors", "allocate",
                    "renames", "names", "unnamed", "moves", "special-files",
                    "mapping", "descriptors", "changing-buffer",
                    "unreadable-memory", "write-only", "stops", "overlap",
                    "other-calls", "chrooted", "restarted"),
    [](const auto& param) {
      std::string name = param.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// Runs the body in a child process of an ordinary user, like most training
// runs. Returns false if this is not possible here.
template <typename Body>
bool SucceedsForOrdinaryUser(Body body) {
  constexpr uid_t kNobody = 65534;
  constexpr int kNotPossible = 77;
  const pid_t child = StartChild([&] {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0))
      _exit(kNotPossible);
    // Makes this process readable to the user, as if the user had started it.
    prctl(PR_SET_DUMPABLE, 1);
    if (access(VICTIM, X_OK) != 0) _exit(kNotPossible);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  });
  const std::string end = WaitFor(child);
  if (end == fmt::format("exit {}", kNotPossible)) return false;
  EXPECT_EQ(end, "exit 0");
  return true;
}

TEST_F(RecordingTest, WorksForOrdinaryUser_EvenIfFileIsUnreadable) {
  for (const char* const command : {"plain", "write-only", "threads"}) {
    const bool is_possible = SucceedsForOrdinaryUser([&] {
      TracedRun run;
      EXPECT_EQ(run.Run({command, "{out}"}).exit_code, 0) << command;
      run.ExpectReplayed();
    });
    if (!is_possible) GTEST_SKIP() << "no other user can run " << VICTIM;
  }
}

TEST_F(RecordingTest, ReportsAProcessThatHidesItsFiles) {
  const bool is_possible = SucceedsForOrdinaryUser([] {
    TracedRun run;
    const TraceOutcome outcome = run.Run({"hidden", "{out}"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(Contains(outcome.notes, "hides its files"));
  });
  if (!is_possible) GTEST_SKIP() << "no other user can run " << VICTIM;
}

TEST_F(RecordingTest, NamesEachKindOfOperation) {
  TracedRun run;
  run.Run({"plain", "{out}"});
  std::string text;
  for (const FileOperation& operation : run.operations()) {
    if (operation.kind != OperationKind::kClose)
      text += DescribeFileOperation(operation) + "\n";
  }
  EXPECT_EQ(text,
            "sync all files\n"
            "mkdir sub\n"
            "create sub/a\n"
            "write [0, 5000) of sub/a\n"
            "write [20000, 20005) of sub/a\n"
            "truncate sub/a to 30000 bytes\n"
            "chmod sub/a to 0600\n"
            "sync sub/a\n"
            "sync_data sub/a\n"
            "rename sub/a to b\n"
            "link b as sub/c\n"
            "symlink sub/s to ../b\n"
            "write [5000, 5004) of b\n"
            "sync_directory .\n"
            "mkdir gone\n"
            "rmdir gone\n"
            "create short\n"
            "write [0, 1) of short\n"
            "unlink short\n"
            "create emptied\n"
            "write [0, 10) of emptied\n"
            "truncate emptied to 0 bytes\n"
            "set_times emptied\n"
            "sync all files\n");
}

TEST_F(RecordingTest, KeepsTimes) {
  TracedRun run;
  run.Run({"plain", "{out}"});
  for (const FileOperation& operation : run.operations()) {
    if (operation.kind != OperationKind::kSetTimes) continue;
    EXPECT_EQ(operation.access_time, 1'000'000'000'005);
    EXPECT_EQ(operation.modification_time, 2'000'000'000'007);
  }
  EXPECT_EQ(run.CountOf(OperationKind::kSetTimes), 1U);
}

TEST_F(RecordingTest, AddsSync_ToSynchronousWrites) {
  TracedRun run;
  run.Run({"vectors", "{out}"});
  EXPECT_EQ(run.CountOf(OperationKind::kSyncData), 2U) << run.Text();
  EXPECT_EQ(run.CountOf(OperationKind::kSyncFile), 1U) << run.Text();
  for (const FileOperation& operation : run.operations()) {
    if (operation.call == 0 || operation.kind == OperationKind::kClose)
      continue;
    const bool is_sync = operation.kind == OperationKind::kSyncData ||
                         operation.kind == OperationKind::kSyncFile;
    EXPECT_EQ(operation.implied, is_sync);
  }
}

TEST_F(RecordingTest, IgnoresDirectoryWithLongerName) {
  TracedRun run;
  run.Run({"names", "{out}"});
  EXPECT_EQ(run.Text().find("outside\n"), run.Text().find("by-outside\n") + 3)
      << run.Text();
  std::filesystem::remove_all(run.out() + "2");
}

TEST_F(RecordingTest, DistinguishesFiles_IfInodeNumberIsReused) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"used-again", "{out}", "{aside}"});
  if (outcome.exit_code == kNotOnThisFileSystem)
    GTEST_SKIP() << "the file system of " << run.out() << " cannot do this";
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(run.CountOf(OperationKind::kWrite), 0U) << run.Text();
}

TEST_F(RecordingTest, CountsRestartedCallOnce) {
  TracedRun run;
  run.Run({"restarted", "{out}"});
  EXPECT_EQ(run.CountOf(OperationKind::kWrite), 1U) << run.Text();
}

TEST_F(RecordingTest, LeavesFailedAndShortCallsAsTheyWere) {
  TracedRun run;
  run.Run({"unreadable-memory", "{out}"});
  ASSERT_EQ(run.CountOf(OperationKind::kWrite), 1U) << run.Text();
  for (const FileOperation& operation : run.operations()) {
    if (operation.kind == OperationKind::kWrite) {
      EXPECT_EQ(operation.length, 4U);
    }
  }
}

TEST_F(RecordingTest, OrdersCallsThatCannotBlock) {
  TracedRun run;
  run.Run({"threads", "{out}"});
  uint64_t last_end = 0;
  std::set<int32_t> threads;
  for (const FileOperation& operation : run.operations()) {
    EXPECT_GT(operation.begin, last_end);
    last_end = operation.end;
    threads.insert(operation.thread);
  }
  EXPECT_GE(threads.size(), 4U);
}

TEST_F(RecordingTest, KeepsBeginAndEnd_OfCallsThatOverlap) {
  TracedRun run;
  run.Run({"overlap", "{out}"});
  const auto spliced = std::find_if(
      run.operations().begin(), run.operations().end(), [](const auto& op) {
        return op.kind == OperationKind::kWrite && op.name.path == "spliced";
      });
  const auto sync = std::find_if(
      run.operations().begin(), run.operations().end(),
      [](const auto& op) { return op.kind == OperationKind::kSyncFile; });
  ASSERT_NE(spliced, run.operations().end());
  ASSERT_NE(sync, run.operations().end());
  EXPECT_LT(spliced->begin, sync->begin);
  EXPECT_GT(spliced->end, sync->end);
}

TEST_F(RecordingTest, ReportsSharedMapping_WithItsBytesAtMsyncMunmapAndExit) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"mapping", "{out}"});
  EXPECT_TRUE(Contains(outcome.notes, "mapped: written through shared memory"));
  std::vector<std::string> snapshots;
  for (const FileOperation& operation : run.operations()) {
    if (!operation.by_mapping) continue;
    std::string bytes;
    ASSERT_TRUE(run.log()
                    .ReadBytes(operation.bytes,
                               [&](std::span<const std::byte> piece) {
                                 for (const std::byte byte : piece)
                                   bytes += static_cast<char>(byte);
                                 return OkStatus();
                               })
                    .ok());
    snapshots.push_back(bytes.substr(0, 3));
  }
  EXPECT_EQ(snapshots, (std::vector<std::string>{"one", "two", "six"}));
}

TEST_F(RecordingTest, FollowsEachWayToCloseDescriptors) {
  TracedRun run;
  EXPECT_EQ(run.Run({"closes", "{out}"}).exit_code, 0);
  std::vector<std::string> closed;
  for (const FileOperation& operation : run.operations()) {
    if (operation.kind == OperationKind::kClose)
      closed.push_back(operation.name.path);
  }
  EXPECT_THAT(closed, testing::ElementsAre("by-dup2", "by-dup3",
                                           "by-close-range", "by-exit"));
}

TEST_F(RecordingTest, FollowsTruncationByOpenOfHandle) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"handles", "{out}"});
  if (outcome.exit_code == kNotOnThisFileSystem)
    GTEST_SKIP() << "files cannot be opened by handles here";
  EXPECT_NE(run.Text().find("truncate f to 0 bytes"), std::string::npos)
      << run.Text();
}

TEST_F(RecordingTest, NotesUnrecordedCalls) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"not-recorded", "{out}"});
  EXPECT_EQ(outcome.exit_code, 0);
  const std::string attributes =
      " on f: extended attributes are not recorded: crash states lack them";
  const std::string owners =
      " on f: owners are not recorded: the files of crash states belong to "
      "this user";
  const std::string special =
      ": devices, FIFOs and sockets are not recorded: crash states lack them";
  const std::string mounts =
      " on mounted: changes in a file system that the program mounts are not "
      "recorded";
  // A chown to the same owner changes nothing, so it is not noted.
  EXPECT_THAT(
      outcome.notes,
      testing::UnorderedElementsAre(
          "setxattr" + attributes, "lsetxattr" + attributes,
          "fsetxattr" + attributes, "fchown" + owners, "fchownat" + owners,
          "mknod on fifo" + special, "bind on socket" + special,
          "renameat2 with RENAME_WHITEOUT on moved" + special,
          "ioctl on f: allocation by ioctl is not recorded: crash states may "
          "lack its effect; fallocate is recorded",
          "mount" + mounts, "move_mount" + mounts));
}

TEST_F(RecordingTest, HasNoNote_IfSuchCallsAreOnFilesElsewhere) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"not-recorded", "{aside}"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.notes.size(), 1U) << outcome.notes.front();
  EXPECT_TRUE(Contains(outcome.notes, "files outside are not watched"));
}

TEST_F(RecordingTest, EntersExistingFiles) {
  TracedRun run;
  std::filesystem::create_directories(run.out() + "/old/sub");
  std::ofstream(run.out() + "/old/sub/f") << "old bytes";
  std::filesystem::create_hard_link(run.out() + "/old/sub/f",
                                    run.out() + "/same");
  const timespec times[2] = {{.tv_sec = 3000}, {.tv_sec = 2000}};
  for (const std::string name : {"/old/sub/f", "/old/sub", "/old"})
    utimensat(AT_FDCWD, (run.out() + name).c_str(), times, 0);
  run.Run({"one", "{out}"});
  EXPECT_EQ(run.CountOf(OperationKind::kEnter), 2U) << run.Text();
  EXPECT_EQ(run.operations()[0].call, 0U);
  for (const FileOperation& op : std::span(run.operations()).first(4))
    EXPECT_EQ(op.modification_time, 2'000'000'000'000) << op.name.path;
  run.ExpectReplayed();
}

TEST_F(RecordingTest, NotesFilesMadeOutside) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"one", run.aside()});
  EXPECT_EQ(run.CountOf(OperationKind::kCreate), 0U) << run.Text();
  EXPECT_TRUE(Contains(outcome.notes,
                       "files outside are not watched, and shared by all "
                       "runs: " +
                           run.aside() + "/one"));
}

TEST_F(RecordingTest, DistinguishesRanks) {
  TracedRun run;
  const auto outcome =
      Trace({.arguments = {VICTIM, "one", run.out()},
             .environment = {{"A=b", "OMPI_COMM_WORLD_RANK=3"}}},
            run.options);
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(run.operations().back().rank, 3);
  EXPECT_NE(run.Text().find("rank 3: create one"), std::string::npos);
}

TEST_F(RecordingTest, RecordsReads_IfAskedFor) {
  for (const bool asked : {false, true}) {
    TracedRun run;
    run.options.record_reads = asked;
    std::ofstream(run.out() + "/f") << "bytes";
    run.Run({"read", "{out}"});
    EXPECT_EQ(run.CountOf(OperationKind::kOpenToRead), asked ? 1U : 0U);
  }
}

TEST_F(RecordingTest, WatchesSeveralDirectories) {
  TracedRun run;
  const Folder folder;
  auto log =
      OperationLog::Create(folder.Make("log"), {run.out(), run.aside()}, {});
  ASSERT_TRUE(log.ok());
  run.options.log = &*log;
  run.options.directories = {run.out(), run.aside()};
  EXPECT_EQ(run.Run({"moves", "{out}", "{aside}"}).exit_code, 0);
  Replay replay(*log, folder.Make("replayed"));
  const Status status = replay.DoAll();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(DirectoryText(replay.Directory(0)), DirectoryText(run.out()));
  EXPECT_EQ(DirectoryText(replay.Directory(1)), DirectoryText(run.aside()));
}

TEST_F(RecordingTest, FollowsPythonProgram) {
  TracedRun run;
  const std::string program =
      "import os, sys, shutil, tempfile\n"
      "out = sys.argv[1]\n"
      "for step in range(3):\n"
      "    with tempfile.NamedTemporaryFile(dir=out, delete=False) as f:\n"
      "        f.write(os.urandom(300000))\n"
      "        f.flush()\n"
      "        os.fsync(f.fileno())\n"
      "    os.makedirs(f'{out}/step-{step}', exist_ok=True)\n"
      "    os.replace(f.name, f'{out}/step-{step}/model')\n"
      "    shutil.copy(f'{out}/step-{step}/model', f'{out}/latest')\n"
      "shutil.rmtree(f'{out}/step-0')\n";
  const auto outcome =
      Trace({.arguments = {"python3", "-c", program, run.out()}}, run.options);
  if (outcome.status().code() == Code::kNotFound)
    GTEST_SKIP() << outcome.status().message();
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(outcome->exit_code, 0);
  run.ExpectReplayed();
}

TEST_F(RecordingTest, EndsProgram_AtLimitOfLog) {
  for (const LogLimits limits :
       {LogLimits{.bytes = 100'000}, LogLimits{.operations = 10}}) {
    TracedRun run;
    const Folder folder;
    auto log = OperationLog::Create(folder.path(), {run.out()}, limits);
    ASSERT_TRUE(log.ok());
    run.options.log = &*log;
    const auto outcome = run.Start({"blocks", "{out}", "100000"});
    EXPECT_EQ(outcome.status().code(), Code::kResourceExhausted);
    EXPECT_NE(outcome.status().message().find("the limit of a recording"),
              std::string::npos)
        << outcome.status().message();
  }
}

}  // namespace
}  // namespace gauntlet
