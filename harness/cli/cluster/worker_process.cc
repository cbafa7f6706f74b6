#include "harness/cli/cluster/worker_process.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chaos/inject/faulty_clock.h"
#include "chaos/inject/faulty_device.h"
#include "chaos/inject/faulty_network.h"
#include "chaos/inject/faulty_storage.h"
#include "chaos/inject/fiu_points.h"
#include "chaos/inject/injector.h"
#include "chaos/inject/process_effects.h"
#include "engine/api/weights/start_weights.h"
#include "engine/data/dataset.h"
#include "engine/real/storage/event_file.h"
#include "harness/cli/cluster/device_choice.h"
#include "harness/cli/cluster/plan_file.h"
#include "harness/run/executor/metadata_server.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct PlanStatePlaces {
  std::string state;        // PlanPlace::state
  std::string notice_file;  // announces a preemption; the worker polls it
};

// The fault plan of this process: the decorators between engine and world.
struct PlannedFaults {
  PlannedFaults(FaultPlan told, const PlanStatePlaces& places,
                const ProcessIdentity& self, RealWorld& real, EventLog& events)
      : plan(std::move(told)),
        network(real.network, real.clock, real.tasks, plan.seed, &events),
        clock(real.clock),
        effects(
            network, clock,
            {.file = places.notice_file, .http = MetadataFile(places.state)}),
        fired(places.state),
        injector(plan, self, effects, fired, events),
        points(injector, plan, ExternalControlFromEnvironment()),
        storage(real.storage, injector) {}

  const FaultPlan plan;
  FaultyNetwork network;
  FaultyClock clock;
  ProcessEffects effects;
  FiredFaultFiles fired;
  Injector injector;
  FiuPoints points;
  FaultyStorage storage;
};

Result<std::unique_ptr<PlannedFaults>> ReadPlan(const PlanPlace& place,
                                                const PreemptionOptions& told,
                                                const ProcessIdentity& self,
                                                RealWorld& real,
                                                EventLog& events) {
  const std::string& file = place.file;
  if (file.empty()) return std::unique_ptr<PlannedFaults>();
  ASSIGN_OR_RETURN(FaultPlan plan, ReadPlanFile(real.storage, file, told));
  const Status made = real.storage.MakeDirectory(place.state);
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
  const PlanStatePlaces places = {.state = place.state,
                                  .notice_file = told.file};
  return std::make_unique<PlannedFaults>(std::move(plan), places, self, real,
                                         events);
}

Result<std::unique_ptr<EventLog>> OpenEvents(const WorkerRun& run,
                                             const Clock& clock) {
  if (run.events_file.empty()) {
    return std::unique_ptr<EventLog>(std::make_unique<NullEventLog>());
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<EventFile> file,
      EventFile::Open(run.events_file,
                      {.worker = run.place.worker, .life = run.place.life},
                      clock, [&reporter = run.reporter](const Status& status) {
                        reporter.Progress(
                            {.line = fmt::format("event log: {}; it ends here",
                                                 status.message())});
                      }));
  return std::unique_ptr<EventLog>(std::move(file));
}

Status ProtectNetwork(RealWorld& real, const TlsFiles& files) {
  if (!files.used()) return OkStatus();
  ASSIGN_OR_RETURN(const TlsCredentials tls,
                   ReadTlsCredentials(real.storage, files));
  real.network.UseTls(tls);
  return OkStatus();
}

// Forwards events, and calls `on_formed` once the worker has its first state.
class FormedSignal final : public EventLog {
 public:
  FormedSignal(EventLog& events, const WorkerRun& run)
      : events_(events), also_(run.events), on_formed_(run.on_formed) {}

  void Emit(LogEvent event) override {
    const EventKind kind = event.kind;
    if (also_ != nullptr) also_->Emit(event);
    events_.Emit(std::move(event));
    const bool formed =
        kind == EventKind::kInitialized || kind == EventKind::kResumed;
    if (formed && on_formed_) on_formed_();
  }

 private:
  EventLog& events_;
  EventLog* const also_;
  const std::function<void()>& on_formed_;
};

}  // namespace

Status CheckIsWorker(const ClusterPlace& place) {
  if (place.rank != kNoRank) return OkStatus();
  return InvalidArgument(
      "TF_CONFIG: task.type: expected chief or worker, found evaluator "
      "(gauntlet "
      "train is one)");
}

WorkerExit ExitForStart(Code code) {
  switch (code) {
    case Code::kDeadlineExceeded:
    case Code::kUnavailable:
      return WorkerExit::kLostWorker;
    case Code::kResourceExhausted:
      return WorkerExit::kStartLater;
    case Code::kFailedPrecondition:
    case Code::kIoError:
      return WorkerExit::kFailed;
    default:
      return WorkerExit::kBadInput;
  }
}

Status RunRealWorker(RealWorld& real, const WorkerRun& run) {
  TrainOptions options = run.options;
  RETURN_IF_ERROR(ProtectNetwork(real, options.cluster.tls));
  options.kernels.device = DeviceOfLife(options.kernels, run.place.life);
  ASSIGN_OR_RETURN(const auto log, OpenEvents(run, real.clock));
  FormedSignal events(*log, run);
  const ProcessIdentity self = {.worker = run.place.worker,
                                .life = run.place.life,
                                .rank = run.place.rank};
  ASSIGN_OR_RETURN(const auto faults,
                   ReadPlan(run.plan, options.preemption, self, real, events));
  gpu::DevicePlace device = PlaceOnDevice(options, run.place.worker);
  std::optional<FaultyDevice> faulty;
  if (faults) device = faulty.emplace(device, faults->injector).place();
  ASSIGN_OR_RETURN(const auto data, LoadData(real.storage, options.job.data));
  World unharmed = real.world();
  ASSIGN_OR_RETURN(const std::vector<float> weights,
                   TakeStart(unharmed, data->train, options));
  Storage& storage = faults ? static_cast<Storage&>(faults->storage)
                            : static_cast<Storage&>(real.storage);
  FaultPoints& points = faults ? static_cast<FaultPoints&>(faults->points)
                               : static_cast<FaultPoints&>(real.faults);
  Network& network = faults ? static_cast<Network&>(faults->network)
                            : static_cast<Network&>(real.network);
  Clock& clock = faults ? static_cast<Clock&>(faults->clock)
                        : static_cast<Clock&>(real.clock);
  World world{clock,    storage, network, real.tasks,
              run.host, points,  events,  real.entropy};
  const std::string job_json = JobToJson(options.job, data->content);
  const TrainInputs inputs = {.options = options,
                              .data = *data,
                              .job_json = job_json,
                              .weights = weights,
                              .device = device};
  RunWorker(world, inputs, run.place, run.reporter, run.on_end);
}

}  // namespace gauntlet
