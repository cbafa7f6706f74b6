// Writes to standard error that never block, even if nobody reads it: the last
// message of a failing process, and log lines of libraries.
#ifndef GAUNTLET_ENGINE_NONBLOCKING_STDERR_H_
#define GAUNTLET_ENGINE_NONBLOCKING_STDERR_H_

#include <cstddef>
#include <string_view>

namespace gauntlet {

// Bytes that a pipe accepts atomically (PIPE_BUF). Longer texts are truncated.
inline constexpr size_t kMaxAtomicWrite = 4096;

// Writes the text to standard error, or drops it if the write would block. Safe
// from any thread, and when memory is exhausted.
void WriteStderrUnlessBlocked(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_NONBLOCKING_STDERR_H_
