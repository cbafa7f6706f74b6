// --device, settled: whether this machine has what was asked for.
#ifndef GAUNTLET_HARNESS_CLI_DEVICE_CHOICE_H_
#define GAUNTLET_HARNESS_CLI_DEVICE_CHOICE_H_

#include "engine/gpu/device_kernels.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "harness/cli/console.h"

namespace gauntlet {

// Turns auto into what there is, and says on standard error what that came to.
// kInvalidArgument: cuda was asked for and there is none, or goes with
// something else that it cannot do.
Status SettleDevice(KernelOptions& options, Console& console);

// What a worker of that number computes on; of several devices each worker has
// the next one.
Result<gpu::DevicePlace> PlaceOnDevice(const KernelOptions& options,
                                       int worker);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_DEVICE_CHOICE_H_
