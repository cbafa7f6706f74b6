#include "engine/nonblocking_stderr.h"

#include <poll.h>
#include <unistd.h>

namespace gauntlet {

void WriteStderrUnlessBlocked(std::string_view text) {
  pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&room, 1, 0) != 1) return;
  const std::string_view fits = text.substr(0, kMaxAtomicWrite);
  // A failure cannot be reported anywhere.
  static_cast<void>(!write(STDERR_FILENO, fits.data(), fits.size()));
}

}  // namespace gauntlet
