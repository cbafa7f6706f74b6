// errno becomes Status here, and nowhere else.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_POSIX_STATUS_H_
#define GAUNTLET_ENGINE_REAL_POSIX_POSIX_STATUS_H_

#include <cerrno>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// The Status of a call that failed with `error` (an errno value): the codes of
// engine/world/storage.h, and "thing: operation: what errno says".
// REQUIRES: error is not 0.
Status PosixError(int error, std::string_view thing,
                  std::string_view operation);

// Makes the call again for as long as a signal interrupts it. `call` returns
// what the system call does: negative for an error in errno.
template <typename Call>
auto RetryOnInterrupt(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_POSIX_STATUS_H_
