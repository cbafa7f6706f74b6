#include "harness/cli/program/memory_limit.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "engine/nonblocking_stderr.h"
#include "engine/train/options.h"
#include "harness/run/files/oom_kills.h"
#include <unistd.h>

namespace gauntlet {
namespace {

static_assert(kOutOfMemory.starts_with(kRanOut) &&
              kOutOfThreads.starts_with(kRanOut));

// Prints the text and a line feed, once for all threads, and ends the process.
// Truncates a long text.
[[noreturn]] void PrintAndExit(std::string_view text, int exit) {
  static std::atomic_flag printing;
  while (printing.test_and_set()) pause();
  char line[kMaxAtomicWrite];
  const size_t length = text.copy(line, sizeof(line) - 1);
  line[length] = '\n';
  WriteStderrUnlessBlocked({line, length + 1});
  _exit(exit);
}

template <int exit>
[[noreturn]] void End() {
  PrintAndExit(kOutOfMemory, exit);
}

// Prints a line on an exception that nobody handled. A long text is truncated.
void PrintUnhandled(const char* what) {
  constexpr std::string_view kStart =
      "gauntlet: internal error: unhandled exception: ";
  char line[kMaxAtomicWrite];
  // The line ends in a line feed, and snprintf in a null character.
  constexpr int kMostOfText =
      static_cast<int>(sizeof(line) - kStart.size() - 2);
  const int length = std::snprintf(line, sizeof(line), "%s%.*s\n",
                                   kStart.data(), kMostOfText, what);
  if (length > 0) WriteStderrUnlessBlocked(line);
}

// Terminate handler: prints a line on the exception. Ends the process if the
// exception says that no thread could be started; aborts on any other.
template <int exit>
[[noreturn]] void EndWithoutThread() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      PrintAndExit(kOutOfThreads, exit);
    }
    PrintUnhandled(error.what());
  } catch (const std::exception& error) {
    PrintUnhandled(error.what());
  } catch (...) {
    PrintUnhandled("of an unknown type");
  }
  std::abort();
}

template <ExitCode exit>
void Watch() {
  std::set_new_handler(&End<static_cast<int>(exit)>);
  std::set_terminate(&EndWithoutThread<static_cast<int>(exit)>);
}

}  // namespace

void InstallOomHandler(ExitCode exit) {
  if (exit == ExitCode::kLostWorker) {
    Watch<ExitCode::kLostWorker>();
  } else {
    Watch<ExitCode::kNoVerdict>();
  }
}

void EndWorkerWhereThreadsRunOut() {
  std::set_terminate(
      &EndWithoutThread<static_cast<int>(WorkerExit::kStartLater)>);
}

}  // namespace gauntlet
