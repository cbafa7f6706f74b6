// A device between the engine and the real one: performs the device faults of a
// plan and otherwise passes every call on.
//
// chaos/inject/plan/plan.h defines each fault. As safe for several tasks as the
// device behind it. A process has one FaultyDevice and one Injector.
#ifndef GAUNTLET_CHAOS_INJECT_FAULTY_DEVICE_H_
#define GAUNTLET_CHAOS_INJECT_FAULTY_DEVICE_H_

#include <atomic>
#include <string>

#include "chaos/inject/injector.h"
#include "engine/gpu/device_kernels.h"

namespace gauntlet {

class FaultyDevice {
 public:
  // If `base` has no device, no fault happens. Both arguments must outlive
  // this, and this must outlive the kernels.
  FaultyDevice(const gpu::DevicePlace& base, Injector& injector);
  FaultyDevice(const FaultyDevice&) = delete;
  FaultyDevice& operator=(const FaultyDevice&) = delete;

  // Returns the place to use instead of `base`.
  gpu::DevicePlace place();

 private:
  struct Calls;

  gpu::Device* Open(gpu::DeviceText* why);
  // Performs the faults that are due at the call. Returns false if the device
  // has failed, or has no room at a kAllocateIfRoom.
  bool OnCall(DeviceCall call);

  const gpu::DevicePlace base_;
  Injector& injector_;
  gpu::DeviceApi api_ = {};
  gpu::CollectiveApi collective_ = {};  // unused if the base has none
  gpu::Device* device_ = nullptr;       // opened by the base
  bool fetch_begun_ = false;
  std::string failed_;
  std::atomic<bool> has_failed_ = false;  // read by the task in AwaitFetch
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FAULTY_DEVICE_H_
