// A chief's start on a disk image: the engine's own recovery, in a world that
// has a disk and nothing else.
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
  kColdStart,  // begins anew
  kRefused,    // says that no checkpoint is valid
  kFailed,     // any other error: none is due on a disk that works
};

struct Recovered {
  RecoveryEnd end = RecoveryEnd::kFailed;
  uint64_t step = 0;    // kState
  Digest state_digest;  // kState: computed from what was loaded
  std::string detail;   // the checkpoint's name, or the error
  // kState: of the newest checkpoint that stays and whose state is finite; a
  // step of 0: there is none.
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

  // Claims, chooses, verifies, loads; leaves its writes in the image.
  Recovered Run(ImageDirectory& image);

 private:
  struct Outside;

  StoreOptions store_;
  std::string job_json_;
  std::unique_ptr<Outside> outside_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_RECOVERY_H_
