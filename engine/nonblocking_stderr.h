// Writes to standard error that never block, even if nobody reads it: the last
// message of a failing process, and what libraries log.
#ifndef GAUNTLET_ENGINE_NONBLOCKING_STDERR_H_
#define GAUNTLET_ENGINE_NONBLOCKING_STDERR_H_

#include <cstddef>
#include <string_view>

namespace gauntlet {

// Bytes that a pipe takes whole (PIPE_BUF). Longer texts are truncated.
inline constexpr size_t kMaxAtomicWrite = 4096;

// Writes the text to standard error, or drops it if that would block. Safe from
// any thread, and when no memory is left.
void WriteStderrUnlessBlocked(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_NONBLOCKING_STDERR_H_
