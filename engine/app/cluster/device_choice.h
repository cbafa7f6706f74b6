// Resolves --device and --collective by the devices of this machine.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_DEVICE_CHOICE_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_DEVICE_CHOICE_H_

#include "engine/cli/terminal/console.h"
#include "engine/gpu/device_kernels.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Replaces kAuto by a device of this machine and prints the choice to standard
// error. kInvalidArgument: CUDA was requested and is not available, or the
// device does not support --math.
Status ResolveDevice(KernelOptions& options, Console& console);

// Returns kInvalidArgument if NCCL was requested, but the `workers_here`
// workers on this machine cannot use it. REQUIRES: ResolveDevice succeeded.
Status CheckCollective(const TrainOptions& options, int workers_here);

// Returns the device of a worker; workers are assigned to the machine's devices
// round-robin. If the device has disappeared since ResolveDevice, or NCCL is
// missing, `no_device` or `no_collective` of the result has the error.
gpu::DevicePlace PlaceOnDevice(const TrainOptions& options, int worker);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_DEVICE_CHOICE_H_
