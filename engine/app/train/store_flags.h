// The checkpoint options of `gauntlet train`.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_
#define GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_

#include <optional>

#include "engine/cli/flags/flags.h"
#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Checkpoint flags except the directory, which is set in the options directly.
struct StoreFlags {
  std::optional<SaveTrigger> trigger;
  std::optional<SaveMode> mode;
  std::optional<int> shards;
  std::optional<int> keep;
  std::optional<int> keep_every_hours;
  bool delete_at_success = false;
  bool allow_cold_start = false;
};

void AddStoreFlags(Flags& flags, CheckpointOptions& checkpoint,
                   StoreFlags& told);

// Copies the flags into the options. kInvalidArgument names a flag that
// requires a checkpoint directory.
Status TakeStore(const StoreFlags& told, CheckpointOptions& checkpoint);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_
