// A checkpoint together with its job's model and the data it was trained on.
#ifndef GAUNTLET_ENGINE_APP_CKPT_TRAINED_CHECKPOINT_H_
#define GAUNTLET_ENGINE_APP_CKPT_TRAINED_CHECKPOINT_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/app/data_paths.h"
#include "engine/ckpt/checkpoint_store.h"
#include "engine/data/dataset.h"
#include "engine/job/job.h"
#include "engine/status.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

struct TrainedCheckpoint {
  std::string path;
  CheckpointHead head;
  std::shared_ptr<const DataSplit> data;
  JobModel built;
  std::optional<TrainState> state;
};

// Purpose for which a checkpoint is loaded. kModel needs no samples: if the job
// states their shape, no data file is read and `data` has no samples.
enum class LoadFor : uint8_t { kModel, kPredictions };

// Loads a checkpoint. If `path` is a checkpoint directory, loads the checkpoint
// that a run would resume from. Errors name the file that cannot be read, or
// state how the data differ from the job's.
Result<TrainedCheckpoint> LoadTrainedCheckpoint(World& world,
                                                const std::string& path,
                                                const DataPaths& place,
                                                LoadFor use);

// Returns the job that a checkpoint states. kInvalidArgument: the text is not a
// job, or the job's checkpoints contain only some of the parameters.
Result<JobSpec> WholeJobOf(const std::string& job_json);

// Loads the data that a checkpoint's job was trained on, from `place`, and sets
// the paths in `job` accordingly. kOtherJob: the data differ from the job's;
// the message states how.
Result<std::shared_ptr<const DataSplit>> LoadDataOf(Storage& storage,
                                                    JobSpec& job,
                                                    const std::string& job_json,
                                                    const DataPaths& place);

// A checkpoint directory, and the name of one checkpoint in it.
struct StorePath {
  std::string directory;
  std::string name;  // empty: all checkpoints
};

// Splits a path. Its last part is taken as the name of a checkpoint if it
// begins like one ("step-", "rejected-"); otherwise the whole path is a
// directory.
StorePath SplitStorePath(std::string path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CKPT_TRAINED_CHECKPOINT_H_
