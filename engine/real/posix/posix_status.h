// The one place where errno becomes a Status.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_POSIX_STATUS_H_
#define GAUNTLET_ENGINE_REAL_POSIX_POSIX_STATUS_H_

#include <cerrno>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Returns the Status of a call that failed with `error`, an errno value. Its
// code is one of engine/world/storage.h, its message "thing: operation: text of
// errno". REQUIRES: error is not 0.
Status PosixError(int error, std::string_view thing,
                  std::string_view operation);

// Repeats the call while signals interrupt it. `call` returns the result of the
// system call: negative for an error in errno.
template <typename Call>
auto RetryOnInterrupt(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_POSIX_STATUS_H_
