#include "harness/cli/hooks/train_hooks.h"

#include <memory>

#include "harness/cli/hooks/launcher_faults.h"
#include "harness/cli/hooks/train_trace.h"
#include "harness/cli/hooks/worker_faults.h"

namespace gauntlet {

TrainHooks HarnessTrainHooks() {
  return {.launcher_faults = PrepareLauncherFaults,
          .worker_faults = ReadWorkerFaults,
          .launcher_trace = LocalTrace::Prepare,
          .worker_trace = [](const Clock& clock) {
            return std::make_unique<WorkerTrace>(clock);
          }};
}

}  // namespace gauntlet
