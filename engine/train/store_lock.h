// The lock that keeps a second run out of a checkpoint directory.
#ifndef GAUNTLET_ENGINE_TRAIN_STORE_LOCK_H_
#define GAUNTLET_ENGINE_TRAIN_STORE_LOCK_H_

#include <memory>
#include <string>

#include "engine/status.h"
#include "engine/world/storage.h"
#include "engine/world/world.h"

namespace gauntlet {

// Held as long as the result lives. The directory is made if it is missing;
// nothing is done for "". A holder that is about to die is given a few seconds;
// kFailedPrecondition if the lock is held after that.
Result<std::unique_ptr<FileLock>> LockStore(World& world,
                                            const std::string& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STORE_LOCK_H_
