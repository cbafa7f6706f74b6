// Distinguishes regular files from pipes, devices and links before any byte is
// read or written.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_REGULAR_FILE_H_
#define GAUNTLET_ENGINE_REAL_POSIX_REGULAR_FILE_H_

#include <string>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// Returns Ok if the file is regular. kIoError: it is a directory.
// kInvalidArgument: it is of another kind. Both messages name path and kind:
// "events/worker-0.jsonl: expected a regular file, found a pipe".
Status CheckRegularFile(const Descriptor& file, const std::string& path);

// Returns the Status of a failed open(2) whose flags had O_NOFOLLOW and
// O_NONBLOCK. kInvalidArgument, as from CheckRegularFile, for links, for
// directories, and for pipes without a reader; other errors as from PosixError.
Status OpenError(int error, const std::string& path);

// Opens a log for appending, or creates it with mode 0664 less the umask. Never
// blocks. Does not follow links: a link planted in a directory of logs must not
// make this process append to the link's target.
Result<Descriptor> OpenToAppend(const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_REGULAR_FILE_H_
