// Directories that a training run writes to, checked before it starts.
#ifndef GAUNTLET_HARNESS_CLI_TRAIN_OUTPUT_PLACES_H_
#define GAUNTLET_HARNESS_CLI_TRAIN_OUTPUT_PLACES_H_

#include <string>

#include "engine/status.h"
#include "engine/world/storage.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// It is missing, not asked for (""), or a directory that can be written to;
// else kInvalidArgument says what stands there.
Status CheckOutputPlace(Storage& storage, const std::string& directory);

// kInvalidArgument: the name is "-", which is standard output elsewhere, and
// here would be a file.
Status CheckFileName(const std::string& file);

// kIoError names the file's folder if it is missing.
Status CheckFolderOf(const std::string& file);

// Returns OK if the file can be written, created or replaced, or if `file` is
// "". kIoError names the obstacle;
// kInvalidArgument: CheckFileName.
Status CheckOutputFile(const std::string& file);

// All of the command's, likewise, with the flag in front: "--ckpt: run:
// opendir: it is a link to /mnt/run, which does not exist". --export is not
// among them (MakeChiefPlaces).
Status CheckOutputPlaces(Storage& storage, const TrainCommand& command);

// Makes --tensorboard's directory, so that one that can never be made is
// refused before training. A full disk is no error: it may have room later, and
// curves that cannot be written never stop training.
Status MakeSummaryPlace(Storage& storage, const std::string& directory);

// The directories that the chief alone writes to: makes --tensorboard, and
// checks --export as PrepareExport does.
Status MakeChiefPlaces(Storage& storage, const TrainCommand& command);

// Makes --events, --logs and --ckpt, and the chief's. REQUIRES: CheckPlaces
// (train_command.h) found nothing wrong with them.
Status MakeOutputPlaces(Storage& storage, const TrainCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_TRAIN_OUTPUT_PLACES_H_
