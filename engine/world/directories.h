// Paths, and directories that last.
#ifndef GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_
#define GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_

#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// The one rule for every path a user names: UTF-8, no control characters, no
// name that is too long for any file system, and as a whole short enough for
// the files below it. Paths travel as JSON and in lines of text, where other
// bytes would change or end them. kInvalidArgument quotes the path with its
// bytes escaped.
Status CheckPath(std::string_view path);

// "." for a name alone.
std::string ParentDirectory(const std::string& path);

// Returns the path without trailing slashes; "/" stays as it is.
std::string WithoutLastSlashes(std::string path);

// Makes the directory and all that lead to it, durably; one that is there is
// fine. Each new ancestor is durable before the next one is made in it, so that
// after a crash only the deepest one that is there may still have to be synced.
Status MakeDurableDirectory(Storage& storage, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_
