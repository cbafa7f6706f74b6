#include "harness/cli/hooks/worker_faults.h"

#include <optional>
#include <string>
#include <utility>

#include "chaos/inject/faulty_clock.h"
#include "chaos/inject/faulty_device.h"
#include "chaos/inject/faulty_network.h"
#include "chaos/inject/faulty_storage.h"
#include "chaos/inject/fiu_points.h"
#include "chaos/inject/injector.h"
#include "chaos/inject/process_effects.h"
#include "harness/cli/hooks/plan_file.h"
#include "harness/run/executor/metadata_server.h"

namespace gauntlet {
namespace {

// Wraps the interfaces to the world in decorators that inject the faults of
// this process.
class PlannedFaults final : public WorkerFaults {
 public:
  // A fault gives a preemption notice by creating a file: the target's notice
  // file, for which the worker polls; or, for a notice over HTTP, the
  // MetadataFile, which changes the answer of the metadata server.
  PlannedFaults(FaultPlan plan, const WorkerFaultsTarget& target,
                ExternalControl external)
      : plan_(std::move(plan)),
        network_(target.real.network, target.real.clock, target.real.tasks,
                 plan_.seed, &target.events),
        clock_(target.real.clock),
        effects_(network_, clock_,
                 {.file = target.preemption.file,
                  .http = MetadataFile(target.plan.state)}),
        fired_(target.plan.state),
        injector_(plan_,
                  {.worker = target.place.worker,
                   .incarnation = target.place.incarnation,
                   .rank = target.place.rank},
                  effects_, fired_, target.events),
        points_(injector_, plan_, external),
        storage_(target.real.storage, injector_) {}

  gpu::DevicePlace AddFaults(const gpu::DevicePlace& device) override {
    return device_.emplace(device, injector_).place();
  }

  World AddFaults(const World& world) override {
    return {clock_,     storage_, network_,     world.tasks,
            world.host, points_,  world.events, world.entropy};
  }

 private:
  const FaultPlan plan_;
  FaultyNetwork network_;
  FaultyClock clock_;
  ProcessEffects effects_;
  FiredFaultFiles fired_;
  Injector injector_;
  FiuPoints points_;
  FaultyStorage storage_;
  std::optional<FaultyDevice> device_;
};

}  // namespace

Result<std::unique_ptr<WorkerFaults>> ReadWorkerFaults(
    const WorkerFaultsTarget& target) {
  const ExternalControl external = ExternalControlFromEnvironment();
  const bool planned = !target.plan.file.empty();
  if (!planned && external == ExternalControl::kOff) {
    return std::unique_ptr<WorkerFaults>();
  }
  FaultPlan plan;
  if (planned) {
    Storage& storage = target.real.storage;
    ASSIGN_OR_RETURN(
        plan, ReadPlanFile(storage, target.plan.file, target.preemption));
    const Status made = storage.MakeDirectory(target.plan.state);
    if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
  }
  return std::unique_ptr<WorkerFaults>(
      std::make_unique<PlannedFaults>(std::move(plan), target, external));
}

}  // namespace gauntlet
