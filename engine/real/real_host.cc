#include "engine/real/real_host.h"

#include <array>
#include <atomic>
#include <cstdio>

#include <signal.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// A signal handler is given nothing but the signal's number, so what it counts
// has to be reachable by name: the one variable of this kind.
std::atomic<int> termination_notices{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

void CountNotice(int /*signal*/) {
  termination_notices.fetch_add(1, std::memory_order_relaxed);
}

void SetHandler(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void InstallSignalHandlers() {
  SetHandler(SIGTERM, CountNotice);
  SetHandler(SIGINT, CountNotice);
  SetHandler(SIGPIPE, SIG_IGN);
  SetHandler(SIGXFSZ, SIG_IGN);
}

std::string RealHost::Name() const {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

int RealHost::TerminationNotices() const {
  return termination_notices.load(std::memory_order_relaxed);
}

void RealHost::Exit(int code) {
  // Without destructors: other threads still run on what they would destroy.
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace gauntlet
