// Makes Fit fault tolerant: saves everything that the run depends on, resumes
// from it when the program is restarted, and deletes it when training is done.
#ifndef GAUNTLET_ENGINE_API_BACKUP_AND_RESTORE_H_
#define GAUNTLET_ENGINE_API_BACKUP_AND_RESTORE_H_

#include <cstdint>
#include <string>

#include "engine/api/callback.h"

namespace gauntlet {

// Frequency of the backups.
struct SaveFrequency {
  SaveUnit unit = SaveUnit::kEpochs;
  uint64_t every = 1;

  // Saves at the end of each epoch. A restart repeats the interrupted epoch
  // from its beginning.
  static SaveFrequency Epoch() { return {}; }
  // Saves every `every` steps. A restart resumes at exactly the last saved
  // step.
  static SaveFrequency Steps(uint64_t every) {
    return {.unit = SaveUnit::kSteps, .every = every};
  }
  // Saves only before a preemption.
  static SaveFrequency Never() { return {.unit = SaveUnit::kNone, .every = 0}; }
};

struct BackupOptions {
  // Directory that no other run uses. It holds two backups: the second is a
  // fallback.
  std::string backup_dir;
  SaveFrequency save_freq;
  // kAsync: a copy of the state is written while training continues. kZeroCopy:
  // the state itself is written while training updates a second one, so memory
  // holds two states.
  SaveMode mode = SaveMode::kSync;
  // If true, the backup is deleted once training has finished. A failed run
  // keeps it.
  bool delete_checkpoint = true;
  // Effect of a preemption notice. If true, all workers save at the same
  // boundary and exit. If false, they exit without a save.
  bool save_before_preemption = false;
};

// The results of Fit are bitwise identical whether Fit was interrupted or not,
// at any save frequency.
class BackupAndRestore final : public Callback {
 public:
  explicit BackupAndRestore(BackupOptions options)
      : options_(std::move(options)) {}

  std::string name() const override { return "backup_and_restore"; }
  // kInvalidArgument: no directory, a frequency of 0, neither a frequency nor
  // save_before_preemption, or a second callback of this kind.
  Status Configure(TrainOptions& options) const override;

 private:
  BackupOptions options_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_BACKUP_AND_RESTORE_H_
