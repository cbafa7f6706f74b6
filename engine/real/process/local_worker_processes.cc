#include "engine/real/process/local_worker_processes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include "engine/check.h"
#include "engine/cluster/resolver/tf_config.h"
#include "engine/real/posix/posix_status.h"
#include "engine/real/process/launcher_socket.h"
#include "engine/real/process/worker_environment.h"
#include "engine/real/storage/incarnation_file.h"
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxLineBytes = 65536;
constexpr size_t kChunkBytes = 4096;  // on the stack, which may be small
constexpr size_t kMaxQuotedBytes = 200;
// Maximum number of bytes to read from a running worker at a time. So a worker
// that writes without end delays neither the others nor signals to this
// process.
constexpr size_t kMaxBytesAtOnce = size_t{16} * kChunkBytes;

std::string IncarnationFile(const std::string& directory,
                            const WorkerSpec& spec, std::string_view ending) {
  return fmt::format(
      "{}/{}", directory,
      IncarnationFileName(spec.worker, spec.incarnation, ending));
}

Time Now() { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

bool HasCome(Time deadline) { return Now() >= deadline; }

// Returns the time left until the deadline, zero after it; nullopt for kNever.
std::optional<timespec> TimeLeft(Time deadline) {
  if (deadline == kNever) return std::nullopt;
  const auto left = std::max(deadline - Now(), Duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return timespec{.tv_sec = seconds.count(),
                  .tv_nsec = (left - seconds).count()};
}

// Returns the number of bytes that can be read now. For an ended worker these
// are all its unread bytes, even if another process keeps its end open.
size_t ReadableBytes(const Descriptor& from) {
  int bytes = 0;
  if (ioctl(from.get(), FIONREAD, &bytes) != 0) return 0;
  return static_cast<size_t>(bytes);
}

}  // namespace

LocalWorkerProcesses::LocalWorkerProcesses(LocalWorkerOptions options,
                                           const PosixStorage& storage)
    : options_(std::move(options)), storage_(storage) {}

LocalWorkerProcesses::~LocalWorkerProcesses() {
  for (const auto& [worker, running] : running_) {
    SendSignal(running.process, SIGKILL);
  }
  for (const auto& [worker, running] : running_) AwaitEnd(running.process);
}

Result<std::vector<std::string>> LocalWorkerProcesses::ReserveAddresses(
    int count) {
  // Checks first that workers can connect to each other: they would detect a
  // failure one by one, and late.
  const Status reachable = count > 1 ? CheckReachable("127.0.0.1") : OkStatus();
  if (!reachable.ok()) {
    return Annotate(
        reachable,
        "the workers cannot reach each other (is the loopback interface up? "
        "ip link set lo up)");
  }
  std::vector<ReservedPort> ports;
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(ReservedPort port, ReservePort("127.0.0.1"));
    addresses.push_back(fmt::format("127.0.0.1:{}", port.port));
    ports.push_back(std::move(port));
  }
  reserved_ = std::move(ports);
  return addresses;
}

Status LocalWorkerProcesses::Start(const WorkerSpec& spec) {
  CHECK(!running_.contains(spec.worker), "the worker is running already");
  ChildProgram program = {.path = options_.program,
                          .arguments = options_.arguments,
                          .environment = {},
                          .log_file = {},
                          .output = ChildOutput::kPiped,
                          .kept_descriptors = storage_.HeldLocks(),
                          .signals = SignalsAtStart::kHeld};
  program.kept_descriptors.insert(program.kept_descriptors.end(),
                                  options_.kept_descriptors.begin(),
                                  options_.kept_descriptors.end());
  const auto add = [&](std::string_view flag, std::string value) {
    program.arguments.emplace_back(flag);
    program.arguments.push_back(std::move(value));
  };
  add("--worker", std::to_string(spec.worker));
  add("--incarnation", std::to_string(spec.incarnation));
  if (!spec.launch_hold.launch.empty())
    add("--launch", spec.launch_hold.launch);
  if (spec.launch_hold.claimed > 0) {
    add("--claimed", std::to_string(spec.launch_hold.claimed));
  }
  add("--launcher-fd", std::to_string(kLauncherSocketDescriptor));
  if (!options_.events_directory.empty()) {
    add("--events", IncarnationFile(options_.events_directory, spec, ".jsonl"));
  }
  if (!options_.logs_directory.empty()) {
    program.log_file = IncarnationFile(options_.logs_directory, spec, ".log");
  }
  std::vector<std::string> added = options_.environment;
  added.push_back("TF_CONFIG=" + MakeTfConfig(spec.addresses, spec.rank));
  // Passed in the environment, as every user can read the arguments.
  if (spec.token) {
    added.push_back(fmt::format("{}={}", kTokenVariable, spec.token->Reveal()));
  }
  program.environment = WorkerEnvironment(ProcessEnvironment(), added);
  ASSIGN_OR_RETURN(ChildProcess process, StartChild(program));
  Descriptor socket = std::move(process.socket);
  Descriptor output = std::move(process.output);
  running_.emplace(spec.worker, Running{.process = std::move(process),
                                        .socket = {.from = std::move(socket)},
                                        .output = {.from = std::move(output)}});
  return OkStatus();
}

std::optional<WorkerEvent> LocalWorkerProcesses::Next(Time deadline) {
  CHECK(!running_.empty() || !events_.empty() || deadline != kNever,
        "a wait for nothing, for ever");
  while (events_.empty()) {
    const bool last = HasCome(deadline);
    Poll(deadline);
    if (last && events_.empty()) return std::nullopt;
  }
  WorkerEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void LocalWorkerProcesses::Poll(Time deadline) {
  std::vector<pollfd> waits;
  const auto wait_for = [&](const Descriptor& fd) {
    waits.push_back({.fd = fd.get(), .events = POLLIN, .revents = 0});
  };
  for (const auto& [worker, running] : running_) {
    wait_for(running.process.pidfd);
    wait_for(running.socket.from);
    wait_for(running.output.from);
  }
  const std::optional<timespec> left = TimeLeft(deadline);
  if (ppoll(waits.data(), waits.size(), left ? &*left : nullptr, nullptr) <=
      0) {
    return;  // the deadline has passed, or a signal arrived
  }
  auto wait = waits.begin();
  for (auto it = running_.begin(); it != running_.end(); wait += 3) {
    auto& [worker, running] = *it;
    const bool ended = wait[0].revents != 0;
    const auto limit = [ended](const Lines& lines) {
      return ended ? ReadableBytes(lines.from) : kMaxBytesAtOnce;
    };
    if (ended || wait[2].revents != 0) {
      Read(worker, running.output, limit(running.output),
           &LocalWorkerProcesses::TakeOutput);
    }
    if (ended || wait[1].revents != 0) {
      Read(worker, running.socket, limit(running.socket),
           &LocalWorkerProcesses::TakeMessage);
    }
    if (!ended) {
      ++it;
      continue;
    }
    TakeEnd(worker, running);
    it = running_.erase(it);
  }
}

void LocalWorkerProcesses::TakeEnd(int worker, Running& running) {
  if (!running.output.unread.empty()) {
    TakeOutput(worker, running.output.unread);
  }
  if (!running.socket.unread.empty()) {
    TakeMessage(worker, running.socket.unread);
  }
  const ChildEnd end = AwaitEnd(running.process);
  events_.push_back(
      {.worker = worker,
       .content = WorkerExited{.code = end.code, .signal = end.signal}});
}

void LocalWorkerProcesses::Read(int worker, Lines& lines, size_t limit,
                                TakeLine take) {
  std::array<char, kChunkBytes> chunk = {};
  for (size_t taken = 0; taken < limit && lines.from.valid();) {
    const ssize_t size = RetryOnInterrupt(
        [&] { return read(lines.from.get(), chunk.data(), chunk.size()); });
    if (size < 0 && errno == EAGAIN) return;  // empty for now
    // If the worker left input unread, reading ends in an error instead of 0.
    if (size <= 0) return lines.from.Reset();
    taken += static_cast<size_t>(size);
    std::string& unread = lines.unread;
    unread.append(chunk.data(), static_cast<size_t>(size));
    size_t begin = 0;
    for (size_t end = 0; (end = unread.find('\n', begin)) != unread.npos;
         begin = end + 1) {
      (this->*take)(worker,
                    std::string_view(unread).substr(begin, end - begin));
    }
    unread.erase(0, begin);
    if (unread.size() > kMaxLineBytes) {
      (this->*take)(worker, unread);
      unread.clear();
    }
  }
}

// Reports the line unchanged, for people.
void LocalWorkerProcesses::TakeOutput(int worker, std::string_view line) {
  events_.push_back(
      {.worker = worker, .content = WorkerProgress{.line = std::string(line)}});
}

void LocalWorkerProcesses::TakeMessage(int worker, std::string_view line) {
  auto parsed = ParseWorkerMessage(line);
  if (!parsed.ok()) {
    events_.push_back(
        {.worker = worker,
         .content = WorkerProgress{
             .line = fmt::format("worker {}: {}: {}", worker,
                                 parsed.status().message(),
                                 line.substr(0, kMaxQuotedBytes))}});
    return;
  }
  std::visit(
      [&](auto& what) {
        events_.push_back({.worker = worker, .content = std::move(what)});
      },
      *parsed);
}

void LocalWorkerProcesses::Signal(int worker, WorkerSignal signal) {
  const auto it = running_.find(worker);
  if (it == running_.end()) return;
  SendSignal(it->second.process,
             signal == WorkerSignal::kTerminate ? SIGTERM : SIGKILL);
}

void LocalWorkerProcesses::Acknowledge(int worker) {
  const auto it = running_.find(worker);
  if (it == running_.end() || !it->second.socket.from.valid()) return;
  static_cast<void>(
      send(it->second.socket.from.get(), kAcknowledgementLine.data(),
           kAcknowledgementLine.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace gauntlet
