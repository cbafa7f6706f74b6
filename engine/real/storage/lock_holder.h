// The name of a lock's holder, stored in the locked file for processes that
// find it locked.
//
// One line: "process 4711 on machine-a since 2026-01-31T12:00:00Z: gauntlet
// train --ckpt run". The lock itself is flock's: the text does not imply that
// the lock is held.
#ifndef GAUNTLET_ENGINE_REAL_STORAGE_LOCK_HOLDER_H_
#define GAUNTLET_ENGINE_REAL_STORAGE_LOCK_HOLDER_H_

#include <string>

#include "engine/real/posix/descriptor.h"

namespace gauntlet {

// Writes a description of this process. If that fails, the file keeps its text:
// a full disk does not prevent locking. REQUIRES: this process holds the lock.
void WriteLockHolder(const Descriptor& file);

// Returns the text in printable characters; "another process" if there is no
// text.
std::string ReadLockHolder(const Descriptor& file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_STORAGE_LOCK_HOLDER_H_
