// A CollectiveApi on NCCL, in libgauntlet_cuda.so. Opens NCCL's library on
// first use. No other file uses NCCL's types.
//
// Communicators do not block: ncclCommGetAsyncError shows when a call has
// finished. NCCL sends, receives and broadcasts arrays, but never adds any.
#include <cstdio>
#include <cstring>
#include <new>

#include <cuda_runtime.h>
#include <nccl.h>

#include "engine/gpu/cuda_device.h"
#include "engine/gpu/cuda_entry.h"
#include <dlfcn.h>
#include <unistd.h>

namespace gauntlet::gpu {
namespace {

constexpr const char* kLibrary = "libnccl.so.2";
// First NCCL version whose communicators can be configured not to block.
constexpr int kOldest = NCCL_VERSION(2, 18, 0);
static_assert(sizeof(CommunicatorId::bytes) == NCCL_UNIQUE_ID_BYTES);

// 4 MiB, chosen without a measurement.
constexpr size_t kChunkFloats = size_t{1} << 20;

template <size_t kSize>
void Write(DeviceText* text, const char (&format)[kSize], const char* first,
           const char* second) {
  std::snprintf(text->text, sizeof text->text, format, first, second);
}

struct Library {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) init_rank;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  DeviceText version;
  DeviceText why;  // if not empty, the library is unusable
};

template <typename Function>
void Find(void* handle, const char* name, Function& function, DeviceText* why) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) {
    Write(why, "%s: expected a function %s, found none", kLibrary, name);
  }
}

void FindAll(void* handle, Library& library) {
  DeviceText* const why = &library.why;
  Find(handle, "ncclGetVersion", library.get_version, why);
  Find(handle, "ncclGetUniqueId", library.get_unique_id, why);
  Find(handle, "ncclCommInitRankConfig", library.init_rank, why);
  Find(handle, "ncclCommGetAsyncError", library.async_error, why);
  Find(handle, "ncclCommAbort", library.abort, why);
  Find(handle, "ncclGroupStart", library.group_start, why);
  Find(handle, "ncclGroupEnd", library.group_end, why);
  Find(handle, "ncclSend", library.send, why);
  Find(handle, "ncclRecv", library.receive, why);
  Find(handle, "ncclBroadcast", library.broadcast, why);
  Find(handle, "ncclGetErrorString", library.error_string, why);
  Find(handle, "ncclGetLastError", library.last_error, why);
}

// Opens NCCL's library. Never closes it, as NCCL's own threads run its code.
Library Open() {
  Library library = {};
  void* const handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    Write(&library.why, "%s does not load: %s", kLibrary,
          error == nullptr ? "no reason given" : error);
    return library;
  }
  FindAll(handle, library);
  if (library.why.text[0] != '\0') return library;
  int code = 0;
  const ncclResult_t result = library.get_version(&code);
  std::snprintf(library.version.text, sizeof library.version.text, "%d.%d.%d",
                code / 10000, code / 100 % 100, code % 100);
  if (result != ncclSuccess || code < kOldest) {
    Write(&library.why, "%s: expected version 2.18 or newer, found %.40s",
          kLibrary, library.version.text);
  }
  return library;
}

const Library& Nccl() {
  static const Library library = Open();
  return library;
}

bool IsUsable(DeviceText* why) {
  *why = Nccl().why;
  return why->text[0] == '\0';
}

bool IsNoFailure(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

}  // namespace

struct Communicator {
  Device* device = nullptr;
  ncclComm_t comm = nullptr;
  int rank = 0;
  int size = 1;
  DeviceText failed;

  bool is_whole() const { return failed.text[0] == '\0'; }
  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }

  // Records the error if it is the first one. Returns true iff nothing has
  // failed so far.
  bool Check(const char* what, ncclResult_t result) {
    if (IsNoFailure(result) || !is_whole()) return is_whole();
    const char* const last = Nccl().last_error(comm);
    std::snprintf(failed.text, sizeof failed.text, "%s: %s%s%s", what,
                  Nccl().error_string(result), last == nullptr ? "" : ": ",
                  last == nullptr ? "" : last);
    return false;
  }
  bool Check(const char* what, cudaError_t error) {
    if (error == cudaSuccess || !is_whole()) return is_whole();
    Write(&failed, "%s: %s", what, cudaGetErrorString(error));
    return false;
  }
  // Makes the device the current one. Needed before each call: a task may move
  // to another thread, and each thread has its own current device.
  bool Use() { return is_whole() && Check("device", UseDevice(device)); }
};

namespace {

bool Version(DeviceText* version, DeviceText* why) {
  *version = Nccl().version;
  return IsUsable(why);
}

// Writes a name of the machine that is the same in all its containers, whatever
// their host names. Machine and position on the bus identify a device, as in
// NCCL, which refuses two ranks on one device.
void NameMachine(char* name, size_t size) {
  std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "r");
  const bool read = file != nullptr &&
                    std::fgets(name, static_cast<int>(size), file) != nullptr;
  if (file != nullptr) std::fclose(file);
  if (!read && gethostname(name, size - 1) != 0) name[0] = '\0';
  name[std::strcspn(name, "\n")] = '\0';
}

bool Identify(int index, DeviceText* identity, DeviceText* why) {
  char bus[32] = {};
  const cudaError_t error = cudaDeviceGetPCIBusId(bus, sizeof bus, index);
  if (error != cudaSuccess) {
    Write(why, "%s: %s", "CUDA", cudaGetErrorString(error));
    return false;
  }
  char machine[128] = {};
  NameMachine(machine, sizeof machine);
  Write(identity, "%s of machine %s", bus, machine);
  return true;
}

bool MakeId(CommunicatorId* id, DeviceText* why) {
  if (!IsUsable(why)) return false;
  ncclUniqueId made;
  const ncclResult_t result = Nccl().get_unique_id(&made);
  if (result != ncclSuccess) {
    Write(why, "%s: %s", "ncclGetUniqueId", Nccl().error_string(result));
    return false;
  }
  std::memcpy(id->bytes, made.internal, sizeof id->bytes);
  return true;
}

void Abort(Communicator* communicator) {
  if (communicator->comm != nullptr) {
    // Ignores errors, as the communicator ends in any case.
    static_cast<void>(UseDevice(communicator->device));
    static_cast<void>(Nccl().abort(communicator->comm));
  }
  delete communicator;
}

Communicator* Begin(Device* device, const CommunicatorPlace& place,
                    DeviceText* why) {
  if (!IsUsable(why)) return nullptr;
  auto* const made = new (std::nothrow) Communicator;
  if (made == nullptr) {
    Write(why, "%s%s", "out of memory", "");
    return nullptr;
  }
  made->device = device;
  made->rank = place.rank;
  made->size = place.size;
  ncclUniqueId id;
  std::memcpy(id.internal, place.id.bytes, sizeof id.internal);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (made->Use() && made->Check("ncclCommInitRankConfig",
                                 Nccl().init_rank(&made->comm, place.size, id,
                                                  place.rank, &config))) {
    return made;
  }
  *why = made->failed;
  Abort(made);
  return nullptr;
}

CollectiveProgress FailedOf(const Communicator* communicator, DeviceText* why) {
  *why = communicator->failed;
  return CollectiveProgress::kFailed;
}

CollectiveProgress Poll(Communicator* communicator, DeviceText* why) {
  if (!communicator->is_whole()) return FailedOf(communicator, why);
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = Nccl().async_error(communicator->comm, &state);
  if (!communicator->Check("ncclCommGetAsyncError", asked) ||
      !communicator->Check("NCCL", state)) {
    return FailedOf(communicator, why);
  }
  return state == ncclInProgress ? CollectiveProgress::kInProgress
                                 : CollectiveProgress::kReady;
}

CollectiveProgress Finished(Communicator* communicator, DeviceText* why) {
  const CollectiveProgress progress = Poll(communicator, why);
  if (progress != CollectiveProgress::kReady) return progress;
  if (!communicator->Use()) return FailedOf(communicator, why);
  const cudaError_t state = cudaStreamQuery(StreamOf(communicator->device));
  if (state == cudaErrorNotReady) return CollectiveProgress::kInProgress;
  if (!communicator->Check("CUDA", state)) return FailedOf(communicator, why);
  return CollectiveProgress::kReady;
}

void Exchange(Communicator* communicator, const ArrayExchange& arrays) {
  if (!communicator->Use()) return;
  const cudaStream_t stream = StreamOf(communicator->device);
  const Library& nccl = Nccl();
  if (!communicator->Check("ncclGroupStart", nccl.group_start())) return;
  if (arrays.send_count > 0) {
    communicator->Check("ncclSend", nccl.send(arrays.to_next, arrays.send_count,
                                              ncclFloat32, communicator->next(),
                                              communicator->comm, stream));
  }
  if (arrays.receive_count > 0) {
    communicator->Check(
        "ncclRecv",
        nccl.receive(arrays.from_previous, arrays.receive_count, ncclFloat32,
                     communicator->previous(), communicator->comm, stream));
  }
  communicator->Check("ncclGroupEnd", nccl.group_end());
}

void Broadcast(Communicator* communicator, float* values, size_t count,
               int root) {
  if (count == 0 || !communicator->Use()) return;
  communicator->Check(
      "ncclBroadcast",
      Nccl().broadcast(values, values, count, ncclFloat32, root,
                       communicator->comm, StreamOf(communicator->device)));
}

CollectiveApi Table() {
  return {.abi = kCollectiveAbi,
          .name = "nccl",
          .chunk_floats = kChunkFloats,
          .use = CollectiveUse::kAlways,
          .needs_links = false,
          .version = Version,
          .identify = Identify,
          .make_id = MakeId,
          .begin = Begin,
          .poll = Poll,
          .finished = Finished,
          .exchange = Exchange,
          .broadcast = Broadcast,
          .abort = Abort};
}

}  // namespace
}  // namespace gauntlet::gpu

extern "C" __attribute__((visibility("default")))
const gauntlet::gpu::CollectiveApi*
gauntlet_cuda_collective(uint32_t abi) {
  static const gauntlet::gpu::CollectiveApi api = gauntlet::gpu::Table();
  return abi == gauntlet::gpu::kCollectiveAbi ? &api : nullptr;
}
