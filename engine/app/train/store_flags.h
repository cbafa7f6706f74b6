// The checkpoint options of `gauntlet train`.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_
#define GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_

#include <string>

#include "engine/cli/flags/flags.h"
#include "engine/train/options.h"

namespace gauntlet {

// Name of the first option that requires --ckpt among the given ones; "": none
// of the given options requires it.
struct FirstStoreFlag {
  std::string name;
};

// The flags write to `checkpoint` when they are parsed.
void AddStoreFlags(Flags& flags, CheckpointOptions& checkpoint,
                   FirstStoreFlag& first);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_STORE_FLAGS_H_
