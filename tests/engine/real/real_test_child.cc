// Program that tests run as another process: `real_test_child <mode>
// <arguments…>`. It writes lines for the test to descriptor 3.
#include <cstdio>
#include <string>
#include <vector>

#include "engine/cluster/link/control_messages.h"
#include "engine/real/host/real_host.h"
#include "engine/real/network/grpc_network.h"
#include "engine/real/posix/system_clock.h"
#include "engine/real/process/launcher_socket.h"
#include "engine/real/process/local_worker_processes.h"
#include "engine/real/storage/event_file.h"
#include "engine/real/storage/posix_storage.h"
#include <dirent.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using Arguments = std::vector<std::string>;

void SendLine(const std::string& line) {
  const std::string text = line + "\n";
  CHECK(write(kLauncherSocketDescriptor, text.data(), text.size()) ==
            static_cast<ssize_t>(text.size()),
        "the test is gone");
}

[[noreturn]] void SleepForEver() {
  while (true) pause();
}

// descriptors: prints the numbers of the open descriptors.
int ListDescriptors(const Arguments&) {
  DIR* const directory = opendir("/proc/self/fd");
  CHECK(directory != nullptr, "/proc");
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    if (std::stoi(entry->d_name) != dirfd(directory)) std::puts(entry->d_name);
  }
  closedir(directory);
  return 0;
}

// emit FILE: emits events without end, and reports once there are some.
int Emit(const Arguments& arguments) {
  const SystemClock clock;
  auto log = EventFile::Open(arguments.at(0), {.worker = 1, .incarnation = 2},
                             clock, {});
  for (uint64_t step = 1;; ++step) {
    (*log)->Emit({.kind = EventKind::kStep, .step = step});
    if (step == 1000) SendLine("emitting");
  }
}

// launcher: starts two workers that sleep, prints their process ids, sleeps.
int RunLauncher(const Arguments&) {
  const PosixStorage storage;
  LocalWorkerProcesses workers(
      {.program = "/bin/sh",
       .arguments = {"-c", "echo $$ >&3; exec sleep 1000"}},
      storage);
  for (int worker = 0; worker < 2; ++worker) {
    const Status status = workers.Start({.worker = worker,
                                         .incarnation = 1,
                                         .rank = worker,
                                         .addresses = {"a:1", "b:1"}});
    CHECK(status.ok(), status.ToString());
  }
  for (int i = 0; i < 2; ++i) {
    const auto event = workers.Next(kNever);
    const std::string line = std::get<WorkerProgress>(event->content).line;
    SendLine(line.substr(line.rfind(' ') + 1));
  }
  SleepForEver();
}

// report …: a worker that reports, and exits with 75.
int Report(const Arguments&) {
  InstallSignalHandlers();
  auto socket = LauncherSocket::Open(kLauncherSocketDescriptor);
  (*socket)->Progress({.step = 7, .epoch = 1, .loss = 0.5f});
  (*socket)->Result({.status = "done", .steps = 9, .loss = 0.25f});
  return 75;
}

// report-much: a worker that sends unread reports into a buffer of 1 MiB, and
// then its result. Exits with 77 if the system grants no such buffer.
int ReportMuch(const Arguments&) {
  constexpr int kBufferBytes = 1 << 20;
  const auto set = [&](int option) {
    return setsockopt(kLauncherSocketDescriptor, SOL_SOCKET, option,
                      &kBufferBytes, sizeof kBufferBytes);
  };
  if (set(SO_SNDBUFFORCE) != 0) set(SO_SNDBUF);
  int granted = 0;
  socklen_t size = sizeof granted;
  getsockopt(kLauncherSocketDescriptor, SOL_SOCKET, SO_SNDBUF, &granted, &size);
  if (granted < kBufferBytes) return 77;
  auto socket = LauncherSocket::Open(kLauncherSocketDescriptor);
  for (uint64_t step = 1; step <= 1000; ++step) {
    (*socket)->Progress({.step = step, .line = std::string(300, 'x')});
  }
  (*socket)->Result({.status = "done"});
  return 0;
}

// starting: a program that is slow to take signals, and needs one before it
// prints "ready".
int StartSlowly(const Arguments&) {
  HoldSignals();
  SendLine("starting");
  sigset_t pending = {};
  while (sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 0) {
    SystemClock().SleepUntil(SystemClock().Now() +
                             std::chrono::milliseconds(1));
  }
  InstallSignalHandlers();
  SendLine(fmt::format("ready, notices {}", RealHost().TerminationNotices()));
  return 0;
}

// notices [LAST [CODE]]: counts preemption notices; reports when ready and at
// each one. With CODE, the second interrupt ends it.
int AwaitNotices(const Arguments& arguments) {
  const int last = arguments.empty() ? 2 : std::stoi(arguments[0]);
  InstallSignalHandlers();
  InstallNoticeSignal("SIGUSR1");
  if (arguments.size() > 1) ExitOnSecondInterrupt(std::stoi(arguments[1]));
  RealHost host;
  CHECK(!host.FirstNotice(), "told before anybody could");
  SendLine("ready");
  SystemClock clock;
  for (int seen = 0; seen < last;) {
    clock.SleepUntil(clock.Now() + std::chrono::milliseconds(1));
    if (host.TerminationNotices() == seen) continue;
    seen = host.TerminationNotices();
    CHECK(*host.FirstNotice() <= clock.Now() &&
              *host.FirstNotice() >= clock.Now() - std::chrono::seconds(60),
          "another time line");
    SendLine(
        fmt::format("notice {}, {} at the terminal", seen, host.Interrupts()));
  }
  std::fputs("flushed at exit", stdout);
  host.Exit(143);
}

// connect ADDRESS MODE [ring|control]: connects and sends a first frame, which
// is the hello of that role if one is given, then
//   flood: sends 4 MiB frames without end
//   idle:  neither sends nor receives
//   echo:  sends back what it receives
int Connect(const Arguments& arguments) {
  SystemClock clock;
  GrpcNetwork network;
  auto channel =
      network.Connect(arguments.at(0), clock.Now() + std::chrono::seconds(60));
  CHECK(channel.ok(), channel.status().ToString());
  Frame first = "first";
  if (arguments.size() > 2) {
    const bool ring = arguments[2] == "ring";
    first = EncodeControl(
        Hello{.role = ring ? ChannelRole::kRing : ChannelRole::kControl});
  }
  CHECK((*channel)->Send(first, kNever).ok(), "the connection is lost");
  SendLine("connected");
  if (arguments.at(1) == "idle") SleepForEver();
  if (arguments.at(1) == "flood") {
    while ((*channel)->Send(Frame(size_t{4} << 20, 'x'), kNever).ok()) {
    }
    return 1;
  }
  while (true) {
    auto frame = (*channel)->Receive(kNever);
    if (!frame.ok()) return 0;
    if (!(*channel)->Send(*std::move(frame), kNever).ok()) return 1;
  }
}

// listen ADDRESS: listens, and does nothing else.
int Listen(const Arguments& arguments) {
  GrpcNetwork network;
  auto listener = network.Listen(arguments.at(0));
  SendLine(listener.ok() ? "listening" : listener.status().ToString());
  SleepForEver();
}

int Main(Arguments arguments) {
  const std::string mode = arguments.at(0);
  arguments.erase(arguments.begin());
  if (mode == "descriptors") return ListDescriptors(arguments);
  if (mode == "emit") return Emit(arguments);
  if (mode == "launcher") return RunLauncher(arguments);
  if (mode == "report") return Report(arguments);
  if (mode == "report-much") return ReportMuch(arguments);
  if (mode == "starting") return StartSlowly(arguments);
  if (mode == "notices") return AwaitNotices(arguments);
  if (mode == "connect") return Connect(arguments);
  if (mode == "listen") return Listen(arguments);
  return 2;
}

}  // namespace
}  // namespace gauntlet

int main(int argc, char** argv) {
  return gauntlet::Main({argv + 1, argv + argc});
}
