#include "engine/app/cluster/worker_process.h"

#include <memory>
#include <utility>
#include <vector>

#include "engine/api/weights/start_weights.h"
#include "engine/app/cluster/device_choice.h"
#include "engine/data/dataset.h"
#include "engine/real/storage/event_file.h"
#include "engine/real/storage/event_log_end.h"

namespace gauntlet {
namespace {

Result<std::unique_ptr<EventLog>> OpenEvents(const WorkerRun& run,
                                             const Clock& clock) {
  if (run.events_file.empty()) {
    return std::unique_ptr<EventLog>(std::make_unique<NullEventLog>());
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<EventFile> file,
      EventFile::Open(
          run.events_file,
          {.worker = run.place.worker, .incarnation = run.place.incarnation},
          clock, [&reporter = run.reporter](const Status& status) {
            reporter.Progress({.line = EventLogEndLine(status)});
          }));
  return std::unique_ptr<EventLog>(std::move(file));
}

Status ProtectNetwork(RealWorld& real, const TlsFiles& files) {
  if (!files.is_set()) return OkStatus();
  ASSIGN_OR_RETURN(const TlsCredentials tls,
                   ReadTlsCredentials(real.storage, files));
  real.network.UseTls(tls);
  return OkStatus();
}

// Forwards events, and calls `on_formed` when an event shows that the worker
// has initialized or loaded its state.
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
  const Time began = real.clock.Now();
  TrainOptions options = run.options;
  RETURN_IF_ERROR(ProtectNetwork(real, options.cluster.tls));
  options.kernels.device =
      DeviceOfAttempt(options.kernels, run.place.incarnation);
  ASSIGN_OR_RETURN(const auto log, OpenEvents(run, real.clock));
  FormedSignal events(*log, run);
  ASSIGN_OR_RETURN(const std::unique_ptr<WorkerFaults> faults,
                   run.hooks.worker_faults({.plan = run.plan,
                                            .preemption = options.preemption,
                                            .place = run.place,
                                            .real = real,
                                            .events = events}));
  gpu::DevicePlace device = PlaceOnDevice(options, run.place.worker);
  if (faults) device = faults->AddFaults(device);
  ASSIGN_OR_RETURN(const auto data, LoadData(real.storage, options.job.data));
  World unharmed = real.world();
  ASSIGN_OR_RETURN(const std::vector<float> weights,
                   LoadStartWeights(unharmed, data->train, options));
  const World without_faults{real.clock, real.storage, real.network,
                             real.tasks, run.host,     real.faults,
                             events,     real.entropy};
  World world = faults ? faults->AddFaults(without_faults) : without_faults;
  const std::string job_json = JobToJson(options.job, data->content);
  const TrainInputs inputs = {.options = options,
                              .data = *data,
                              .job_json = job_json,
                              .weights = weights,
                              .device = device,
                              .loaded_since = began};
  RunWorkerAndExit(world, inputs, run.place, run.reporter, run.on_end);
}

}  // namespace gauntlet
