// Regular files, told from pipes, devices and links before a byte moves.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_REGULAR_FILE_H_
#define GAUNTLET_ENGINE_REAL_POSIX_REGULAR_FILE_H_

#include <string>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// kInvalidArgument names the path and what was found: "events/worker-0.jsonl:
// open: expected a regular file, found a pipe". A directory is kIoError
// (EISDIR).
Status CheckRegularFile(const Descriptor& file, const std::string& path);

// The Status of a failed open(2) to write, with O_NOFOLLOW and O_NONBLOCK,
// which refuses links, pipes that nobody reads and directories:
// kInvalidArgument, as CheckRegularFile. Other errors are PosixError's.
Status OpenError(int error, const std::string& path);

// Opens a log to append to, or creates it with mode 0664 less the umask. Never
// blocks. Links are not followed: a link planted in a directory of logs must
// not make this process append to the file it leads to.
Result<Descriptor> OpenToAppend(const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_REGULAR_FILE_H_
