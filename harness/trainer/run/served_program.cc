#include "harness/trainer/run/served_program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/folder_entries.h"
#include "engine/real/posix/posix_status.h"
#include "harness/trainer/python/fork_server.h"
#include "harness/trainer/python/python_command.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Namespaces in the order in which fork_server.py enters them. The script has
// the same list.
constexpr std::array kNamespaces = {"user", "mnt", "net", "pid"};
constexpr size_t kDescriptors = kNamespaces.size() + 1;  // and the output
constexpr auto kKillInterval = std::chrono::milliseconds(500);
constexpr int kMostKills = 60;
constexpr auto kBackgroundPoll = std::chrono::milliseconds(5);

Status ForkServerFailed(std::string_view step) {
  return Unavailable(fmt::format("fork server: {}: {}", step,
                                 std::generic_category().message(errno)));
}

// Connects through /proc, as the path of a socket may have at most 107 bytes.
Result<Descriptor> Connect(const std::string& folder) {
  const Descriptor directory(
      open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path =
      fmt::format("/proc/self/fd/{}/{}", directory.get(), kForkServerSocket);
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (!directory.valid() || !connection.valid() ||
      connect(connection.get(), reinterpret_cast<sockaddr*>(&address),
              sizeof address) != 0) {
    return ForkServerFailed("connect");
  }
  return connection;
}

// Sends the text, with the descriptors attached to its first bytes.
Status Send(const Descriptor& connection, const std::string& text,
            const std::array<int, kDescriptors>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptors)> control =
      {};
  iovec bytes = {.iov_base = const_cast<char*>(text.data()),
                 .iov_len = text.size()};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  ssize_t sent = RetryOnInterrupt(
      [&] { return sendmsg(connection.get(), &message, MSG_NOSIGNAL); });
  for (auto at = static_cast<size_t>(sent); sent > 0 && at < text.size();
       at += static_cast<size_t>(sent)) {
    sent = RetryOnInterrupt([&] {
      return send(connection.get(), text.data() + at, text.size() - at,
                  MSG_NOSIGNAL);
    });
  }
  return sent > 0 ? OkStatus() : ForkServerFailed("send");
}

Status SendRequest(const Descriptor& connection, const TrainerRun& run,
                   int output) {
  ASSIGN_OR_RETURN(const PythonCommand command,
                   ParsePythonCommand(run.arguments));
  const nlohmann::json request = {{"kind", command.kind},
                                  {"target", command.target},
                                  {"arguments", command.arguments},
                                  {"command", run.arguments},
                                  {"working_directory", run.working_directory}};
  std::array<Descriptor, kNamespaces.size()> namespaces;
  std::array<int, kDescriptors> descriptors = {output};
  for (size_t i = 0; i < kNamespaces.size(); ++i) {
    const std::string path = fmt::format("/proc/self/ns/{}", kNamespaces[i]);
    namespaces[i] = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!namespaces[i].valid()) return ForkServerFailed(path);
    descriptors[i + 1] = namespaces[i].get();
  }
  return Send(connection, request.dump() + "\n", descriptors);
}

// Reads one line, or everything up to the end of the connection.
class Answer {
 public:
  explicit Answer(const Descriptor& connection) : connection_(connection) {}

  // Returns false if the deadline passes first.
  bool Await(SteadyClock::time_point deadline) {
    while (!text_.ends_with('\n')) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          deadline - SteadyClock::now());
      if (left.count() <= 0) return false;
      constexpr int64_t kMostMs = 1000;
      pollfd ready = {.fd = connection_.get(), .events = POLLIN, .revents = 0};
      if (poll(&ready, 1,
               static_cast<int>(std::min<int64_t>(left.count(), kMostMs))) <= 0)
        continue;
      std::array<char, 4096> piece = {};
      const ssize_t count = RetryOnInterrupt(
          [&] { return read(connection_.get(), piece.data(), piece.size()); });
      if (count <= 0) return true;
      text_.append(piece.data(), static_cast<size_t>(count));
    }
    return true;
  }

  // Returns the program's status in the format of wait(2).
  Result<int> WaitStatus() const {
    const auto json =
        nlohmann::json::parse(text_, nullptr, /*allow_exceptions=*/false);
    if (json.contains("status")) return json.at("status").get<int>();
    if (json.contains("error")) {
      return Unavailable("fork server: " + json.at("error").get<std::string>());
    }
    return IoError("fork server: expected the end of a run, found none");
  }

 private:
  const Descriptor& connection_;
  std::string text_;
};

// Sends SIGKILL repeatedly, as the program may start after the first signal.
Status KillServed(Answer& answer) {
  for (int i = 0; i < kMostKills; ++i) {
    kill(-1, SIGKILL);
    if (answer.Await(SteadyClock::now() + kKillInterval)) return OkStatus();
  }
  return IoError("fork server: expected the end of a killed run, found none");
}

// Returns the number of other processes in this namespace. This process is its
// first one.
int CountProcesses() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  int count = 0;
  for (const auto& entry : EntriesOf("/proc")) {
    const std::string name = entry.path().filename().string();
    const bool is_process =
        std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (is_process && name != "1") ++count;
  }
  return count;
}

// Kills the processes that still run after the grace period. Returns their
// number.
int EndBackground(Duration grace) {
  const auto deadline = SteadyClock::now() + grace;
  while (CountProcesses() > 0 && SteadyClock::now() < deadline)
    std::this_thread::sleep_for(kBackgroundPoll);
  const int count = CountProcesses();
  if (count == 0) return 0;
  kill(-1, SIGKILL);
  while (CountProcesses() > 0) std::this_thread::sleep_for(kBackgroundPoll);
  return count;
}

}  // namespace

Result<TraceOutcome> RunServedProgram(const TrainerRun& run, int output) {
  // KillServed and EndBackground call kill(-1), which must reach only processes
  // of the run's namespace.
  if (run.isolation != Isolation::kNamespaces || getpid() != 1)
    return Unavailable("fork server: the run has no namespaces");
  ASSIGN_OR_RETURN(const Descriptor connection, Connect(run.fork_server));
  RETURN_IF_ERROR(SendRequest(connection, run, output));
  TraceOutcome outcome;
  Answer answer(connection);
  if (!answer.Await(SteadyClock::now() + run.time_limit)) {
    outcome.is_timed_out = true;
    RETURN_IF_ERROR(KillServed(answer));
  }
  ASSIGN_OR_RETURN(const int status, answer.WaitStatus());
  outcome.background_processes = EndBackground(run.background_grace);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace gauntlet
