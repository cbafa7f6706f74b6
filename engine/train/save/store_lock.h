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

// Locks the directory for as long as the result lives. Creates the directory if
// it is missing; does nothing if `directory` is empty. If another run holds the
// lock, waits up to `patience`, as a worker of an earlier run may be exiting;
// then returns kFailedPrecondition. Reports a wait of over 0.5 s once to
// `on_wait`, if set.
Result<std::unique_ptr<FileLock>> LockStore(World& world,
                                            const std::string& directory,
                                            Duration patience,
                                            const OnLockWait& on_wait = {});

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_STORE_LOCK_H_
