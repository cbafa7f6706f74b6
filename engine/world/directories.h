// Directories that last.
#ifndef GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_
#define GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_

#include <string>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// "." for a name alone.
std::string ParentDirectory(const std::string& path);

// The path without slashes at its end, but for the root's.
std::string WithoutLastSlashes(std::string path);

// Makes the directory and all that lead to it, durably; one that is there is
// fine. Each new ancestor is durable before the next one is made in it, so that
// after a crash only the deepest one that is there may still have to be synced.
Status MakeDurableDirectory(Storage& storage, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_
