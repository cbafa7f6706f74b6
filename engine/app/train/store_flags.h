// The checkpoint options of `gauntlet train`.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_
#define GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_

#include <string>

#include "engine/cli/flags/flags.h"
#include "engine/train/options.h"

namespace gauntlet {

// Name of the first given option that requires --ckpt; "" if there is none.
struct FirstStoreFlag {
  std::string name;
};

// When they are parsed, the flags write to `checkpoint` and `first`.
void AddStoreFlags(Flags& flags, CheckpointOptions& checkpoint,
                   FirstStoreFlag& first);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_
