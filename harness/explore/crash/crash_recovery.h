// A chief's start on a crash state: the engine's own recovery, in a world that
// consists of a disk.
#ifndef GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_RECOVERY_H_
#define GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_RECOVERY_H_

#include <memory>
#include <span>
#include <string>

#include "chaos/sim/disk/disk_image.h"
#include "engine/ckpt/checkpoint_store.h"
#include "engine/world/world.h"

namespace gauntlet {

enum class RecoveryEnd : uint8_t {
  kState,      // a checkpoint was loaded
  kColdStart,  // starts again from the initial state
  kRefused,    // reports that no checkpoint is valid
  kFailed,     // any other error; must not occur on a disk that works
};

struct Recovered {
  RecoveryEnd end = RecoveryEnd::kFailed;
  uint64_t step = 0;    // kState
  Digest state_digest;  // kState: computed from what was loaded
  std::string detail;   // the checkpoint's name, or the error
  // kState: step and digest of the newest remaining checkpoint with a finite
  // state. Step 0: there is no such checkpoint.
  uint64_t finite_step = 0;
  Digest finite_digest;
};

class CrashRecovery {
 public:
  CrashRecovery(StoreOptions store, std::string job_json,
                std::span<const PlantedBug> bugs);
  ~CrashRecovery();
  CrashRecovery(const CrashRecovery&) = delete;
  CrashRecovery& operator=(const CrashRecovery&) = delete;

  // Claims a generation, chooses a checkpoint, verifies it, loads it. Its
  // writes stay in the image.
  Recovered Run(ImageDirectory& image);

 private:
  struct Outside;

  StoreOptions store_;
  std::string job_json_;
  std::unique_ptr<Outside> outside_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_RECOVERY_H_
