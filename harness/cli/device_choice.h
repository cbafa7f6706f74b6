// --device and --collective, settled: whether this machine has what was asked
// for.
#ifndef GAUNTLET_HARNESS_CLI_DEVICE_CHOICE_H_
#define GAUNTLET_HARNESS_CLI_DEVICE_CHOICE_H_

#include "engine/gpu/device_kernels.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "harness/cli/console.h"

namespace gauntlet {

// Turns auto into what there is, and says on standard error what that came to.
// kInvalidArgument: cuda was asked for and there is none, or goes with
// something else that it cannot do.
Status SettleDevice(KernelOptions& options, Console& console);

// kInvalidArgument: NCCL was asked for, and the workers that this process
// starts, or is, cannot have it. REQUIRES: the device is settled.
Status CheckCollective(const TrainOptions& options, int workers_here);

// What a worker of that number computes on; of several devices each worker has
// the next one. A machine that had one when it was settled may have lost it:
// why there is none is said in the place, as it is where there is no NCCL.
gpu::DevicePlace PlaceOnDevice(const TrainOptions& options, int worker);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_DEVICE_CHOICE_H_
