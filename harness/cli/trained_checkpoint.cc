#include "harness/cli/trained_checkpoint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/ckpt/checkpoint_reader.h"
#include "engine/ckpt/inspect.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// The directory of the one checkpoint that is meant.
Result<std::string> PathOfCheckpoint(World& world, const std::string& path) {
  const StorePath split = SplitStorePath(path);
  if (!split.name.empty()) return split.directory + "/" + split.name;
  ASSIGN_OR_RETURN(const std::string name, FindNext(world, split.directory));
  return split.directory + "/" + name;
}

Status Fill(World& world, const std::string& data_directory,
            TrainedCheckpoint& trained) {
  ASSIGN_OR_RETURN(LoadedCheckpoint loaded,
                   ReadCheckpoint(world, trained.path));
  trained.head = std::move(loaded.head);
  ASSIGN_OR_RETURN(JobSpec job, JobFromJson(trained.head.job_json));
  ASSIGN_OR_RETURN(
      trained.data,
      LoadDataOf(world.storage, job, trained.head.job_json, data_directory));
  const Dataset& train = trained.data->train;
  ASSIGN_OR_RETURN(trained.built,
                   BuildJobModel(job, train.shape(), train.classes, {}));
  trained.state.emplace(*trained.built.model, *trained.built.optimizer, job,
                        StartFrom::kCheckpoint);
  DropHookState(*trained.state, loaded.tensors);
  return trained.state->Restore(loaded.tensors, world.faults);
}

}  // namespace

Result<std::shared_ptr<const DataSplit>> LoadDataOf(
    Storage& storage, JobSpec& job, const std::string& job_json,
    const std::string& data_directory) {
  if (!data_directory.empty()) {
    if (job.data.kind == DataKind::kDigits) {
      return InvalidArgument(
          "--data: expected none, the job's digits are generated");
    }
    job.data.path = data_directory;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const DataSplit> data,
                   LoadData(storage, job.data));
  const std::string present = JobToJson(job, data->content);
  if (JobDigest(present) == JobDigest(job_json)) return data;
  const std::string difference = DescribeJobDifference(job_json, present);
  return InvalidArgument(fmt::format(
      "expected the data of the job: {}",
      difference.empty() ? "it is of another numerics contract" : difference));
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

Result<TrainedCheckpoint> LoadTrainedCheckpoint(
    World& world, const std::string& path, const std::string& data_directory) {
  TrainedCheckpoint trained;
  ASSIGN_OR_RETURN(trained.path, PathOfCheckpoint(world, path));
  RETURN_IF_ERROR(Annotate(Fill(world, data_directory, trained), trained.path));
  return trained;
}

}  // namespace gauntlet
