#include "harness/run/case_data.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/data/sample_schedule.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"
#include "harness/run/case_runner.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

Result<Dataset> LoadOutline(Storage& storage, const DataSpec& spec) {
  if (spec.kind == DataKind::kDigits) {
    Dataset outline = *DatasetWithoutFiles(spec);
    outline.samples = static_cast<uint32_t>(std::max(spec.samples, 0));
    return outline;
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const DataSplit> data,
                   LoadData(storage, spec));
  Dataset outline = data->train;
  outline.features.clear();
  outline.labels.clear();
  return outline;
}

// Checks that the samples fit the layers. If the shape of the samples is known
// without reading the data, the reader of the scenario has checked this
// already.
Status CheckLayersFit(const JobSpec& job, const Dataset& outline) {
  if (DatasetWithoutFiles(job.data)) return OkStatus();
  const Result<std::unique_ptr<Kernels>> kernels = Kernels::Create({});
  // Reports no error: a machine that cannot train is not a mistake in the
  // scenario.
  if (!kernels.ok()) return OkStatus();
  return Model::Build(job.model, outline.shape(), outline.classes, **kernels)
      .status();
}

}  // namespace

Result<Dataset> CaseDataChecker::OutlineOf(const DataSpec& spec) {
  JobSpec job;
  job.data = spec;
  const std::string key = JobToJson(job, {});
  const auto known = outlines_.find(key);
  if (known != outlines_.end()) return known->second;
  return outlines_.emplace(key, LoadOutline(storage_, spec)).first->second;
}

Status CaseDataChecker::CheckJob(const JobSpec& job) {
  ASSIGN_OR_RETURN(const Dataset outline, OutlineOf(job.data));
  RETURN_IF_ERROR(
      SampleSchedule::Make(job, {.samples = outline.samples,
                                 .samples_of_files = outline.samples_of_files})
          .status());
  return CheckLayersFit(job, outline);
}

Status CaseDataChecker::Check(const Case& one) {
  if (one.trainer) return OkStatus();
  const RunPlan plan = PlanOf(one);
  const auto place = [&one](std::string_view key) {
    return fmt::format("case {}: {}", one.name, key);
  };
  RETURN_IF_ERROR(Annotate(CheckJob(plan.train.job), place("job")));
  if (!plan.before) return OkStatus();
  return Annotate(CheckJob(plan.before->train.job), place("warm_start"));
}

}  // namespace gauntlet
