// Ownership of a checkpoint directory for one run: its lock, and the launch
// that claims in it.
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

// Released when it is destroyed, and by the death of the process. Null: the
// run needs none, or whoever started it holds the directory.
struct StoreHold {
  std::unique_ptr<FileLock> lock;
};

// For a worker whose process nobody launched for it: the chief takes the
// directory, and its launch becomes that of this launch. Nothing is done
// for other ranks, for "", or where `place` has a launch already. A worker on
// its own is refused at once; the chief of several waits that long, as a
// predecessor may be on another host and still on its way out.
// kFailedPrecondition: another run owns the directory.
Result<StoreHold> HoldStore(World& world, const std::string& directory,
                            WorkerSpec& place, Duration patience);

// Removes a directory in which the run has deleted everything but its lock.
void RemoveIfDeleted(Storage& storage, const std::string& directory,
                     const StoreHold& hold);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_STORE_HOLD_H_
