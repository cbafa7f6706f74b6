#include "harness/trainer/run/trial.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/trace/log/operation_log.h"
#include "harness/run/files/temporary_directory.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/run/trial_process.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TrialTest : public testing::Test {
 protected:
  TrialTest() {
    auto made = TemporaryDirectory::Make("trial-test");
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    folder_ = std::move(*made);
    for (const std::string name : {"place", "own", "run", "log"})
      std::filesystem::create_directories(Path(name));
  }

  std::string Path(const std::string& name) const {
    return folder_->path() + "/" + name;
  }

  // Returns a trial of a shell command that sees the folder "own" at "place".
  TrainerTrial Shell(const std::string& command) const {
    TrainerTrial trial;
    trial.arguments = {"/bin/sh", "-c", command};
    trial.environment = {"PATH=/usr/bin:/bin", "OUT=" + Path("place")};
    trial.output_file = Path("run/output.txt");
    trial.mounts = {{.from = Path("own"), .at = Path("place")}};
    trial.directories = {Path("place")};
    trial.time_limit = std::chrono::seconds(20);
    trial.background_grace = std::chrono::milliseconds(100);
    return trial;
  }

  Result<TrialEnd> Run(const TrainerTrial& trial) const {
    return RunTrial({.program = TRIAL_PROGRAM}, trial, Path("run"));
  }
  std::string Output() const { return ReadTextFile(Path("run/output.txt")); }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteTextFile(Path(name), text).ok());
  }

 private:
  std::unique_ptr<TemporaryDirectory> folder_;
};

// Skips its tests without namespaces, which some containers forbid.
class NamespaceTrialTest : public TrialTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(Path("probe"));
    const Status status = ProbeNamespaces(
        {.program = TRIAL_PROGRAM}, NetworkAccess::kPrivate, Path("probe"));
    if (!status.ok()) GTEST_SKIP() << status.message();
  }
};

TEST_F(NamespaceTrialTest, ProgramSeesItsOwnDirectoryAndItsEndIsReported) {
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

TEST_F(NamespaceTrialTest, ReadsAreThoseOfFilesThatWereThere) {
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

TEST_F(NamespaceTrialTest, ProcessesAndNetworkAreItsOwn) {
  const auto end = Run(Shell("echo $$; cat /proc/net/dev | grep -c :"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  const std::string output = Output();
  const size_t line = output.find('\n');
  EXPECT_LT(std::stoi(output), 10) << output;  // few processes exist before it
  EXPECT_EQ(output.substr(line + 1), "1\n");   // only loopback
}

TEST_F(NamespaceTrialTest, BackgroundProcessesAreEnded) {
  const auto end = Run(Shell("setsid sleep 1000 & sleep 0.1; exit 0"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(end->background_processes, 1);
  EXPECT_LT(end->seconds, 10);
}

TEST_F(TrialTest, WithoutNamespacesRunsInPlace) {
  TrainerTrial trial = Shell("echo made > $OUT/made");
  trial.isolation = Isolation::kNone;
  trial.mounts.clear();
  const auto end = Run(trial);
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(ReadTextFile(Path("place/made")), "made\n");
}

// Runs without namespaces, where more could leak.
class PlainTrialTest : public TrialTest {
 protected:
  TrainerTrial Plain(const std::string& command) const {
    TrainerTrial trial = Shell(command);
    trial.isolation = Isolation::kNone;
    trial.mounts.clear();
    return trial;
  }
};

TEST_F(PlainTrialTest, ProgramHasNoInputAndNoForeignDescriptors) {
  const auto end =
      Run(Plain("read line || echo end; ls /proc/self/fd | wc -l"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(Output(), "end\n4\n");  // 0, 1, 2, and the one of ls
}

TEST_F(PlainTrialTest, EndsAtTheTimeLimit) {
  TrainerTrial trial = Plain("echo begun; sleep 1000");
  trial.time_limit = std::chrono::milliseconds(300);
  const auto end = Run(trial);
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_TRUE(end->is_timed_out);
  EXPECT_EQ(Output(), "begun\n");
}

TEST_F(PlainTrialTest, RecordsOperationsInALog) {
  TrainerTrial trial = Plain("echo made > $OUT/made; mv $OUT/made $OUT/moved");
  trial.log_folder = Path("log");
  const auto end = Run(trial);
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

TEST_F(PlainTrialTest, InjectsFaults) {
  TrainerTrial trial = Plain("echo 1 > $OUT/a; echo 2 > $OUT/b");
  trial.injections = {{.at = {.path = "b", .kind = OperationKind::kWrite},
                       .kind = InjectionKind::kKillBefore}};
  const auto end = Run(trial);
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_TRUE(end->is_killed);
  EXPECT_THAT(end->injected_at, ElementsAre(HasSubstr("b")));
  EXPECT_EQ(ReadTextFile(Path("place/a")), "1\n");
  EXPECT_EQ(ReadTextFile(Path("place/b")), "");
}

TEST_F(PlainTrialTest, CommandThatDoesNotExistIsOneLine) {
  TrainerTrial trial = Plain("");
  trial.arguments = {"no-such-program"};
  const auto end = Run(trial);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.status().code(), Code::kNotFound);
  EXPECT_EQ(end.status().message(),
            "no-such-program: command not found in PATH");
}

TEST_F(PlainTrialTest, InterruptionEndsTheProgram) {
  const TrainerTrial trial = Plain("echo $$ > $OUT/pid; sleep 1000");
  const auto has_begun = [this] {
    return !ReadTextFile(Path("place/pid")).empty();
  };
  const auto end = RunTrial(
      {.program = TRIAL_PROGRAM, .interrupted = has_begun}, trial, Path("run"));
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.status().code(), Code::kCancelled);
  const std::string pid = ReadTextFile(Path("place/pid"));
  // The kernel ends the process with its tracer, soon but maybe after this
  // look.
  const std::string exe = "/proc/" + pid.substr(0, pid.size() - 1) + "/cmdline";
  for (int i = 0; i < 100 && !ReadTextFile(exe).empty(); ++i) usleep(20'000);
  EXPECT_THAT(ReadTextFile(exe), IsEmpty());
}

TEST(TrialJsonTest, KeepsEverything) {
  TrainerTrial trial;
  trial.arguments = {"a", "b \"c\""};
  trial.environment = {"A=1"};
  trial.working_directory = "/w";
  trial.isolation = Isolation::kNone;
  trial.network = NetworkAccess::kShared;
  trial.mounts = {{.from = "/f", .at = "/a"}};
  trial.directories = {"/a"};
  trial.log_folder = "/l";
  trial.log_limits = {.bytes = 5, .operations = 6};
  trial.fork_server = "/s";
  trial.injections = {{.at = {.path = "*.pt",
                              .kind = OperationKind::kRename,
                              .rank = 1,
                              .occurrence = 2},
                       .kind = InjectionKind::kFail,
                       .torn_bytes = 3,
                       .error = 28,
                       .repeats = true,
                       .duration = std::chrono::seconds(1)}};
  const auto text = TrialToJson(trial);
  ASSERT_TRUE(text.ok());
  const auto read = TrialFromJson(*text);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const auto again = TrialToJson(*read);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *text);
  EXPECT_EQ(read->injections[0].at.rank, 1);
}

TEST(TrialJsonTest, RefusesWhatIsNotUtf8) {
  TrainerTrial trial;
  trial.environment = {"A=\xff"};
  EXPECT_EQ(TrialToJson(trial).status().code(), Code::kInvalidArgument);
}

TEST(TrialJsonTest, RefusesDamagedFiles) {
  for (const std::string text : {"", "[]", "{}", "{\"exit_code\": \"x\"}"}) {
    EXPECT_EQ(TrialEndFromJson(text).status().code(), Code::kDataLoss) << text;
    EXPECT_EQ(TrialFromJson(text).status().code(), Code::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace gauntlet
