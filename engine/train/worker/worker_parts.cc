#include "engine/train/worker/worker_parts.h"

#include <utility>

#include "engine/train/save/model_export.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the `identity` of WithMemo: a digest of the job and of the kernels
// that this worker uses.
Digest IdentityOf(std::string_view job_json, const KernelOptions& kernels) {
  const Digest job = DigestOf(job_json);
  const uint64_t words[] = {job.high,
                            job.low,
                            static_cast<uint64_t>(kernels.isa),
                            static_cast<uint64_t>(kernels.math),
                            static_cast<uint64_t>(kernels.device),
                            static_cast<uint64_t>(kernels.threads)};
  return DigestOf(std::as_bytes(std::span(words)));
}

// Hits the fault point kDeviceOpen, before a device is opened. An error of the
// fault point counts as an unavailable device: a later incarnation may be able
// to open it.
Status HitDeviceOpen(World& world) {
  const Status hit = world.faults.Hit(Point::kDeviceOpen, {});
  return hit.ok() ? hit : Unavailable("device: " + hit.message());
}

Result<JobModel> BuildOnDevice(const WorkerParts& parts) {
  const TrainInputs& inputs = parts.inputs;
  const TrainOptions& options = inputs.options;
  const Dataset& train = inputs.data.train;
  if (options.kernels.device != DeviceKind::kCpu) {
    RETURN_IF_ERROR(HitDeviceOpen(parts.world));
  }
  return BuildJobModel(options.job, train.shape(), train.classes,
                       options.kernels, inputs.device);
}

Status BuildModel(WorkerParts& parts) {
  const TrainInputs& inputs = parts.inputs;
  const TrainOptions& options = inputs.options;
  Result<JobModel> built = BuildOnDevice(parts);
  if (built.status().code() == Code::kUnavailable) {
    parts.device_failure = built.status().message();
  }
  ASSIGN_OR_RETURN(parts.built, std::move(built));
  std::unique_ptr<Model>& model = parts.built.model;
  if (options.job.start.weights &&
      inputs.weights.size() != ValueCount(*model)) {
    return InvalidArgument(
        fmt::format("start.weights: expected {} floats, found {}",
                    ValueCount(*model), inputs.weights.size()));
  }
  if (inputs.memo != nullptr) {
    model =
        WithMemo(std::move(model), *parts.built.kernels,
                 IdentityOf(inputs.job_json, options.kernels), *inputs.memo);
  }
  return OkStatus();
}

}  // namespace

void WorkerParts::AnnounceReportWithin(Duration bound) const {
  if (!is_chief()) return;
  reporter.Progress({.patience = bound + options().cluster.lost_after});
}

void WorkerParts::SetState(TrainState new_state) {
  CHECK(!state, "the state before was not dropped");
  state.emplace(std::move(new_state));
  resident.emplace(*state, *built.kernels, world.faults);
}

void WorkerParts::DropState() {
  trainer.reset();
  spare.reset();
  resident.reset();
  state.reset();
}

std::optional<TrainState> WorkerParts::TakeState() {
  std::optional<TrainState> taken;
  if (state && resident->SyncToHost().ok()) {
    spare.reset();
    resident.reset();
    taken = std::move(state);
  }
  DropState();
  return taken;
}

Status Build(WorkerParts& parts) {
  const TrainOptions& options = parts.options();
  const Dataset& train = parts.inputs.data.train;
  RETURN_IF_ERROR(Validate(options.job));
  RETURN_IF_ERROR(CheckCluster(options.job, parts.place.addresses.size()));
  ASSIGN_OR_RETURN(
      parts.schedule,
      SampleSchedule::Make(options.job,
                           {.samples = train.samples,
                            .samples_of_files = train.samples_of_files}));
  if (parts.is_chief() && !parts.schedule->warning().empty()) {
    parts.reporter.Progress({.line = parts.schedule->warning()});
  }
  RETURN_IF_ERROR(BuildModel(parts));
  if (parts.is_chief() && !options.export_directory.empty()) {
    RETURN_IF_ERROR(
        Annotate(PrepareExport(parts.world.storage, options.export_directory),
                 "export"));
  }
  return OpenStore(parts);
}

Status OpenStore(WorkerParts& parts) {
  const CheckpointOptions& options = parts.options().checkpoint;
  if (options.directory.empty()) return OkStatus();
  ASSIGN_OR_RETURN(parts.store,
                   CheckpointStore::Open(
                       parts.world, {.directory = options.directory,
                                     .keep = options.keep,
                                     .keep_every_seconds = static_cast<int64_t>(
                                         options.keep_every_hours * 3600),
                                     .cold_start = options.allow_cold_start
                                                       ? ColdStart::kAllow
                                                       : ColdStart::kRefuse,
                                     .launch_hold = parts.launch_hold}));
  return OkStatus();
}

}  // namespace gauntlet
