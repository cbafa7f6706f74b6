#include "engine/app/ckpt/trained_checkpoint.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/ckpt/inspect.h"
#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the directory of the one checkpoint that the path selects.
Result<std::string> PathOfCheckpoint(World& world, const std::string& path) {
  const StorePath split = SplitStorePath(path);
  if (!split.name.empty()) return split.directory + "/" + split.name;
  ASSIGN_OR_RETURN(const std::string name,
                   FindResumeCheckpoint(world, split.directory));
  return split.directory + "/" + name;
}

Status MoveTo(const DataPaths& place, DataSpec& data) {
  for (const auto& [flag, text, path] :
       {std::tuple{"--data", &place.directory, &data.path},
        {"--validation", &place.validation_directory, &data.validation_path}}) {
    if (text->empty()) continue;
    if (data.kind == DataKind::kDigits) {
      return InvalidArgument(fmt::format(
          "{}: expected none, the job's digits are generated", flag));
    }
    *path = *text;
  }
  return OkStatus();
}

struct DataWanted {
  const DataPaths& place;
  LoadFor use;
};

Result<std::shared_ptr<const DataSplit>> DataFor(World& world, JobSpec& job,
                                                 const std::string& job_json,
                                                 const DataWanted& wanted) {
  const DataPaths& place = wanted.place;
  const bool may_do_without = wanted.use == LoadFor::kModel &&
                              place.directory.empty() &&
                              place.validation_directory.empty();
  if (!may_do_without) return LoadDataOf(world.storage, job, job_json, place);
  if (const auto data = DatasetWithoutFiles(job.data)) {
    auto split = std::make_shared<DataSplit>();
    split->train = split->validation = *data;
    return std::shared_ptr<const DataSplit>(std::move(split));
  }
  auto data = LoadDataOf(world.storage, job, job_json, place);
  if (data.ok()) return data;
  return Annotate(data.status(),
                  "the shape of a sample is not known without the job's data "
                  "(--data DIR)");
}

Status Fill(World& world, const DataWanted& wanted,
            TrainedCheckpoint& trained) {
  ASSIGN_OR_RETURN(LoadedCheckpoint loaded,
                   ReadCheckpoint(world, trained.path));
  trained.head = std::move(loaded.head);
  ASSIGN_OR_RETURN(JobSpec job, WholeJobOf(trained.head.job_json));
  ASSIGN_OR_RETURN(trained.data,
                   DataFor(world, job, trained.head.job_json, wanted));
  const Dataset& train = trained.data->train;
  ASSIGN_OR_RETURN(trained.built,
                   BuildJobModel(job, train.shape(), train.classes, {}));
  trained.state.emplace(*trained.built.model, *trained.built.optimizer, job,
                        StartFrom::kCheckpoint);
  DropHookState(*trained.state, loaded.tensors);
  return trained.state->Restore(loaded.tensors, world.faults);
}

}  // namespace

Result<JobSpec> WholeJobOf(const std::string& job_json) {
  ASSIGN_OR_RETURN(JobSpec job, JobFromJson(job_json));
  if (job.saved.empty()) return job;
  return InvalidArgument(
      fmt::format("expected a checkpoint of the whole model, found only {}",
                  fmt::join(job.saved, ", ")));
}

Result<std::shared_ptr<const DataSplit>> LoadDataOf(Storage& storage,
                                                    JobSpec& job,
                                                    const std::string& job_json,
                                                    const DataPaths& place) {
  RETURN_IF_ERROR(MoveTo(place, job.data));
  ASSIGN_OR_RETURN(std::shared_ptr<const DataSplit> data,
                   LoadData(storage, job.data));
  const std::string present = JobToJson(job, data->content);
  if (JobDigest(present) == JobDigest(job_json)) return data;
  const std::string difference = DescribeJobDifference(job_json, present);
  if (difference.empty()) {
    return InvalidArgument("the job is of another numerics contract");
  }
  return OtherJob(fmt::format(
      "the checkpoint was written by another job: use the original data. {}",
      difference));
}

StorePath SplitStorePath(std::string path) {
  path = WithoutLastSlashes(std::move(path));
  const size_t slash = path.rfind('/');
  const std::string name = path.substr(slash == path.npos ? 0 : slash + 1);
  if (!name.starts_with("step-") && !name.starts_with("rejected-")) {
    return {.directory = path, .name = ""};
  }
  if (slash == path.npos) return {.directory = ".", .name = name};
  return {.directory = slash == 0 ? "/" : path.substr(0, slash), .name = name};
}

Result<TrainedCheckpoint> LoadTrainedCheckpoint(World& world,
                                                const std::string& path,
                                                const DataPaths& place,
                                                LoadFor use) {
  TrainedCheckpoint trained;
  ASSIGN_OR_RETURN(trained.path, PathOfCheckpoint(world, path));
  RETURN_IF_ERROR(Annotate(Fill(world, {.place = place, .use = use}, trained),
                           trained.path));
  return trained;
}

}  // namespace gauntlet
