// The name of a lock's holder, kept in the locked file for whoever meets it.
//
// One line: "process 4711 on machine-a since 2026-01-31T12:00:00Z: gauntlet
// train --ckpt run". The lock itself is flock's: the text says nothing of
// whether it is held.
#ifndef GAUNTLET_ENGINE_REAL_STORAGE_LOCK_HOLDER_H_
#define GAUNTLET_ENGINE_REAL_STORAGE_LOCK_HOLDER_H_

#include <string>

#include "engine/real/posix/descriptor.h"

namespace gauntlet {

// Describes this process. A file that cannot be written keeps its text: a full
// disk keeps nobody from locking. REQUIRES: this process holds the lock.
void WriteLockHolder(const Descriptor& file);

// The text, in printable characters; "another process" where there is none.
std::string ReadLockHolder(const Descriptor& file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_STORAGE_LOCK_HOLDER_H_
