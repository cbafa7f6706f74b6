#include "harness/trainer/python/fork_server.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/files/temporary_directory.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/python/python_command.h"
#include "harness/trainer/run/run_process.h"
#include "harness/trainer/run/trainer_command.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

class ForkServerTest : public testing::Test {
 protected:
  void SetUp() override {
    start_ = std::filesystem::current_path();
    auto made = TemporaryDirectory::Make("fork-server-test");
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    folder_ = std::move(*made);
    for (const std::string name :
         {"place", "own", "run", "server", "library/site-packages", "probe"})
      std::filesystem::create_directories(Path(name));
    const Status status = ProbeNamespaces(
        {.program = RUN_PROGRAM}, NetworkAccess::kPrivate, Path("probe"));
    if (!status.ok()) GTEST_SKIP() << status.message();
    if (std::system("python3 -c pass") != 0) GTEST_SKIP() << "no python3";
    std::filesystem::current_path(Path("own"));
  }
  void TearDown() override { std::filesystem::current_path(start_); }

  std::string Path(const std::string& name) const {
    return folder_->path() + "/" + name;
  }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteTextFile(Path(name), text).ok());
  }

  // Writes a library that the server may import.
  void WriteLibrary(const std::string& name, const std::string& text) const {
    Write("library/site-packages/" + name + ".py", text);
  }
  std::vector<std::string> Environment() const {
    return EnvironmentWith({"PYTHONPATH=" + Path("library/site-packages"),
                            "PYTHONDONTWRITEBYTECODE=1"});
  }

  Status Start(const std::string& modules) {
    auto server = ForkServer::Start({.command = {.interpreter = "python3"},
                                     .environment = Environment(),
                                     .modules = modules,
                                     .folder = Path("server")});
    if (!server.ok()) return server.status();
    server_ = std::move(*server);
    return OkStatus();
  }

  TrainerRun RunOf(const Words& arguments) const {
    TrainerRun run{.arguments = {"python3"},
                   .environment = Environment(),
                   .output_file = Path("run/output.txt"),
                   .mounts = {{.from = Path("own"), .at = Path("place")}},
                   .directories = {Path("place")},
                   .time_limit = std::chrono::seconds(20),
                   .background_grace = std::chrono::milliseconds(100)};
    run.arguments.insert(run.arguments.end(), arguments.begin(),
                         arguments.end());
    return run;
  }
  TrainerRunEnd Run(TrainerRun run) const {
    if (server_) run.fork_server = server_->folder().string();
    const auto end =
        RunInOwnProcess({.program = RUN_PROGRAM}, run, Path("run"));
    EXPECT_TRUE(end.ok()) << end.status().ToString();
    return end.ok() ? *end : TrainerRunEnd{.exit_code = -1};
  }
  std::string Output() const { return ReadTextFile(Path("run/output.txt")); }

  // Returns the exit code and the output.
  std::pair<int, std::string> Outcome(const Words& arguments) const {
    const TrainerRunEnd end = Run(RunOf(arguments));
    return {end.exit_code, Output()};
  }

  std::unique_ptr<ForkServer> server_;

 private:
  std::filesystem::path start_;
  std::unique_ptr<TemporaryDirectory> folder_;
};

TEST_F(ForkServerTest, ProgramsRunAsInFreshProcesses) {
  Write("own/facts.py", R"(
import atexit, json, os, sys, tempfile, threading
atexit.register(print, "at exit")
main = sys.modules["__main__"]
print(sys.argv, sys.path, sys.flags, sys.orig_argv, __name__, __file__)
print(main.__file__, main.__spec__ and main.__spec__.name, tempfile.tempdir)
print(sorted(os.environ.items()), os.getcwd(), os.listdir("."))
print(os.listdir("/proc/self/fd"), sys.stdin.read(), os.getpid() < 20)
print(type(main.__loader__).__name__, sorted(vars(main)))
threading.Timer(0.1, print, ["thread"]).start()
)");
  Write("own/fails.py", "def f():\n  raise ValueError('bad')\nf()\n");
  Write("own/syntax.py", "a b\n");
  Write("own/future.py", "def f(a: b): pass\nprint(1)\n");
  const std::vector<Words> commands = {
      {"facts.py", "a", "-b"},
      {Path("own/facts.py")},
      {"-m", "facts", "a"},
      {"-m", "none"},
      {"none.py"},
      {"fails.py"},
      {"-m", "fails"},
      {"syntax.py"},
      {"future.py"},
      {"-c", "import sys; print(sys.argv, sys.path, __name__)", "a"},
      {"-c", "import sys; sys.exit('message')"},
      {"-c", "import sys; sys.exit(3)"},
      {"-c", "import sys; sys.exit(-1)"},
      {"-c", "import sys; sys.exit(None)"},
      {"-c", "f = open(1, 'w', closefd=False); f.write('left open')"},
      {"-c", "import os; os._exit(4)"},
      {"-c", "import json, a_library; print(a_library.value)"},
  };
  WriteLibrary("a_library", "value = 7\n");
  std::vector<std::pair<int, std::string>> fresh;
  for (const Words& command : commands) fresh.push_back(Outcome(command));
  EXPECT_THAT(fresh[0].second, EndsWith("thread\nat exit\n"));
  const Status status = Start("json\na_library\ntempfile\nthreading\n");
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(server_->module_count(), 4);
  for (size_t i = 0; i < commands.size(); ++i)
    EXPECT_EQ(Outcome(commands[i]), fresh[i]) << ShellCommand(commands[i]);
}

TEST_F(ForkServerTest, ModulesAreImportedOnce) {
  WriteLibrary("slow", "import os; pid = os.getpid()\n");
  ASSERT_TRUE(Start("slow\n").ok());
  const Words command = {"-c", "import slow; print(slow.pid)"};
  const std::string first = Outcome(command).second;
  EXPECT_EQ(Outcome(command).second, first);
}

TEST_F(ForkServerTest, RandomNumbersDifferBetweenRuns) {
  ASSERT_TRUE(Start("random\nnumpy\nnumpy.random\n").ok());
  const Words command = {"-c",
                         "import random\nprint(random.random())\n"
                         "try: import numpy; print(numpy.random.rand())\n"
                         "except ImportError: pass\n"};
  const std::string first = Outcome(command).second;
  EXPECT_THAT(first, StartsWith("0."));
  EXPECT_NE(Outcome(command).second, first);
}

TEST_F(ForkServerTest, ReadsAndWritesAreInTheDirectoriesOfTheRun) {
  ASSERT_TRUE(Start("").ok());
  Write("own/given", "given");
  Write("place/given", "not this");
  const TrainerRunEnd end =
      Run(RunOf({"-c",
                 "import sys; place = sys.argv[1]\n"
                 "print(open(place + '/given').read())\n"
                 "open(place + '/made', 'w').write('made')",
                 Path("place")}));
  EXPECT_EQ(Output(), "given\n");
  EXPECT_EQ(ReadTextFile(Path("own/made")), "made");
  EXPECT_THAT(end.reads, ElementsAre(FileRead{0, "given"}));
}

TEST_F(ForkServerTest, HangingProgramEndsAtTheTimeLimit) {
  ASSERT_TRUE(Start("").ok());
  TrainerRun run =
      RunOf({"-uc", "import time; print('begun'); time.sleep(1000)"});
  run.time_limit = std::chrono::seconds(1);
  const TrainerRunEnd end = Run(run);
  EXPECT_TRUE(end.is_timed_out);
  EXPECT_LT(end.seconds, 10);
  EXPECT_EQ(Output(), "begun\n");
}

TEST_F(ForkServerTest, BackgroundProcessesAreEnded) {
  ASSERT_TRUE(Start("").ok());
  const TrainerRunEnd end =
      Run(RunOf({"-c",
                 "import subprocess as s\n"
                 "s.Popen(['setsid', 'sleep', '1000'])"}));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.background_processes, 1);
}

TEST_F(ForkServerTest, SignalToTheProcessGroupOfAProgramLeavesTheServer) {
  ASSERT_TRUE(Start("").ok());
  const TrainerRunEnd end =
      Run(RunOf({"-c", "import os, signal; os.kill(0, signal.SIGTERM)"}));
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(Outcome({"-c", "print(1)"}), std::pair(0, std::string("1\n")));
}

TEST_F(ForkServerTest, ModuleThatCannotBeImportedIsNamed) {
  WriteLibrary("broken", "raise ValueError('no such device')\n");
  ASSERT_TRUE(Start("json\nbroken\n").ok());
  EXPECT_THAT(server_->skipped(),
              ElementsAre("broken (ValueError: no such device)"));
  EXPECT_EQ(server_->module_count(), 1);
}

TEST_F(ForkServerTest, ThreadAtImportTurnsItOff) {
  WriteLibrary("threads",
               "import threading, time\nthreading.Thread(target=time.sleep, "
               "args=[1000], daemon=True).start()\n");
  const Status status = Start("json\nthreads\n");
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(status.message(), "the import of threads starts a thread");
}

TEST_F(ForkServerTest, ModuleOfTheProgramTurnsItOff) {
  Write("library/own_module.py", "");
  WriteLibrary("plugins", "import sys\nsys.path.append('" + Path("library") +
                              "')\nimport own_module\n");
  EXPECT_EQ(Start("plugins\n").message(), "the libraries import " +
                                              Path("library/own_module.py") +
                                              ", which is not a library's");
}

TEST_F(ForkServerTest, ListsLibraryModulesOnly) {
  WriteLibrary("a_library", "");
  Write("own/own_module.py", "");
  Write("own/main.py", "import json, own_module, a_library\nprint(__name__)\n");
  const auto parsed = ParsePythonCommand({"python3", "main.py"});
  ASSERT_TRUE(parsed.ok());
  auto command = ModuleListCommand(*parsed, Path("server"), Path("run/list"));
  ASSERT_TRUE(command.ok()) << command.status().ToString();
  EXPECT_EQ(Outcome({command->begin() + 1, command->end()}),
            std::pair(0, std::string("__main__\n")));
  const std::string list = ReadTextFile(Path("run/list"));
  EXPECT_THAT(list, HasSubstr("\njson\n"));
  EXPECT_THAT(list, HasSubstr("\na_library\n"));
  EXPECT_THAT(list, Not(HasSubstr("own_module")));
  EXPECT_THAT(list, Not(HasSubstr("__main__")));
}

TEST_F(ForkServerTest, EndedServerStartsNothing) {
  ASSERT_TRUE(Start("").ok());
  TrainerRun run = RunOf({"-c", "open('made', 'w')"});
  run.fork_server = server_->folder().string();
  server_.reset();
  const auto end = RunInOwnProcess({.program = RUN_PROGRAM}, run, Path("run"));
  EXPECT_EQ(end.status().code(), Code::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(Path("own/made")));
}

}  // namespace
}  // namespace gauntlet
