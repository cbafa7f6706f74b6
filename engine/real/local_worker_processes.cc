#include "engine/real/local_worker_processes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include "engine/check.h"
#include "engine/cluster/tf_config.h"
#include "engine/real/notice_pipe.h"
#include "engine/real/posix_status.h"
#include "engine/real/worker_environment.h"
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxLineBytes = 65536;
constexpr size_t kMaxQuotedBytes = 200;

std::string LifeFile(const std::string& directory, const WorkerSpec& spec,
                     std::string_view suffix) {
  return fmt::format("{}/worker-{}-life-{}.{}", directory, spec.worker,
                     spec.life, suffix);
}

Time Now() { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

bool HasCome(Time deadline) { return Now() >= deadline; }

// What is left until then, nothing once the time has come; nullopt: for ever.
std::optional<timespec> TimeLeft(Time deadline) {
  if (deadline == kNever) return std::nullopt;
  const auto left = std::max(deadline - Now(), Duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return timespec{.tv_sec = seconds.count(),
                  .tv_nsec = (left - seconds).count()};
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
  CHECK(!running_.contains(spec.worker), "a worker lives once at a time");
  ChildProgram program = {.path = options_.program,
                          .arguments = options_.arguments,
                          .environment = {},
                          .log_file = {},
                          .kept_descriptors = storage_.HeldLocks(),
                          .signals = SignalsAtStart::kHeld};
  const auto add = [&](std::string_view flag, std::string value) {
    program.arguments.emplace_back(flag);
    program.arguments.push_back(std::move(value));
  };
  add("--worker", std::to_string(spec.worker));
  add("--life", std::to_string(spec.life));
  if (!spec.tenure.launch.empty()) add("--launch", spec.tenure.launch);
  if (spec.tenure.claimed > 0) {
    add("--claimed", std::to_string(spec.tenure.claimed));
  }
  add("--notices-fd", std::to_string(kNoticeDescriptor));
  if (!options_.events_directory.empty()) {
    add("--events", LifeFile(options_.events_directory, spec, "jsonl"));
  }
  if (!options_.logs_directory.empty()) {
    program.log_file = LifeFile(options_.logs_directory, spec, "log");
  }
  std::vector<std::string> added = options_.environment;
  added.push_back("TF_CONFIG=" + MakeTfConfig(spec.addresses, spec.rank));
  program.environment = WorkerEnvironment(ProcessEnvironment(), added);
  ASSIGN_OR_RETURN(ChildProcess process, StartChild(program));
  running_.emplace(spec.worker,
                   Running{.process = std::move(process), .unread = {}});
  return OkStatus();
}

std::optional<WorkerNotice> LocalWorkerProcesses::Next(Time deadline) {
  CHECK(!running_.empty() || !notices_.empty() || deadline != kNever,
        "a wait for nothing, for ever");
  while (notices_.empty()) {
    const bool last = HasCome(deadline);
    Poll(deadline);
    if (last && notices_.empty()) return std::nullopt;
  }
  WorkerNotice notice = std::move(notices_.front());
  notices_.pop_front();
  return notice;
}

void LocalWorkerProcesses::Poll(Time deadline) {
  std::vector<pollfd> waits;
  for (const auto& [worker, running] : running_) {
    const ChildProcess& process = running.process;
    waits.push_back(
        {.fd = process.pidfd.get(), .events = POLLIN, .revents = 0});
    waits.push_back(
        {.fd = process.notices.get(), .events = POLLIN, .revents = 0});
  }
  const std::optional<timespec> left = TimeLeft(deadline);
  if (ppoll(waits.data(), waits.size(), left ? &*left : nullptr, nullptr) <=
      0) {
    return;  // the deadline, or a signal
  }
  auto wait = waits.begin();
  for (auto it = running_.begin(); it != running_.end(); wait += 2) {
    auto& [worker, running] = *it;
    const bool ended = wait[0].revents != 0;
    if (ended || wait[1].revents != 0) ReadNotices(worker, running);
    if (!ended) {
      ++it;
      continue;
    }
    if (!running.unread.empty()) TakeLine(worker, running.unread);
    const ChildEnd end = AwaitEnd(running.process);
    notices_.push_back(
        {.worker = worker,
         .what = WorkerExited{.code = end.code, .signal = end.signal}});
    it = running_.erase(it);
  }
}

void LocalWorkerProcesses::ReadNotices(int worker, Running& running) {
  std::array<char, 65536> chunk = {};
  Descriptor& pipe = running.process.notices;
  while (pipe.valid()) {
    const ssize_t size = RetryOnInterrupt(
        [&] { return read(pipe.get(), chunk.data(), chunk.size()); });
    if (size < 0) return;  // EAGAIN: empty for now
    if (size == 0) {
      pipe.Reset();
      return;
    }
    running.unread.append(chunk.data(), static_cast<size_t>(size));
    size_t begin = 0;
    for (size_t end = 0;
         (end = running.unread.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      TakeLine(worker,
               std::string_view(running.unread).substr(begin, end - begin));
    }
    running.unread.erase(0, begin);
    if (running.unread.size() > kMaxLineBytes) {
      TakeLine(worker, running.unread);
      running.unread.clear();
    }
  }
}

void LocalWorkerProcesses::TakeLine(int worker, std::string_view line) {
  auto parsed = ParseNoticeLine(line);
  if (!parsed.ok()) {
    notices_.push_back(
        {.worker = worker,
         .what = WorkerProgress{
             .line = fmt::format("worker {}: {}: {}", worker,
                                 parsed.status().message(),
                                 line.substr(0, kMaxQuotedBytes))}});
    return;
  }
  std::visit(
      [&](auto& what) {
        notices_.push_back({.worker = worker, .what = std::move(what)});
      },
      *parsed);
}

void LocalWorkerProcesses::Signal(int worker, WorkerSignal signal) {
  const auto it = running_.find(worker);
  if (it == running_.end()) return;
  SendSignal(it->second.process,
             signal == WorkerSignal::kTerminate ? SIGTERM : SIGKILL);
}

}  // namespace gauntlet
