#include "harness/cli/memory_limit.h"

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace gauntlet {
namespace {

[[noreturn]] void Say(std::string_view line, ExitCode exit) {
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
  _exit(static_cast<int>(exit));
}

template <ExitCode exit>
[[noreturn]] void End() {
  Say("gauntlet: out of memory\n", exit);
}

// What the standard library throws where it gets no thread goes no further.
template <ExitCode exit>
[[noreturn]] void EndWithoutThread() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      Say("gauntlet: out of threads, or of memory for one\n", exit);
    }
  } catch (...) {
  }
  std::abort();
}

template <ExitCode exit>
void Watch() {
  std::set_new_handler(&End<exit>);
  std::set_terminate(&EndWithoutThread<exit>);
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
