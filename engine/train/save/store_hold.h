// Ownership of a checkpoint directory by one run: its lock, and the launch name
// under which the run claims generations.
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_STORE_HOLD_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_STORE_HOLD_H_

#include <memory>
#include <string>

#include "engine/status.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"
#include "engine/world/storage.h"
#include "engine/world/world.h"

namespace gauntlet {

// Lock of the directory, released by the destructor or the death of the
// process. Null: the run needs no lock, or its launcher holds the lock.
struct StoreHold {
  std::unique_ptr<FileLock> lock;
};

// For a worker that no launcher started: the chief locks the directory, and
// sets the name of the launch in `place`. Does nothing on other ranks, if
// `directory` is "", or if `place` already names a launch. If the lock is held,
// a single worker fails immediately. The chief of several workers waits up to
// `patience`, because a worker of an earlier run may still be exiting on
// another host. kFailedPrecondition: another run owns the directory.
Result<StoreHold> HoldStore(World& world, const std::string& directory,
                            WorkerSpec& place, Duration patience);

// Removes the directory if only the lock file is left in it: the run has then
// deleted the checkpoints.
void RemoveIfDeleted(Storage& storage, const std::string& directory,
                     const StoreHold& hold);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_STORE_HOLD_H_
