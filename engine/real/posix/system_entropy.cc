#include "engine/real/posix/system_entropy.h"

#include <cerrno>
#include <cstring>

#include "engine/check.h"
#include <fmt/format.h>
#include <sys/random.h>

namespace gauntlet {

// CHECKs that the kernel has random bytes: without them no nonce is
// unpredictable.
void SystemEntropy::Fill(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    CHECK(got > 0, fmt::format("getrandom: {}", std::strerror(errno)));
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

}  // namespace gauntlet
