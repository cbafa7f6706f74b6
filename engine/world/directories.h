// Paths, and the creation of durable directories.
#ifndef GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_
#define GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_

#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// Checks a path that a user names. It must be UTF-8 without control characters:
// paths are stored in JSON and in lines of text, and any other bytes could
// break these. No name in the path may be too long for a file system, and the
// path must leave room for the names of files below it. The message of
// kInvalidArgument quotes the path, with such bytes escaped.
Status CheckPath(std::string_view path);

// Returns the parent's path; "." for a name without a slash.
std::string ParentDirectory(const std::string& path);

// Returns the path without trailing slashes; "/" stays as it is.
std::string WithoutLastSlashes(std::string path);

// Creates the directory and its missing ancestors, durably; an existing
// directory is no error. Each new ancestor is made durable before the next one
// is created in it, so a crash leaves at most the deepest directory not
// durable.
Status MakeDurableDirectory(Storage& storage, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_DIRECTORIES_H_
