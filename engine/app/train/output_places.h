// Output directories and files of a training run, checked before it starts.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_OUTPUT_PLACES_H_
#define GAUNTLET_ENGINE_APP_TRAIN_OUTPUT_PLACES_H_

#include <string>

#include "engine/app/commands.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// Returns OK if the directory is missing or writable, or if `directory` is ""
// (not requested). kInvalidArgument: anything else; the message names the
// obstacle.
Status CheckOutputPlace(Storage& storage, const std::string& directory);

// Checks all output directories and files of the command, except --export,
// which MakeChiefPlaces checks. Errors begin with the flag: "--ckpt: run:
// opendir: it is a link to /mnt/run, which does not exist".
Status CheckOutputPlaces(Storage& storage, const TrainCommand& command);

// Creates --tensorboard's directory, so that a directory that cannot be created
// is reported before training. A full disk is not an error: there may be space
// later, and curves that cannot be written never stop training.
Status MakeSummaryPlace(Storage& storage, const std::string& directory);

// Prepares the directories that only the chief writes to: first --export, with
// PrepareExport, and then --tensorboard, with MakeSummaryPlace.
Status MakeChiefPlaces(Storage& storage, const TrainCommand& command);

// Creates the chief's directories, then --events, --logs and --ckpt. REQUIRES:
// CheckPlaces (train_command.h) returned OK.
Status MakeOutputPlaces(Storage& storage, const TrainCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_OUTPUT_PLACES_H_
