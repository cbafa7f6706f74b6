// The probes of `gauntlet doctor`: they query the operating system directly.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/gpu/cuda_entry.h"
#include "engine/real/host/cuda_plugin.h"
#include "engine/real/posix/descriptor.h"
#include "harness/cli/help/doctor.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr int kSyncs = 9;

// Returns the number of CPUs that this process may use.
int UsableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return CPU_COUNT(&set);
}

// Returns "bind: Address already in use", from errno.
std::string SystemErrorText(std::string_view what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

Probe DiskError(std::string found) {
  return {.name = "disk",
          .health = Health::kBroken,
          .found = std::move(found),
          .consequence = "checkpoints cannot be written here"};
}

// Returns the times of several syncs of a small file, in milliseconds; empty
// after an error.
std::vector<double> SyncTimes(int file) {
  std::vector<double> times;
  const std::array<char, 4096> block{};
  for (int i = 0; i < kSyncs; ++i) {
    if (pwrite(file, block.data(), block.size(), i * 4096) != 4096) return {};
    const auto begin = std::chrono::steady_clock::now();
    if (fsync(file) != 0) return {};
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - begin)
                        .count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

struct LibraryCloser {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, LibraryCloser>;

sockaddr_in LoopbackAddress() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Returns "" on success, else the error.
std::string TryLoopback() {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = LoopbackAddress();
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  if (listener.get() < 0 || client.get() < 0) return SystemErrorText("socket");
  if (bind(listener.get(), generic, size) != 0) return SystemErrorText("bind");
  if (listen(listener.get(), 1) != 0) return SystemErrorText("listen");
  if (getsockname(listener.get(), generic, &size) != 0) {
    return SystemErrorText("getsockname");
  }
  if (connect(client.get(), generic, size) != 0)
    return SystemErrorText("connect");
  return "";
}

Probe NoGpu(std::string found) {
  return {.name = "gpu",
          .health = Health::kMissing,
          .found = std::move(found),
          .consequence =
              "training runs on the CPU; scenarios that require "
              "gpus are skipped"};
}

void AddDevices(const gpu::DeviceApi& api, std::vector<Probe>& probes) {
  gpu::DeviceText why;
  const int count = api.count(&why);
  if (count <= 0) probes.push_back(NoGpu(count == 0 ? "none" : why.text));
  for (int i = 0; i < count; ++i) {
    gpu::DeviceInfo info;
    const bool known = api.describe(i, &info, &why);
    probes.push_back(
        {.name = "gpu",
         .health = known ? Health::kGood : Health::kMissing,
         .found = known ? fmt::format("{}: {}, {} MiB, sm_{}", i,
                                      std::string_view(info.name.text),
                                      info.memory_bytes >> 20, info.capability)
                        : std::string(why.text),
         .consequence = ""});
  }
}

Probe ProbeNccl() {
  const Result<const gpu::CollectiveApi*> nccl = OpenNccl();
  gpu::DeviceText version;
  gpu::DeviceText why;
  if (nccl.ok() && (*nccl)->version(&version, &why)) {
    return {.name = "nccl",
            .health = Health::kGood,
            .found = fmt::format("version {}", std::string_view(version.text)),
            .consequence = ""};
  }
  return {.name = "nccl",
          .health = Health::kMissing,
          .found = nccl.status().message(),
          .consequence = "workers with GPUs sum gradients over the network"};
}

}  // namespace

Probe ProbeCpu() {
  Probe probe{
      .name = "cpu", .health = Health::kGood, .found = "", .consequence = ""};
  const bool fma = __builtin_cpu_supports("fma") != 0;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0;
  const int cpus = UsableCpus();
  probe.found = fmt::format("{} core{}, {}{}{}", cpus, cpus == 1 ? "" : "s",
                            avx512 ? "avx512, " : "", avx2 ? "avx2, " : "",
                            fma ? "fma" : "no fma");
  if (!fma) {
    probe.health = Health::kBroken;
    probe.consequence = "the numerics contract needs FMA3: nothing trains here";
  } else if (!avx2) {
    probe.health = Health::kMissing;
    probe.consequence = "only the slow scalar kernels run";
  }
  return probe;
}

Probe ProbeDisk() {
  const std::string path = fmt::format(".gauntlet-doctor-{}", getpid());
  const int flags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC;
  const Descriptor file(open(path.c_str(), flags, 0600));
  if (file.get() < 0) return DiskError(SystemErrorText("creating a file here"));
  const Descriptor second(open(path.c_str(), flags, 0600));
  const bool exclusive = second.get() < 0 && errno == EEXIST;
  const std::vector<double> times = SyncTimes(file.get());
  const std::string error =
      times.empty() ? SystemErrorText("write and fsync") : "";
  unlink(path.c_str());
  if (!error.empty()) return DiskError(error);
  if (!exclusive) {
    return DiskError("O_EXCL lets two processes create one file");
  }
  return {.name = "disk",
          .health = Health::kGood,
          .found = fmt::format("fsync {:.1f} ms (median of {}), O_EXCL works",
                               times[kSyncs / 2], kSyncs),
          .consequence = ""};
}

Probe ProbeLoopback() {
  const std::string error = TryLoopback();
  if (error.empty()) {
    return {.name = "loopback",
            .health = Health::kGood,
            .found = "127.0.0.1 connects",
            .consequence = ""};
  }
  return {.name = "loopback",
          .health = Health::kBroken,
          .found = error,
          .consequence = "workers cannot reach each other: --world sim only"};
}

Probe ProbeFaultLibrary() {
  const Library library(dlopen("libfiu.so.0", RTLD_NOW | RTLD_LOCAL));
  if (library) {
    return {.name = "libfiu",
            .health = Health::kGood,
            .found = "libfiu.so.0 loads",
            .consequence = ""};
  }
  return {.name = "libfiu",
          .health = Health::kMissing,
          .found = "none",
          .consequence = "no faults in real processes: --world sim only"};
}

std::vector<Probe> ProbeCuda() {
  const Status driver = FindCudaDriver();
  const Result<const gpu::DeviceApi*> library = OpenDeviceLibrary(
      fmt::format("{}/{}", ProgramDirectory(), gpu::kCudaLibrary));
  std::vector<Probe> probes = {
      {.name = "driver",
       .health = driver.ok() ? Health::kGood : Health::kMissing,
       .found = driver.ok() ? "libcuda.so.1 loads" : driver.message(),
       .consequence = ""},
      {.name = "plugin",
       .health = library.ok() ? Health::kGood : Health::kMissing,
       .found = library.ok() ? fmt::format("{}, interface {}",
                                           gpu::kCudaLibrary, gpu::kDeviceAbi)
                             : library.status().message(),
       .consequence = ""}};
  probes.push_back(ProbeNccl());
  if (driver.ok() && library.ok()) {
    AddDevices(**library, probes);
  } else {
    probes.push_back(NoGpu("none"));
  }
  return probes;
}

}  // namespace gauntlet
