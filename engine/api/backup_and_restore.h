// Makes Fit survive: saves what the run depends on, goes on from there when the
// program is started again, and clears up when training is done.
#ifndef GAUNTLET_ENGINE_API_BACKUP_AND_RESTORE_H_
#define GAUNTLET_ENGINE_API_BACKUP_AND_RESTORE_H_

#include <cstdint>
#include <string>

#include "engine/api/callback.h"

namespace gauntlet {

// When a backup is made.
struct SaveFrequency {
  SaveUnit unit = SaveUnit::kEpochs;
  uint64_t every = 1;

  // A restart redoes the epoch that was interrupted, from its beginning.
  static SaveFrequency Epoch() { return {}; }
  // A restart goes on at exactly the saved step.
  static SaveFrequency Steps(uint64_t every) {
    return {.unit = SaveUnit::kSteps, .every = every};
  }
  // Only before a preemption.
  static SaveFrequency Never() { return {.unit = SaveUnit::kNone, .every = 0}; }
};

struct BackupOptions {
  // Directory of this run alone. It holds two copies: one to fall back to.
  std::string backup_dir;
  SaveFrequency save_freq;
  // kAsync: training goes on while a copy is written. kZeroCopy: while the
  // state itself is written, which is held twice.
  SaveMode mode = SaveMode::kSync;
  // If true, the backup is deleted once training is done. A run that fails
  // keeps it.
  bool delete_checkpoint = true;
  // If true, a termination notice is answered with a save at the next boundary
  // that all workers share. Otherwise they leave without a save.
  bool save_before_preemption = false;
};

// Fit's bits are the same whether it was interrupted or not, whatever the
// frequency.
class BackupAndRestore final : public Callback {
 public:
  explicit BackupAndRestore(BackupOptions options)
      : options_(std::move(options)) {}

  std::string name() const override { return "backup_and_restore"; }
  // kInvalidArgument: no directory, a frequency of 0, no occasion at all to
  // save, or a second callback of this kind.
  Status Configure(TrainOptions& options) const override;

 private:
  BackupOptions options_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_BACKUP_AND_RESTORE_H_
