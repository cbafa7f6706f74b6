#include "harness/trainer/run/trainer_run.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/trace/log/operation_log.h"
#include "harness/run/files/temporary_directory.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/run/run_process.h"
#include <sys/wait.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TrainerRunTest : public testing::Test {
 protected:
  TrainerRunTest() {
    auto made = TemporaryDirectory::Make("run-test");
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    folder_ = std::move(*made);
    for (const std::string name : {"place", "own", "run", "log"})
      std::filesystem::create_directories(Path(name));
  }

  std::string Path(const std::string& name) const {
    return folder_->path() + "/" + name;
  }

  // Returns a run of a shell command that sees the folder "own" at "place".
  TrainerRun Shell(const std::string& command) const {
    TrainerRun run;
    run.arguments = {"/bin/sh", "-c", command};
    run.environment = {"PATH=/usr/bin:/bin", "OUT=" + Path("place")};
    run.output_file = Path("run/output.txt");
    run.mounts = {{.from = Path("own"), .at = Path("place")}};
    run.directories = {Path("place")};
    run.time_limit = std::chrono::seconds(20);
    run.background_grace = std::chrono::milliseconds(100);
    return run;
  }

  Result<TrainerRunEnd> Run(const TrainerRun& run) const {
    return RunInOwnProcess({.program = RUN_PROGRAM}, run, Path("run"));
  }
  std::string Output() const { return ReadTextFile(Path("run/output.txt")); }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteTextFile(Path(name), text).ok());
  }

 private:
  std::unique_ptr<TemporaryDirectory> folder_;
};

// Some containers forbid namespaces. There, this fixture skips its tests.
class NamespaceRunTest : public TrainerRunTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(Path("probe"));
    const Status status = ProbeNamespaces(
        {.program = RUN_PROGRAM}, NetworkAccess::kPrivate, Path("probe"));
    if (!status.ok()) GTEST_SKIP() << status.message();
  }
};

TEST_F(NamespaceRunTest, ProgramSeesItsOwnDirectoryAndItsEndIsReported) {
  Write("own/given", "given");
  Write("place/given", "not this");
  const auto end =
      Run(Shell("cat $OUT/given; echo made > $OUT/made; echo >&2 bad; exit 3"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->signal, 0);
  EXPECT_GT(end->seconds, 0);
  EXPECT_EQ(Output(), "givenbad\n");
  EXPECT_EQ(ReadTextFile(Path("own/made")), "made\n");
  EXPECT_FALSE(std::filesystem::exists(Path("place/made")));
}

TEST_F(NamespaceRunTest, Reads_AreOfFilesPresentBefore) {
  std::filesystem::create_directories(Path("own/ckpt-2"));
  Write("own/ckpt-2/model", "model");
  Write("own/config", "config");
  Write("own/unread", "unread");
  const auto end =
      Run(Shell("cat $OUT/ckpt-2/model $OUT/config $OUT/ckpt-2/model; ls $OUT;"
                "echo new > $OUT/new; cat $OUT/new"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_THAT(end->reads,
              ElementsAre(FileRead{0, "ckpt-2/model"}, FileRead{0, "config"}));
  EXPECT_THAT(end->made, ElementsAre(FileRead{0, "new"}));
  EXPECT_TRUE(end->are_reads_complete);
}

TEST_F(NamespaceRunTest, ProcessesAndNetworkAreItsOwn) {
  const auto end = Run(Shell("echo $$; cat /proc/net/dev | grep -c :"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  const std::string output = Output();
  const size_t line = output.find('\n');
  EXPECT_LT(std::stoi(output), 10) << output;  // few processes exist before it
  EXPECT_EQ(output.substr(line + 1), "1\n");   // only loopback
}

TEST_F(NamespaceRunTest, BackgroundProcessesAreEnded) {
  const auto end = Run(Shell("setsid sleep 1000 & sleep 0.1; exit 0"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(end->background_processes, 1);
  EXPECT_LT(end->seconds, 10);
}

TEST_F(TrainerRunTest, WithoutNamespacesRunsInPlace) {
  TrainerRun run = Shell("echo made > $OUT/made");
  run.isolation = Isolation::kNone;
  run.mounts.clear();
  const auto end = Run(run);
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(ReadTextFile(Path("place/made")), "made\n");
}

// Runs without namespaces, where more could leak.
class PlainRunTest : public TrainerRunTest {
 protected:
  TrainerRun Plain(const std::string& command) const {
    TrainerRun run = Shell(command);
    run.isolation = Isolation::kNone;
    run.mounts.clear();
    return run;
  }
};

TEST_F(PlainRunTest, ProgramHasNoInputAndNoForeignDescriptors) {
  const auto end =
      Run(Plain("read line || echo end; ls /proc/self/fd | wc -l"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(Output(), "end\n4\n");  // 0, 1, 2, and the one of ls
}

TEST_F(PlainRunTest, EndsAtTheTimeLimit) {
  TrainerRun run = Plain("echo begun; sleep 1000");
  run.time_limit = std::chrono::milliseconds(300);
  const auto end = Run(run);
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_TRUE(end->is_timed_out);
  EXPECT_EQ(Output(), "begun\n");
}

TEST_F(PlainRunTest, RecordsOperationsInALog) {
  TrainerRun run = Plain("echo made > $OUT/made; mv $OUT/made $OUT/moved");
  run.log_folder = Path("log");
  const auto end = Run(run);
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  const auto log = OperationLog::Load(Path("log"));
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  std::vector<std::string> words;
  for (const FileOperation& operation : log->operations()) {
    if (!operation.implied && IsCrashPoint(operation.kind))
      words.push_back(DescribeFileOperation(operation));
  }
  EXPECT_THAT(words, ElementsAre("create made", "write [0, 5) of made",
                                 "rename made to moved"));
}

TEST_F(PlainRunTest, InjectsFaults) {
  TrainerRun run = Plain("echo 1 > $OUT/a; echo 2 > $OUT/b");
  run.injections = {{.at = {.path = "b", .kind = OperationKind::kWrite},
                     .kind = InjectionKind::kKillBefore}};
  const auto end = Run(run);
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_TRUE(end->is_killed);
  EXPECT_THAT(end->injected_at, ElementsAre(HasSubstr("b")));
  EXPECT_EQ(ReadTextFile(Path("place/a")), "1\n");
  EXPECT_EQ(ReadTextFile(Path("place/b")), "");
}

TEST_F(PlainRunTest, MissingCommand_IsReportedInOneLine) {
  TrainerRun run = Plain("");
  run.arguments = {"no-such-program"};
  const auto end = Run(run);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.status().code(), Code::kNotFound);
  EXPECT_EQ(end.status().message(),
            "no-such-program: command not found in PATH");
}

// The process of the run fails to write the end: /dev/full has no space left.
TEST_F(PlainRunTest, FullDiskAtTheLastSave_AdvisesToFreeSpace) {
  std::filesystem::create_symlink("/dev/full", Path("run/end.json"));
  const auto end = Run(Plain("exit 0"));
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(end.status().message(), "no space left in " + Path("run") +
                                        ": free space, or use --out DIR");
}

TEST_F(PlainRunTest, OtherErrorOfWritingTheEndIsReportedAsItIs) {
  std::filesystem::create_symlink(Path("none/end"), Path("run/end.json"));
  const auto end = Run(Plain("exit 0"));
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.status().code(), Code::kIoError);
  EXPECT_THAT(end.status().message(),
              HasSubstr("ended with 1 and no result: gauntlet trainer-run: "));
}

TEST_F(PlainRunTest, InterruptionEndsTheProgram) {
  const TrainerRun run = Plain("echo $$ > $OUT/pid; sleep 1000");
  const auto has_begun = [this] {
    return !ReadTextFile(Path("place/pid")).empty();
  };
  const auto end = RunInOwnProcess(
      {.program = RUN_PROGRAM, .interrupted = has_begun}, run, Path("run"));
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.status().code(), Code::kCancelled);
  const std::string pid = ReadTextFile(Path("place/pid"));
  // When the tracer ends, the kernel ends the process too, but perhaps only
  // after the first check.
  const std::string exe = "/proc/" + pid.substr(0, pid.size() - 1) + "/cmdline";
  for (int i = 0; i < 100 && !ReadTextFile(exe).empty(); ++i) usleep(20'000);
  EXPECT_THAT(ReadTextFile(exe), IsEmpty());
}

// A run may be shorter than the time between two checks for an interruption.
TEST_F(PlainRunTest, NoRunStartsAfterAnInterruption) {
  const auto end = RunInOwnProcess(
      {.program = RUN_PROGRAM, .interrupted = [] { return true; }},
      Plain("echo made > $OUT/made"), Path("run"));
  EXPECT_EQ(end.status().code(), Code::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(Path("place/made")));
}

TEST(TrainerRunJsonTest, KeepsEverything) {
  TrainerRun run;
  run.arguments = {"a", "b \"c\""};
  run.environment = {"A=1"};
  run.working_directory = "/w";
  run.isolation = Isolation::kNone;
  run.network = NetworkAccess::kShared;
  run.mounts = {{.from = "/f", .at = "/a"}};
  run.directories = {"/a"};
  run.log_folder = "/l";
  run.log_limits = {.bytes = 5, .operations = 6};
  run.fork_server = "/s";
  run.injections = {{.at = {.path = "*.pt",
                            .kind = OperationKind::kRename,
                            .rank = 1,
                            .occurrence = 2},
                     .kind = InjectionKind::kFail,
                     .torn_bytes = 3,
                     .error = 28,
                     .repeats = true,
                     .duration = std::chrono::seconds(1)}};
  const auto text = TrainerRunToJson(run);
  ASSERT_TRUE(text.ok());
  const auto read = TrainerRunFromJson(*text);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const auto again = TrainerRunToJson(*read);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *text);
  EXPECT_EQ(read->injections[0].at.rank, 1);
}

TEST(TrainerRunJsonTest, RefusesInvalidUtf8) {
  TrainerRun run;
  run.environment = {"A=\xff"};
  EXPECT_EQ(TrainerRunToJson(run).status().code(), Code::kInvalidArgument);
}

TEST(TrainerRunJsonTest, RefusesDamagedFiles) {
  for (const std::string text : {"", "[]", "{}", "{\"exit_code\": \"x\"}"}) {
    EXPECT_EQ(TrainerRunEndFromJson(text).status().code(), Code::kDataLoss)
        << text;
    EXPECT_EQ(TrainerRunFromJson(text).status().code(), Code::kDataLoss)
        << text;
  }
}

TEST(RunMainTest, EndsWithCode_WhenNeitherEndNorMessageCanBeWritten) {
  const int status = std::system(RUN_PROGRAM " trainer-run /none 2>/dev/full");
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(RunMainTest, FullDiskIsNamed) {
  const auto folder = TemporaryDirectory::Make("full-disk-test");
  ASSERT_TRUE(folder.ok());
  const std::string program = (*folder)->path() + "/program";
  ASSERT_TRUE(WriteTextFile(program, "#!/bin/sh\nexit 28\n").ok());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Result<TrainerRunEnd> end = RunInOwnProcess(
      {.program = program}, {.environment = {"PATH=/usr/bin:/bin"}},
      (*folder)->path());
  EXPECT_EQ(end.status().code(), Code::kResourceExhausted);
  EXPECT_THAT(end.status().message(), HasSubstr("no space left in "));
}

}  // namespace
}  // namespace gauntlet
