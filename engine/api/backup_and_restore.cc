#include "engine/api/backup_and_restore.h"

namespace gauntlet {

Status BackupAndRestore::Configure(TrainOptions& options) const {
  if (options_.backup_dir.empty()) {
    return InvalidArgument("backup_dir: expected a directory, found \"\"");
  }
  if (!options.checkpoint.directory.empty()) {
    return InvalidArgument(
        "callbacks: expected one BackupAndRestore, found two");
  }
  const SaveFrequency& frequency = options_.save_freq;
  if (frequency.unit != SaveUnit::kNone && frequency.every == 0) {
    return InvalidArgument("save_freq: expected at least 1, found 0");
  }
  if (frequency.unit == SaveUnit::kNone && !options_.save_before_preemption) {
    return InvalidArgument(
        "save_freq: expected a frequency, or save_before_preemption; found "
        "neither, which would never save");
  }
  options.checkpoint = {
      .directory = options_.backup_dir,
      .trigger = {.unit = frequency.unit, .every = frequency.every},
      .mode = options_.mode,
      .keep = 2,
      .at_success = options_.delete_checkpoint ? AtSuccess::kDeleteCheckpoints
                                               : AtSuccess::kSaveFinalState,
      .at_notice = options_.save_before_preemption ? OnPreemption::kSaveAndExit
                                                   : OnPreemption::kExit};
  return OkStatus();
}

}  // namespace gauntlet
