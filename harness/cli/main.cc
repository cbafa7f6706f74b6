// The program: parses the arguments and executes one command.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/app/ckpt/ckpt_command.h"
#include "engine/app/ckpt/model_commands.h"
#include "engine/app/cluster/worker_command.h"
#include "engine/app/train/cluster_training.h"
#include "engine/app/train/evaluate_command.h"
#include "engine/app/train/local_training.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/terminal/output_writer.h"
#include "engine/real/host/real_host.h"
#include "engine/real/real_world.h"
#include "harness/cli/bench/bench_command.h"
#include "harness/cli/bench/bench_scale_command.h"
#include "harness/cli/command_line.h"
#include "harness/cli/crash_test/crash_test_command.h"
#include "harness/cli/explore/explore_command.h"
#include "harness/cli/help/doctor.h"
#include "harness/cli/help/list_command.h"
#include "harness/cli/help_command.h"
#include "harness/cli/hooks/train_hooks.h"
#include "harness/cli/program/ample_stack.h"
#include "harness/cli/program/memory_limit.h"
#include "harness/cli/program/source_commit.h"
#include "harness/cli/record/judge_command.h"
#include "harness/cli/record/replay_command.h"
#include "harness/cli/record/show_command.h"
#include "harness/cli/report/report_command.h"
#include "harness/cli/run/run_command.h"
#include "harness/cli/scenario/upgrade_command.h"
#include "harness/cli/scenario/validate_command.h"
#include "harness/trainer/run/run_main.h"
#include "harness/trainer/run/trainer_run.h"
#include <fcntl.h>
#include <fmt/ostream.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = Environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos ||
           value.find("utf8") != value.npos;
  }
  return false;
}

TerminalFacts FactsOf(int fd) {
  const std::string_view term = Environment("TERM");
  TerminalFacts facts{.is_terminal = isatty(fd) == 1,
                      .no_color = !Environment("NO_COLOR").empty(),
                      .is_dumb = term.empty() || term == "dumb",
                      .utf8 = LocaleIsUtf8()};
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    facts.columns = size.ws_col;
  }
  return facts;
}

// Executes a command of any type.
struct Execute {
  Console& console;

  int operator()(const PrintTextCommand& command) const {
    console.out << command.text;
    return static_cast<int>(ExitCode::kOk);
  }
  int operator()(const BenchCheckpointCommand& command) const {
    return RunBenchCheckpoint(command, console);
  }
  int operator()(const BenchScaleCommand& command) const {
    return RunBenchScale(command, console);
  }
  int operator()(const HelpCommand& command) const {
    return RunHelp(command, console);
  }
  int operator()(const TrainCommand& command) const {
    return TrainByEnvironment(command, HarnessTrainHooks(), console);
  }
  int operator()(const LaunchCommand& command) const {
    return RunLaunch(command, HarnessTrainHooks(), console);
  }
  int operator()(const WorkerCommand& command) const {
    return RunWorkerProcess(command, HarnessTrainHooks(), console);
  }
  int operator()(const CheckpointListCommand& command) const {
    RealWorld real;
    World world = real.world();
    return RunCheckpointList(command, world, console);
  }
  int operator()(const CheckpointVerifyCommand& command) const {
    RealWorld real;
    World world = real.world();
    return RunCheckpointVerify(command, world, console);
  }
  int operator()(const CheckpointDiffCommand& command) const {
    RealWorld real;
    World world = real.world();
    return RunCheckpointDiff(command, world, console);
  }
  int operator()(const CheckpointExportCommand& command) const {
    RealWorld real;
    World world = real.world();
    return RunCheckpointExport(command, world, console);
  }
  int operator()(const CheckpointPredictCommand& command) const {
    RealWorld real;
    World world = real.world();
    return RunCheckpointPredict(command, world, console);
  }
  int operator()(const EvaluateCommand& command) const {
    return EvaluateLocally(command, console);
  }
  int operator()(const ListCommand& command) const {
    PosixStorage storage;
    return RunList(command, storage, console);
  }
  int operator()(const JudgeCommand& command) const {
    return RunJudge(command, console);
  }
  int operator()(const ShowCommand& command) const {
    return RunShow(command, console);
  }
  int operator()(const ReportCommand& command) const {
    return RunReport(command, console);
  }
  int operator()(const UpgradeCommand& command) const {
    PosixStorage storage;
    return RunUpgrade(command, storage, console);
  }
  int operator()(const ValidateCommand& command) const {
    return RunValidate(command, console);
  }
  int operator()(const DoctorCommand& command) const {
    return RunDoctor(command, console);
  }
  int operator()(const RunCommand& command) const {
    return RunScenarios(command, console);
  }
  int operator()(const CrashTestCommand& command) const {
    return RunCrashTest(command, console);
  }
  int operator()(const ReplayCommand& command) const {
    return RunReplay(command, console);
  }
  int operator()(const ExploreCommand& command) const {
    return RunExplore(command, console);
  }
};

// Returns true iff the command handles preemption notices. Such a command
// itself unblocks the signals that HoldSignals blocked.
bool AwaitsNotices(const Command& command) {
  return std::holds_alternative<TrainCommand>(command) ||
         std::holds_alternative<LaunchCommand>(command) ||
         std::holds_alternative<WorkerCommand>(command);
}

// Returns true iff `fd` is a pipe whose reader has closed it.
bool ReaderIsGone(int fd) {
  pollfd state = {.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

// Opens /dev/null in place of closed standard streams. Otherwise the next
// opened file gets the descriptor number of a closed stream, and everything
// that is written to the stream goes into this file. Writes to standard output
// still fail; writes to standard error are discarded.
void FillStandardStreams() {
  const auto fill = [](int fd, int how) {
    if (fcntl(fd, F_GETFD) < 0) static_cast<void>(open("/dev/null", how));
  };
  fill(STDIN_FILENO, O_RDONLY);
  fill(STDOUT_FILENO, O_RDONLY);
  fill(STDERR_FILENO, O_RDWR);
}

// Makes all files of this program unwritable for others, whatever the umask is.
void KeepOthersFromWriting() { umask(umask(0) | S_IWOTH); }

// Returns the exit code of a command whose output was lost: kNoVerdict, unless
// `code` is worse.
ExitCode WithoutOutput(ExitCode code) {
  const bool is_better = code == ExitCode::kOk ||
                         code == ExitCode::kLimitBroken ||
                         code == ExitCode::kSkippedUnderStrict;
  return is_better ? ExitCode::kNoVerdict : code;
}

// Executes the command. If nobody reads the output, the command still reacts to
// signals. Training exits even with unread output: its result is in the exit
// code and the checkpoints, and a scheduler must not restart it because of a
// lost line. Every other command waits until its output is read or a signal
// arrives.
int ExecuteCommand(const CommandLine& line) {
  const bool trains = AwaitsNotices(line.command);
  const RealHost host;
  NonblockingStreams streams(
      trains ? OutputKind::kMessages : OutputKind::kResults,
      trains ? std::function<bool()>()
             : [&host] { return host.TerminationNotices() > 0; });
  Console console{streams.out(), streams.err(),
                  TerminalStyle(line.color, FactsOf(STDOUT_FILENO)),
                  TerminalStyle(line.color, FactsOf(STDERR_FILENO)),
                  [&streams] { static_cast<void>(streams.Flush()); }};
  for (const std::string& note : line.notes) {
    fmt::print(streams.err(), "gauntlet: note: {}\n", note);
  }
  const int exit_code = std::visit(Execute{console}, line.command);
  const Status written = streams.Flush();
  // A reader that closed the pipe early, such as `head`, is no error.
  if (written.ok() || ReaderIsGone(STDOUT_FILENO)) return exit_code;
  fmt::print(streams.err(), "gauntlet: cannot write to standard output: {}\n",
             written.message());
  static_cast<void>(streams.Flush());
  return trains ? exit_code
                : static_cast<int>(
                      WithoutOutput(static_cast<ExitCode>(exit_code)));
}

int Main(const std::vector<std::string>& arguments) {
  const Result<CommandLine> line = ParseCommandLine(arguments, SourceCommit());
  if (!line.ok()) {
    ReleaseSignals();
    fmt::print(std::cerr, "{}\n", ErrorLine(line.status()));
    return static_cast<int>(ExitCode::kUsage);
  }
  InstallOomHandler(AwaitsNotices(line->command) ? ExitCode::kLostWorker
                                                 : ExitCode::kNoVerdict);
  if (std::holds_alternative<WorkerCommand>(line->command)) {
    EndWorkerWhereThreadsRunOut();
  }
  if (!AwaitsNotices(line->command)) ReleaseSignals();
  return ExecuteCommand(*line);
}

}  // namespace
}  // namespace gauntlet

// Returns true iff this is the process of one run of a crash test. main()
// handles such a process before it does anything else: the process must have no
// other thread when it enters namespaces, and its program must not inherit
// blocked signals.
bool IsTrainerRun(int argc, char** argv) {
  return argc == 3 && argv[1] == gauntlet::kRunVerb;
}

int main(int argc, char** argv) {
  if (IsTrainerRun(argc, argv)) return gauntlet::TrainerRunMain(argv[2]);
  gauntlet::FillStandardStreams();
  gauntlet::KeepOthersFromWriting();
  gauntlet::HoldSignals();
  gauntlet::IgnoreFileSizeSignal();
  return gauntlet::RunWithAmpleStack([argc, argv] {
    return gauntlet::Main(std::vector<std::string>(argv + 1, argv + argc));
  });
}
