// A checkpoint with all that its parameters are of use for: the job's model and
// the data that it was trained on.
#ifndef GAUNTLET_HARNESS_CLI_CKPT_TRAINED_CHECKPOINT_H_
#define GAUNTLET_HARNESS_CLI_CKPT_TRAINED_CHECKPOINT_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/data/dataset.h"
#include "engine/job/job.h"
#include "engine/status.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"
#include "harness/cli/flags/data_place.h"

namespace gauntlet {

struct TrainedCheckpoint {
  std::string path;
  CheckpointHead head;
  std::shared_ptr<const DataSplit> data;
  JobModel built;
  std::optional<TrainState> state;
};

// Purpose of loading a checkpoint. kModel needs no samples: if the job states
// their shape, no data file is read and `data` is empty.
enum class LoadFor : uint8_t { kModel, kPredictions };

// Loads a checkpoint; from a checkpoint directory, the one that a run would
// resume from. Errors name what cannot be read, or how the data differ from the
// job's.
Result<TrainedCheckpoint> LoadTrainedCheckpoint(World& world,
                                                const std::string& path,
                                                const DataPlace& place,
                                                LoadFor use);

// Returns the job of a checkpoint. kInvalidArgument: the text is no job, or the
// job's checkpoints hold only some of the parameters.
Result<JobSpec> WholeJobOf(const std::string& job_json);

// The data that a checkpoint's job was trained on; the job's paths follow the
// place. kInvalidArgument says how they differ.
Result<std::shared_ptr<const DataSplit>> LoadDataOf(Storage& storage,
                                                    JobSpec& job,
                                                    const std::string& job_json,
                                                    const DataPlace& place);

// A store, and the name of the one checkpoint in it that is asked for.
struct StorePath {
  std::string directory;
  std::string name;  // empty: all
};

// Checkpoints are told from stores by their names.
StorePath SplitStorePath(std::string path);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CKPT_TRAINED_CHECKPOINT_H_
