#include "harness/bench/machine_limits.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/posix_status.h"
#include "harness/run/files/text_file.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using SteadyClock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr uint64_t kBlock = uint64_t{4} << 20;
constexpr size_t kAlignment = 4096;  // required by O_DIRECT

struct FreeMemory {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeMemory>;

uint64_t AlignedSize(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Returns a buffer whose pages are in memory, as they have been written;
// nullptr if there is not enough memory.
AlignedBytes NewBytes(uint64_t bytes) {
  AlignedBytes buffer(static_cast<std::byte*>(
      std::aligned_alloc(kAlignment, AlignedSize(bytes))));
  if (buffer != nullptr) std::memset(buffer.get(), 0x5a, AlignedSize(bytes));
  return buffer;
}

double RateSince(SteadyClock::time_point begin, uint64_t bytes) {
  const std::chrono::duration<double> took = SteadyClock::now() - begin;
  return static_cast<double>(bytes) / std::max(took.count(), 1e-9);
}

double CopyRate(std::byte* from, std::byte* to, uint64_t bytes) {
  const auto begin = SteadyClock::now();
  std::memcpy(to, from, bytes);
  // Keeps the compiler from removing the copy.
  asm volatile("" : : "r"(to) : "memory");
  return RateSince(begin, bytes);
}

Result<double> WriteRate(const fs::path& path, const std::byte* bytes,
                         uint64_t size, int flags) {
  unlink(path.c_str());
  const Descriptor file(open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600));
  if (!file.valid()) return PosixError(errno, path.string(), "open");
  const auto begin = SteadyClock::now();
  for (uint64_t at = 0; at < size;) {
    const size_t part = std::min(kBlock, size - at);
    const ssize_t wrote =
        RetryOnInterrupt([&] { return write(file.get(), bytes + at, part); });
    if (wrote < 0) return PosixError(errno, path.string(), "write");
    at += static_cast<uint64_t>(wrote);
  }
  if (fsync(file.get()) != 0) return PosixError(errno, path.string(), "fsync");
  return RateSince(begin, size);
}

Result<double> ColdReadRate(const fs::path& path, std::byte* into,
                            uint64_t size) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return PosixError(errno, path.string(), "open");
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const auto begin = SteadyClock::now();
  for (uint64_t at = 0; at < size;) {
    const ssize_t got = RetryOnInterrupt([&] {
      return read(file.get(), into + at, std::min(kBlock, size - at));
    });
    if (got < 0) return PosixError(errno, path.string(), "read");
    if (got == 0)
      return IoError(path.string() + ": read: unexpected end of file");
    at += static_cast<uint64_t>(got);
  }
  return RateSince(begin, size);
}

bool SendAll(int socket, const std::byte* bytes, uint64_t size) {
  for (uint64_t at = 0; at < size;) {
    const ssize_t sent = RetryOnInterrupt([&] {
      return send(socket, bytes + at, std::min(kBlock, size - at),
                  MSG_NOSIGNAL);
    });
    if (sent <= 0) return false;
    at += static_cast<uint64_t>(sent);
  }
  return true;
}

bool ReceiveAll(int socket, std::byte* into, uint64_t size) {
  for (uint64_t at = 0; at < size;) {
    const ssize_t got = RetryOnInterrupt([&] {
      return recv(socket, into + at, std::min(kBlock, size - at), 0);
    });
    if (got <= 0) return false;
    at += static_cast<uint64_t>(got);
  }
  return true;
}

// A connected pair of TCP sockets on the loopback interface.
std::optional<std::pair<Descriptor, Descriptor>> LoopbackPair() {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  if (!listener.valid() || !client.valid() ||
      bind(listener.get(), generic, size) != 0 ||
      listen(listener.get(), 1) != 0 ||
      getsockname(listener.get(), generic, &size) != 0 ||
      connect(client.get(), generic, size) != 0) {
    return std::nullopt;
  }
  Descriptor server(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!server.valid()) return std::nullopt;
  return std::pair(std::move(client), std::move(server));
}

std::optional<double> LoopbackRate(const std::byte* from, std::byte* into,
                                   uint64_t size) {
  const auto pair = LoopbackPair();
  if (!pair) return std::nullopt;
  const auto begin = SteadyClock::now();
  bool sent = false;
  // If one side fails, it shuts its socket down, so that the other side does
  // not wait.
  std::thread sender([&] {
    sent = SendAll(pair->first.get(), from, size);
    if (!sent) shutdown(pair->first.get(), SHUT_RDWR);
  });
  const bool received = ReceiveAll(pair->second.get(), into, size);
  if (!received) shutdown(pair->second.get(), SHUT_RDWR);
  sender.join();
  if (!sent || !received) return std::nullopt;
  return RateSince(begin, size);
}

// Returns "EPYC 9R14" from "model name : …" in /proc/cpuinfo.
std::string CpuName() {
  const std::string info = ReadTextFile("/proc/cpuinfo");
  constexpr std::string_view kKey = "model name";
  const size_t key = info.find(kKey);
  if (key == info.npos) return "unknown";
  const size_t name = info.find_first_not_of(" \t:", key + kKey.size());
  return info.substr(name, info.find('\n', name) - name);
}

// Returns the file system's name, by the magic numbers of statfs(2).
std::string FileSystemOf(const fs::path& directory) {
  struct statfs found {};
  if (statfs(directory.c_str(), &found) != 0) return "unknown";
  switch (static_cast<uint64_t>(found.f_type)) {
    case 0xEF53:
      return "ext4";
    case 0x58465342:
      return "xfs";
    case 0x9123683E:
      return "btrfs";
    case 0x01021994:
      return "tmpfs";
    case 0x794C7630:
      return "overlay";
    case 0x6969:
      return "nfs";
    default:
      return fmt::format("0x{:x}", static_cast<uint64_t>(found.f_type));
  }
}

}  // namespace

Result<MachineSample> MeasureMachine(const fs::path& directory,
                                     uint64_t bytes) {
  const AlignedBytes from = NewBytes(bytes);
  const AlignedBytes to = NewBytes(bytes);
  if (from == nullptr || to == nullptr) {
    return ResourceExhausted(fmt::format("no memory for 2 x {} bytes", bytes));
  }
  const auto at = [](MachineLimit limit) { return static_cast<size_t>(limit); };
  MachineSample sample;
  sample[at(MachineLimit::kMemcpy)] = CopyRate(from.get(), to.get(), bytes);
  const fs::path file = directory / "limits.bin";
  const uint64_t whole_blocks = AlignedSize(bytes);
  const auto measure = [&]() -> Status {
    ASSIGN_OR_RETURN(sample[at(MachineLimit::kWrite)],
                     WriteRate(file, from.get(), whole_blocks, 0));
    const Result<double> direct =
        WriteRate(file, from.get(), whole_blocks, O_DIRECT);
    if (direct.ok()) {
      sample[at(MachineLimit::kDirectWrite)] = *direct;
    } else if (direct.status().code() == Code::kResourceExhausted) {
      return direct.status();
    } else {
      // tmpfs has no O_DIRECT: writes the file for the cold read without it.
      RETURN_IF_ERROR(WriteRate(file, from.get(), whole_blocks, 0).status());
    }
    ASSIGN_OR_RETURN(sample[at(MachineLimit::kColdRead)],
                     ColdReadRate(file, to.get(), whole_blocks));
    return OkStatus();
  };
  const Status measured = measure();
  unlink(file.c_str());
  RETURN_IF_ERROR(measured);
  sample[at(MachineLimit::kLoopback)] =
      LoopbackRate(from.get(), to.get(), bytes);
  return sample;
}

BenchContext DescribeMachine(const fs::path& directory) {
  BenchContext context;
  context.date =
      fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::now()));
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  context.host = host;
  context.cpu = CpuName();
  cpu_set_t set;
  context.cpus =
      sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  context.file_system = FileSystemOf(directory);
  return context;
}

}  // namespace gauntlet
