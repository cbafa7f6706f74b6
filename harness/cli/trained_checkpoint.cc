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

struct DataWanted {
  const std::string& directory;  // empty: where the job says
  LoadFor use;
};

// What the first dense layer takes, flat, where nothing before it needs more.
std::optional<Dataset> FlatRows(const JobSpec& job,
                                const LoadedCheckpoint& loaded) {
  const auto kernel = loaded.tensors.find("dense0/kernel");
  if (job.data.kind != DataKind::kIdx || kernel == loaded.tensors.end() ||
      kernel->second.shape.size() != 2 ||
      job.model.layers.front().kind != LayerKind::kFlatten) {
    return std::nullopt;
  }
  return Dataset{
      .height = 1,
      .width = static_cast<uint32_t>(kernel->second.shape[0]),
      .classes = static_cast<uint32_t>(job.model.layers.back().units)};
}

Result<std::shared_ptr<const DataSplit>> DataFor(World& world, JobSpec& job,
                                                 const LoadedCheckpoint& loaded,
                                                 const DataWanted& wanted) {
  const auto without_rows = [](const Dataset& rows) {
    auto split = std::make_shared<DataSplit>();
    split->train = split->validation = rows;
    return std::shared_ptr<const DataSplit>(std::move(split));
  };
  const bool may_do_without =
      wanted.use == LoadFor::kModel && wanted.directory.empty();
  const auto known = RowsKnownOf(job.data);
  if (may_do_without && known) return without_rows(*known);
  auto data =
      LoadDataOf(world.storage, job, loaded.head.job_json, wanted.directory);
  if (data.ok() || !may_do_without) return data;
  const auto flat = FlatRows(job, loaded);
  if (flat) return without_rows(*flat);
  return Annotate(data.status(),
                  "the shape of a row is not known without the job's data "
                  "(--data DIR)");
}

Status Fill(World& world, const DataWanted& wanted,
            TrainedCheckpoint& trained) {
  ASSIGN_OR_RETURN(LoadedCheckpoint loaded,
                   ReadCheckpoint(world, trained.path));
  trained.head = loaded.head;
  ASSIGN_OR_RETURN(JobSpec job, JobFromJson(trained.head.job_json));
  ASSIGN_OR_RETURN(trained.data, DataFor(world, job, loaded, wanted));
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
    World& world, const std::string& path, const std::string& data_directory,
    LoadFor use) {
  TrainedCheckpoint trained;
  ASSIGN_OR_RETURN(trained.path, PathOfCheckpoint(world, path));
  const DataWanted wanted = {.directory = data_directory, .use = use};
  RETURN_IF_ERROR(Annotate(Fill(world, wanted, trained), trained.path));
  return trained;
}

}  // namespace gauntlet
