#include "harness/run/reference.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/numerics.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/text/units.h"
#include "harness/record/record_file.h"
#include "harness/run/executor/sim_run.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Maximum number of multiply-adds for which a run on the scalar path takes only
// seconds.
constexpr double kScalarLimit = 2e9;

double MultiplyAdds(const JobSpec& job, const RunPlan& plan,
                    const DataSplit& data) {
  double weights = 0;
  double width = static_cast<double>(data.train.features_per_sample());
  for (const LayerSpec& layer : job.model.layers) {
    if (layer.kind != LayerKind::kDense) continue;
    weights += width * layer.units;
    width = layer.units;
  }
  // Forward once, backward twice.
  return 3 * weights * data.train.samples *
         static_cast<double>(plan.train.horizon.epochs);
}

// Returns the part of a cache key that identifies the earlier run of a warm
// start; "" if there is no earlier run.
std::string NameOfBefore(const RunPlan& plan, const DataSplit& data) {
  if (!plan.before) return "";
  const TrainOptions& train = plan.before->train;
  return fmt::format(" behind {} epochs {}", JobToJson(train.job, data.content),
                     train.horizon.epochs);
}

Status TookTooLong(Duration limit) {
  return DeadlineExceeded(fmt::format(
      "the reference run took longer than {} of real time: give the job fewer "
      "steps, or the case a longer timeout.total",
      DurationToText(limit)));
}

void WriteToCache(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  // Ignores an error: the reference run is then not cached.
  static_cast<void>(WriteTextFile(path, text));
}

}  // namespace

RunPlan ReferencePlanOf(const RunPlan& plan, const DataSplit& data) {
  RunPlan reference = {
      .train = plan.train,
      .launch = {.workers = 1, .restart = RestartPolicy::kNone},
      .max_requeues = 0,
      // This limit is for simulated time, which passes only while a process
      // waits. So it never stops a run of one worker.
      .total_limit = std::chrono::hours(24),
      .interrupted = plan.interrupted};
  reference.train.checkpoint = {};
  reference.train.summary = {};
  reference.train.export_directory.clear();
  reference.train.horizon.stop_at_step.reset();
  reference.train.steps_per_execution = 1;
  // The reference run continues after a non-finite value. If the run of the
  // plan stops at one, only the steps before it are compared.
  reference.train.on_not_finite = OnNotFinite::kTrainOn;
  reference.train.kernels = {.isa = MultiplyAdds(plan.train.job, plan, data) <=
                                            kScalarLimit
                                        ? Isa::kScalar
                                        : Isa::kAuto};
  // The reference run has a single worker on the CPU, so it needs no NCCL.
  reference.train.cluster.collective = CollectiveChoice::kAuto;
  if (plan.before) {
    reference.before = plan.before;
    reference.before->workers = 1;
    reference.before->train.kernels = reference.train.kernels;
  }
  reference.train.digest_every = 1;
  reference.train.log_samples = true;
  return reference;
}

References::References(std::string cache_directory, std::string build,
                       std::function<bool()> interrupted, Duration least_limit)
    : cache_directory_(std::move(cache_directory)),
      build_(std::move(build)),
      interrupted_(std::move(interrupted)),
      least_limit_(least_limit) {}

Result<std::shared_ptr<const DataSplit>> References::DataOf(
    const DataSpec& spec) {
  JobSpec job;
  job.data = spec;
  const std::string key = JobToJson(job, {});
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const DataSplit>& data = data_[key];
  if (data == nullptr) {
    PosixStorage storage;
    ASSIGN_OR_RETURN(data, LoadData(storage, spec));
  }
  return data;
}

std::string References::CacheFile(const std::string& key) const {
  if (cache_directory_.empty()) return "";
  return fmt::format("{}/{}.jsonl", cache_directory_, DigestOf(key).ToString());
}

Result<std::shared_ptr<const GoldenTrajectory>> References::GoldenFor(
    const RunPlan& plan) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const DataSplit> data,
                   DataOf(plan.train.job.data));
  const Horizon& horizon = plan.train.horizon;
  const std::string key =
      fmt::format("{} {} epochs {} steps {}{} build {}",
                  JobToJson(plan.train.job, data->content), numerics::kVersion,
                  horizon.epochs, horizon.max_steps.value_or(0),
                  NameOfBefore(plan, *data), build_);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const GoldenTrajectory>& golden = golden_[key];
  if (golden != nullptr) return golden;
  const std::string file = CacheFile(key);
  const std::string text = file.empty() ? "" : ReadTextFile(file);
  const Parsed<Record> cached = ReadRecord(text, file);
  if (cached.ok() && cached.value->plan_json == key) {
    golden = std::make_shared<GoldenTrajectory>(cached.value->golden);
    return golden;
  }
  const Duration limit = std::max(plan.total_limit, least_limit_);
  Duration& exceeded = exceeded_[key];
  if (limit <= exceeded) return TookTooLong(limit);
  Result<GoldenTrajectory> made = Make(plan, *data, limit);
  if (made.status().code() == Code::kDeadlineExceeded) exceeded = limit;
  RETURN_IF_ERROR(made.status());
  if (!file.empty()) {
    WriteToCache(file, RecordToJsonLines({.plan_json = key, .golden = *made}));
  }
  golden = std::make_shared<GoldenTrajectory>(*std::move(made));
  return golden;
}

Result<GoldenTrajectory> References::Make(const RunPlan& plan,
                                          const DataSplit& data,
                                          Duration limit) {
  const auto& interrupted = plan.interrupted ? plan.interrupted : interrupted_;
  const auto is_interrupted = [&] { return interrupted && interrupted(); };
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto is_late = [&] { return std::chrono::steady_clock::now() >= end; };
  RunPlan reference = ReferencePlanOf(plan, data);
  reference.interrupted = [&] { return is_interrupted() || is_late(); };
  FiberPool pool;
  const RunLog log = RunSimulated(pool, reference, data);
  if (is_interrupted()) return Unavailable("interrupted");
  if (!log.harness_error.empty() && is_late()) return TookTooLong(limit);
  if (!log.harness_error.empty()) return FailedPrecondition(log.harness_error);
  if (log.incarnations.size() != 1 || log.launchers.size() != 1 ||
      log.launchers[0].exit_code != 0) {
    return FailedPrecondition(fmt::format(
        "the reference run did not finish (exit code {}): {}",
        log.launchers.empty() ? -1 : log.launchers[0].exit_code,
        log.why_not_done.empty() ? log.ending_detail : log.why_not_done));
  }
  return GoldenOf(log.incarnations[0]);
}

}  // namespace gauntlet
