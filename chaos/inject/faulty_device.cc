#include "chaos/inject/faulty_device.h"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

using gpu::Device;
using gpu::DeviceApi;

// Number of functions in DeviceApi. Each must be wrapped: one passed on
// unchanged would receive a FaultyDevice in place of its Device.
constexpr size_t kFunctions = 39;
static_assert(sizeof(DeviceApi) == 2 * sizeof(uint32_t) + sizeof(char*) +
                                       kFunctions * sizeof(void (*)()),
              "a function of the table is not in Calls::Table");
// Number of functions in CollectiveApi. Only `begin` takes a Device.
constexpr size_t kCollectiveFunctions = 9;
static_assert(sizeof(gpu::CollectiveApi) ==
                  offsetof(gpu::CollectiveApi, version) +
                      kCollectiveFunctions * sizeof(void (*)()),
              "does a new function of the collective's take a Device?");

}  // namespace

// The table's functions. The Device that each takes is a FaultyDevice.
struct FaultyDevice::Calls {
  static FaultyDevice& Of(Device* device) {
    return *reinterpret_cast<FaultyDevice*>(device);
  }
  static const DeviceApi& Base(const FaultyDevice& self) {
    return *self.base_.api;
  }

  template <auto kFunction>
  struct Queued;
  template <typename... Args, void (*DeviceApi::*kFunction)(Device*, Args...)>
  struct Queued<kFunction> {
    static void Call(Device* device, Args... args) {
      FaultyDevice& self = Of(device);
      if (!self.OnCall(DeviceCall::kQueue)) return;
      (Base(self).*kFunction)(self.device_, args...);
    }
  };
  template <auto kFunction>
  static void Queue(DeviceApi& api) {
    api.*kFunction = Queued<kFunction>::Call;
  }

  static Device* Open(int, gpu::DeviceText* why) {
    std::snprintf(why->text, sizeof why->text,
                  "expected to be opened by its FaultyDevice");
    return nullptr;
  }
  static void Close(Device* device) {
    FaultyDevice& self = Of(device);
    Base(self).close(std::exchange(self.device_, nullptr));
  }
  static const char* Failure(Device* device) {
    FaultyDevice& self = Of(device);
    if (!self.OnCall(DeviceCall::kWait)) return self.failed_.c_str();
    return Base(self).failure(self.device_);
  }
  static void* Allocate(Device* device, size_t bytes) {
    FaultyDevice& self = Of(device);
    if (!self.OnCall(DeviceCall::kAllocate)) return nullptr;
    return Base(self).allocate(self.device_, bytes);
  }
  static void* AllocateIfRoom(Device* device, size_t bytes) {
    FaultyDevice& self = Of(device);
    if (!self.OnCall(DeviceCall::kAllocateIfRoom)) return nullptr;
    return Base(self).allocate_if_room(self.device_, bytes);
  }
  static void Fetch(Device* device, void* to, const void* from, size_t bytes) {
    FaultyDevice& self = Of(device);
    self.fetch_begun_ = self.OnCall(DeviceCall::kQueue);
    if (!self.fetch_begun_) return;
    Base(self).fetch(self.device_, to, from, bytes);
  }
  // Runs in another task than the device's other calls, so no fault begins
  // here. If the device fails during a copy, the copy does not arrive.
  static bool AwaitFetch(Device* device, gpu::DeviceText* why) {
    FaultyDevice& self = Of(device);
    const bool came = std::exchange(self.fetch_begun_, false) &&
                      Base(self).await_fetch(self.device_, why);
    if (!self.has_failed_) return came;
    std::snprintf(why->text, sizeof why->text,
                  "it failed before the copy came");
    return false;
  }
  static bool UseLibrary(Device* device, gpu::LibraryProducts products,
                         gpu::DeviceText* why) {
    FaultyDevice& self = Of(device);
    return Base(self).use_library(self.device_, products, why);
  }
  // Performs no fault: a release is not an operation of the device.
  static void Release(Device* device, void* memory) {
    FaultyDevice& self = Of(device);
    Base(self).release(self.device_, memory);
  }
  static void Pin(Device* device, void* memory, size_t bytes) {
    FaultyDevice& self = Of(device);
    Base(self).pin(self.device_, memory, bytes);
  }
  static void Unpin(Device* device, void* memory) {
    FaultyDevice& self = Of(device);
    Base(self).unpin(self.device_, memory);
  }
  static void Download(Device* device, void* to, const void* from,
                       size_t bytes) {
    FaultyDevice& self = Of(device);
    if (self.OnCall(DeviceCall::kWait)) {
      Base(self).download(self.device_, to, from, bytes);
    } else if (bytes > 0) {
      std::memset(to, 0, bytes);
    }
  }
  // A communicator uses the device behind this one.
  static gpu::Communicator* Begin(Device* device,
                                  const gpu::CommunicatorPlace& place,
                                  gpu::DeviceText* why) {
    FaultyDevice& self = Of(device);
    return self.base_.collective->begin(self.device_, place, why);
  }
  static DeviceApi Table(const DeviceApi& base);
};

DeviceApi FaultyDevice::Calls::Table(const DeviceApi& base) {
  DeviceApi api = base;
  api.open = Open;
  api.close = Close;
  api.failure = Failure;
  api.use_library = UseLibrary;
  api.allocate = Allocate;
  api.allocate_if_room = AllocateIfRoom;
  api.release = Release;
  api.pin = Pin;
  api.unpin = Unpin;
  api.download = Download;
  api.fetch = Fetch;
  api.await_fetch = AwaitFetch;
  Queue<&DeviceApi::upload>(api);
  Queue<&DeviceApi::copy>(api);
  Queue<&DeviceApi::clear>(api);
  Queue<&DeviceApi::mat_mul>(api);
  Queue<&DeviceApi::column_sums>(api);
  Queue<&DeviceApi::convolution>(api);
  Queue<&DeviceApi::kernel_gradient>(api);
  Queue<&DeviceApi::input_gradient>(api);
  Queue<&DeviceApi::activate>(api);
  Queue<&DeviceApi::activation_gradient>(api);
  Queue<&DeviceApi::dropout>(api);
  Queue<&DeviceApi::accumulate>(api);
  Queue<&DeviceApi::cross_entropy>(api);
  Queue<&DeviceApi::squared_error>(api);
  Queue<&DeviceApi::right_rows>(api);
  Queue<&DeviceApi::subtract_means>(api);
  Queue<&DeviceApi::moving_means>(api);
  Queue<&DeviceApi::adam>(api);
  Queue<&DeviceApi::sgd_momentum>(api);
  Queue<&DeviceApi::sgd>(api);
  Queue<&DeviceApi::sum>(api);
  Queue<&DeviceApi::sum_of_squares>(api);
  Queue<&DeviceApi::scale>(api);
  Queue<&DeviceApi::clip_values>(api);
  Queue<&DeviceApi::digest_blocks>(api);
  return api;
}

FaultyDevice::FaultyDevice(const gpu::DevicePlace& base, Injector& injector)
    : base_(base), injector_(injector) {
  if (base_.api != nullptr) api_ = Calls::Table(*base_.api);
  if (base_.collective == nullptr) return;
  collective_ = *base_.collective;
  collective_.begin = Calls::Begin;
}

gpu::DevicePlace FaultyDevice::place() {
  if (base_.api == nullptr) return base_;
  return {.api = &api_,
          .index = base_.index,
          .collective = base_.collective == nullptr ? nullptr : &collective_,
          .no_collective = base_.no_collective,
          .open = [this](int, gpu::DeviceText* why) { return Open(why); }};
}

// A process has one device: it is opened once.
gpu::Device* FaultyDevice::Open(gpu::DeviceText* why) {
  CHECK(device_ == nullptr, "a device is opened once");
  if (!OnCall(DeviceCall::kOpen)) {
    std::snprintf(why->text, sizeof why->text, "%s", failed_.c_str());
    return nullptr;
  }
  device_ = gpu::Open(base_, why);
  return device_ == nullptr ? nullptr : reinterpret_cast<gpu::Device*>(this);
}

bool FaultyDevice::OnCall(DeviceCall call) {
  while (failed_.empty() && injector_.AnyArmed()) {
    const std::optional<Injector::Armed> armed = injector_.TakeForDevice(call);
    if (!armed) break;
    if (!injector_.Fire(*armed)) continue;
    const Fault& fault = *armed->fault;
    if (fault.kind == FaultKind::kDeviceHang) {
      injector_.Hang(fault);
    } else if (fault.kind == FaultKind::kOutOfMemory &&
               call == DeviceCall::kAllocateIfRoom) {
      return false;
    } else {
      failed_ = DeviceErrorText(fault.kind == FaultKind::kOutOfMemory
                                    ? DeviceError::kMemoryAllocation
                                    : fault.with.device_error);
      has_failed_ = true;
    }
  }
  return failed_.empty();
}

}  // namespace gauntlet
