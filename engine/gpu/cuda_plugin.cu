// The library libgauntlet_cuda.so: a DeviceApi on CUDA, and a CollectiveApi on
// NCCL (nccl_collective.cc). It exports one function for each, contains the
// CUDA runtime, and uses no symbol of the program that opens it. Errors of CUDA
// are returned as texts.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <cuda_runtime.h>

#include "engine/gpu/cublas_products.h"
#include "engine/gpu/cuda_device.h"
#include "engine/gpu/cuda_entry.h"
#include "engine/gpu/cuda_failure.h"
#include "engine/gpu/cuda_launcher.h"
#include "engine/gpu/device_table.h"

namespace gauntlet::gpu {

namespace {

// Smaller arrays are not pinned: CUDA copies them as fast through its own
// buffers.
constexpr size_t kLeastPinnedBytes = size_t{64} << 10;

// A fetch is split into pieces of this size, so that a small copy to the host
// can run between two of them.
constexpr size_t kFetchBytes = size_t{4} << 20;

// AllocateIfRoom leaves this part of the device's memory free: 1 / kSpareShare.
constexpr size_t kSpareShare = 16;

// Host memory that is pinned.
struct PinnedPiece {
  char* begin;
  size_t bytes;
  PinnedPiece* next;
};

// A kernel with more dynamic shared memory than this must request it
// explicitly.
constexpr size_t kUsualSharedBytes = size_t{48} << 10;

}  // namespace

// A Runtime (operations.h).
struct Device {
  int index = 0;
  int multiprocessor_count = 0;
  cudaStream_t stream = nullptr;
  float* scratch = nullptr;
  size_t scratch_floats = 0;
  CublasApi cublas;
  void* cublas_handle = nullptr;  // null: uses our own products
  PinnedPiece* pinned = nullptr;
  cudaStream_t fetch_stream = nullptr;
  cudaEvent_t before_fetch = nullptr;
  cudaEvent_t fetched = nullptr;
  bool fetch_begun = false;
  DeviceText fetch_failed;  // the reason, if the fetch failed at its start
  CudaFailure failed;
  CudaLauncher launcher{failed};
  KernelQueue<CudaLauncher> queue{launcher};

  bool ready() const { return failed.none(); }
  unsigned multiprocessors() const {
    return static_cast<unsigned>(multiprocessor_count);
  }

  bool Check(const char* what, cudaError_t error) {
    return failed.Check(what, error);
  }

  // Makes this device the current one. Needed before each call: a task may move
  // to another thread, and each thread has its own current device.
  bool Use() { return ready() && Check("device", cudaSetDevice(index)); }
  // As Use; also launches all queued kernels on the stream.
  bool UseStream() {
    if (!Use()) return false;
    queue.Flush();
    return ready();
  }

  void* Allocate(size_t bytes) {
    if (!Use()) return nullptr;
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes == 0 ? 1 : bytes);
    if (error == cudaSuccess) return memory;
    char what[64];
    std::snprintf(what, sizeof what, "device memory: %zu bytes", bytes);
    Check(what, error);
    return nullptr;
  }

  // Returns null if less than 1 / kSpareShare of the device's memory would
  // remain free for later operations.
  void* AllocateIfRoom(size_t bytes) {
    size_t left = 0;
    size_t all = 0;
    if (!Use() || !Check("device memory", cudaMemGetInfo(&left, &all)) ||
        left < bytes + all / kSpareShare) {
      return nullptr;
    }
    return Allocate(bytes);
  }

  // All operations share one scratch array, as they run one after another.
  float* Scratch(size_t floats) {
    if (floats > scratch_floats && UseStream()) {
      Check("device memory", cudaStreamSynchronize(stream));
      cudaFree(scratch);
      scratch = static_cast<float*>(Allocate(floats * sizeof(float)));
      scratch_floats = scratch == nullptr ? 0 : floats;
    }
    return scratch;
  }

  template <typename Kernel>
  void Launch(const Kernel& kernel, const Grid& grid, size_t bytes) {
    if (!Use()) return;
    if (bytes > kUsualSharedBytes &&
        !Check("shared memory",
               cudaFuncSetAttribute(RunKernel<Kernel>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)))) {
      return;
    }
    const void* const function =
        reinterpret_cast<const void*>(&RunKernel<Kernel>);
    queue.Add(KernelLaunch::Of(function, kernel, grid, bytes));
  }

  void Multiply(const Product& p) {
    if (cublas_handle == nullptr) {
      Operations<Device>(*this).MatMul(p);
      return;
    }
    if (!UseStream()) return;
    const int error = MultiplyByCublas(cublas, cublas_handle, p);
    if (error != 0) {
      std::snprintf(failed.text.text, sizeof failed.text.text,
                    "cuBLAS: error %d", error);
      return;
    }
    if (p.bias != nullptr) {
      RunElements(this, AddBiasOperation{p.bias, p.shape.n, p.c, p.ldc},
                  p.shape.m * p.shape.n);
    }
  }

  // Clears CUDA's error if the memory cannot be pinned: this is not a failure
  // of the device.
  void Pin(void* memory, size_t bytes) {
    if (bytes < kLeastPinnedBytes || !Use()) return;
    void* const place = std::malloc(sizeof(PinnedPiece));
    if (place == nullptr) return;
    if (cudaHostRegister(memory, bytes, cudaHostRegisterDefault) !=
        cudaSuccess) {
      cudaGetLastError();
      std::free(place);
      return;
    }
    pinned = new (place) PinnedPiece{static_cast<char*>(memory), bytes, pinned};
  }

  // Also unpins if the device has failed, as the caller is about to free the
  // memory.
  void Unpin(void* memory) {
    for (PinnedPiece** at = &pinned; *at != nullptr; at = &(*at)->next) {
      PinnedPiece* const piece = *at;
      if (piece->begin != memory) continue;
      cudaSetDevice(index);
      if (cudaHostUnregister(memory) != cudaSuccess) cudaGetLastError();
      *at = piece->next;
      std::free(piece);
      return;
    }
  }

  void Fetch(char* to, const char* from, size_t bytes) {
    fetch_begun = BeginFetch(to, from, bytes);
    if (fetch_begun) return;
    fetch_failed = failed.text;
    // Waits for the pieces that were started: none may write to the host's
    // memory after Fetch has returned.
    cudaStreamSynchronize(fetch_stream);
  }
  bool BeginFetch(char* to, const char* from, size_t bytes) {
    if (!UseStream() ||
        !Check("fetch", cudaEventRecord(before_fetch, stream)) ||
        !Check("fetch", cudaStreamWaitEvent(fetch_stream, before_fetch, 0))) {
      return false;
    }
    for (size_t at = 0; at < bytes; at += kFetchBytes) {
      const size_t piece = bytes - at < kFetchBytes ? bytes - at : kFetchBytes;
      if (!Check("fetch",
                 cudaMemcpyAsync(to + at, from + at, piece,
                                 cudaMemcpyDeviceToHost, fetch_stream))) {
        return false;
      }
    }
    return Check("fetch", cudaEventRecord(fetched, fetch_stream));
  }

  // May be called by another task than the device's own, so it does not use
  // `failed`.
  bool AwaitFetch(DeviceText* why) {
    if (!fetch_begun) {
      *why = fetch_failed;
      return false;
    }
    fetch_begun = false;
    cudaError_t error = cudaSetDevice(index);
    if (error == cudaSuccess) error = cudaEventSynchronize(fetched);
    if (error != cudaSuccess) DescribeCudaError("fetch", error, why);
    return error == cudaSuccess;
  }

  void Move(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0 || !UseStream()) return;
    Check("copy", cudaMemcpyAsync(to, from, bytes, kind, stream));
  }
};

namespace {

int Count(DeviceText* why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) return count;
  DescribeCudaError("CUDA", error, why);
  return -1;
}

bool Describe(int index, DeviceInfo* info, DeviceText* why) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, index);
  if (error != cudaSuccess) {
    DescribeCudaError("CUDA", error, why);
    return false;
  }
  std::snprintf(info->name.text, sizeof info->name.text, "%s", properties.name);
  info->memory_bytes = properties.totalGlobalMem;
  info->multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
  info->capability =
      static_cast<uint32_t>(properties.major * 10 + properties.minor);
  return true;
}

void Close(Device* device) {
  cudaSetDevice(device->index);
  device->queue.Drop();
  if (device->cublas_handle != nullptr) {
    device->cublas.destroy(device->cublas_handle);
  }
  for (const cudaStream_t stream : {device->stream, device->fetch_stream}) {
    if (stream == nullptr) continue;
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  for (const cudaEvent_t event : {device->before_fetch, device->fetched}) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  while (device->pinned != nullptr) device->Unpin(device->pinned->begin);
  cudaFree(device->scratch);
  device->~Device();
  std::free(device);
}

Device* Open(int index, DeviceText* why) {
  void* const place = std::malloc(sizeof(Device));
  if (place == nullptr) {
    std::snprintf(why->text, sizeof why->text, "out of memory");
    return nullptr;
  }
  Device* const device = new (place) Device;
  device->index = index;
  const bool open =
      device->Check("CUDA", cudaSetDevice(index)) &&
      device->Check("CUDA", cudaDeviceGetAttribute(
                                &device->multiprocessor_count,
                                cudaDevAttrMultiProcessorCount, index)) &&
      device->Check("CUDA", cudaStreamCreateWithFlags(&device->stream,
                                                      cudaStreamNonBlocking)) &&
      device->Check("CUDA", cudaStreamCreateWithFlags(&device->fetch_stream,
                                                      cudaStreamNonBlocking)) &&
      device->Check("CUDA", cudaEventCreateWithFlags(&device->before_fetch,
                                                     cudaEventDisableTiming)) &&
      // A thread that waits for `fetched` sleeps, as other threads need the
      // processor.
      device->Check("CUDA", cudaEventCreateWithFlags(
                                &device->fetched, cudaEventDisableTiming |
                                                      cudaEventBlockingSync));
  device->launcher.On(device->stream);
  if (open) return device;
  *why = device->failed.text;
  Close(device);
  return nullptr;
}

bool UseLibrary(Device* device, LibraryProducts products, DeviceText* why) {
  if (!device->Use()) {
    *why = device->failed.text;
    return false;
  }
  CublasApi api;
  if (!OpenCublas(&api, why)) return false;
  void* handle = nullptr;
  int error = api.create(&handle);
  if (error == 0) error = api.set_stream(handle, device->stream);
  if (error == 0) error = api.set_math_mode(handle, CublasModeOf(products));
  if (error != 0) {
    if (handle != nullptr) api.destroy(handle);
    std::snprintf(why->text, sizeof why->text, "cuBLAS: error %d", error);
    return false;
  }
  device->cublas = api;
  device->cublas_handle = handle;
  return true;
}

const char* Failure(Device* device) {
  if (device->UseStream()) {
    device->Check("CUDA", cudaStreamSynchronize(device->stream));
  }
  return device->failed.text.text;
}

void Download(Device* device, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  device->Move(to, from, bytes, cudaMemcpyDeviceToHost);
  if (device->Use())
    device->Check("copy", cudaStreamSynchronize(device->stream));
  if (!device->ready()) std::memset(to, 0, bytes);
}

DeviceApi Table() {
  DeviceApi api = {};
  api.abi = kDeviceAbi;
  api.numerics = numerics::kVersion;
  api.name = "cuda";
  api.count = Count;
  api.describe = Describe;
  api.open = Open;
  api.close = Close;
  api.failure = Failure;
  api.allocate = [](Device* device, size_t bytes) {
    return device->Allocate(bytes);
  };
  api.allocate_if_room = [](Device* device, size_t bytes) {
    return device->AllocateIfRoom(bytes);
  };
  // Waits first, as earlier operations may still use the memory.
  api.release = [](Device* device, void* memory) {
    if (device->UseStream() &&
        device->Check("release", cudaStreamSynchronize(device->stream))) {
      device->Check("release", cudaFree(memory));
    }
  };
  api.pin = [](Device* device, void* memory, size_t bytes) {
    device->Pin(memory, bytes);
  };
  api.unpin = [](Device* device, void* memory) { device->Unpin(memory); };
  api.upload = [](Device* device, void* to, const void* from, size_t bytes) {
    device->Move(to, from, bytes, cudaMemcpyHostToDevice);
    if (bytes > 0 && device->Use()) {
      device->Check("copy", cudaStreamSynchronize(device->stream));
    }
  };
  api.copy = [](Device* device, void* to, const void* from, size_t bytes) {
    device->Move(to, from, bytes, cudaMemcpyDeviceToDevice);
  };
  api.download = Download;
  api.fetch = [](Device* device, void* to, const void* from, size_t bytes) {
    device->Fetch(static_cast<char*>(to), static_cast<const char*>(from),
                  bytes);
  };
  api.await_fetch = [](Device* device, DeviceText* why) {
    return device->AwaitFetch(why);
  };
  api.clear = [](Device* device, void* to, size_t bytes) {
    if (bytes == 0 || !device->UseStream()) return;
    device->Check("clear", cudaMemsetAsync(to, 0, bytes, device->stream));
  };
  AddOperations<Device>(api);
  api.use_library = UseLibrary;
  api.mat_mul = [](Device* device, const Product& p) { device->Multiply(p); };
  return api;
}

}  // namespace

cudaStream_t StreamOf(Device* device) {
  if (device->Use()) device->queue.FlushOneByOne();
  return device->stream;
}

cudaError_t UseDevice(const Device* device) {
  return cudaSetDevice(device->index);
}

}  // namespace gauntlet::gpu

extern "C" __attribute__((visibility("default")))
const gauntlet::gpu::DeviceApi*
gauntlet_cuda_device(uint32_t abi) {
  static const gauntlet::gpu::DeviceApi api = gauntlet::gpu::Table();
  return abi == gauntlet::gpu::kDeviceAbi ? &api : nullptr;
}
