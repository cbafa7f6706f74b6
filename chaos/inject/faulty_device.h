// A device between the engine and the one that it computes on: lets the device
// faults of a plan happen, and is that device in all else.
//
// What each fault does is said in chaos/inject/plan.h. For as many tasks at
// once as the device behind it is; a process has one, beside its Injector.
#ifndef GAUNTLET_CHAOS_INJECT_FAULTY_DEVICE_H_
#define GAUNTLET_CHAOS_INJECT_FAULTY_DEVICE_H_

#include <atomic>
#include <string>

#include "chaos/inject/injector.h"
#include "engine/gpu/device_kernels.h"

namespace gauntlet {

class FaultyDevice {
 public:
  // Of a place without a device, which nothing happens to. Both must outlive
  // this, and this the kernels.
  FaultyDevice(const gpu::DevicePlace& base, Injector& injector);
  FaultyDevice(const FaultyDevice&) = delete;
  FaultyDevice& operator=(const FaultyDevice&) = delete;

  // What stands in the place of `base`.
  gpu::DevicePlace place();

 private:
  struct Calls;

  gpu::Device* Open(gpu::DeviceText* why);
  // Lets happen what is due. False: the device has failed, or has no room where
  // that is no failure.
  bool Meet(DeviceCall call);

  const gpu::DevicePlace base_;
  Injector& injector_;
  gpu::DeviceApi api_ = {};
  gpu::CollectiveApi collective_ = {};  // where the base has one
  gpu::Device* device_ = nullptr;       // opened by the base
  bool fetch_begun_ = false;
  std::string failed_;
  std::atomic<bool> has_failed_ = false;  // for the task that awaits
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FAULTY_DEVICE_H_
