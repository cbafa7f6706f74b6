#include "harness/cli/memory_limit.h"

#include <cerrno>
#include <new>
#include <string_view>

#include <unistd.h>
#if defined(GAUNTLET_FAST_MALLOC)
#include <mimalloc.h>
#endif

namespace gauntlet {
namespace {

template <ExitCode exit>
[[noreturn]] void End() {
  constexpr std::string_view kLine = "gauntlet: out of memory\n";
  static_cast<void>(!write(STDERR_FILENO, kLine.data(), kLine.size()));
  _exit(static_cast<int>(exit));
}

template <ExitCode exit>
void Watch() {
  std::set_new_handler(&End<exit>);
#if defined(GAUNTLET_FAST_MALLOC)
  // Its operator new knows of no such handler and ends the process by itself.
  mi_register_error(
      [](int error, void*) {
        if (error == ENOMEM) End<exit>();
      },
      nullptr);
#endif
}

}  // namespace

void EndWhereMemoryRunsOut(ExitCode exit) {
  if (exit == ExitCode::kLostWorker) {
    Watch<ExitCode::kLostWorker>();
  } else {
    Watch<ExitCode::kNoVerdict>();
  }
}

}  // namespace gauntlet
