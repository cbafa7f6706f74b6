// The lock that keeps a second run out of a checkpoint directory.
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_STORE_LOCK_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_STORE_LOCK_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/storage.h"
#include "engine/world/world.h"

namespace gauntlet {

// Receives "DIRECTORY: in use by another run (…)", with the holder's name.
using OnLockWait = std::function<void(const std::string&)>;

// Held as long as the result lives. The directory is made if it is missing;
// nothing is done for "". A holder that is about to go, such as a predecessor's
// worker, is given that time; kFailedPrecondition if the lock is held after it.
// A wait is reported once, after a moment, to `on_wait` if there is one.
Result<std::unique_ptr<FileLock>> LockStore(World& world,
                                            const std::string& directory,
                                            Duration patience,
                                            const OnLockWait& on_wait = {});

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_STORE_LOCK_H_
