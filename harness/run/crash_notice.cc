#include "harness/run/crash_notice.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace gauntlet {
namespace {

struct CrashSignal {
  int number;
  std::string_view name;
};

constexpr std::array kSignals = {
    CrashSignal{SIGSEGV, "SIGSEGV"}, CrashSignal{SIGBUS, "SIGBUS"},
    CrashSignal{SIGFPE, "SIGFPE"}, CrashSignal{SIGILL, "SIGILL"},
    CrashSignal{SIGABRT, "SIGABRT"}};

// The thread's current work; null: none is set. It is thread-local, because a
// signal handler gets no argument but the signal's number.
thread_local const std::string* at_work = nullptr;

void Put(std::string_view text) {
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

// Calls only functions that are safe in a signal handler. The kernel has
// already reset the signal to its default action. So the signal that this
// function raises at its end ends the program as usual.
void OnCrashSignal(int number) {
  if (at_work != nullptr) {
    Put("gauntlet: crashed (");
    for (const CrashSignal& signal : kSignals) {
      if (signal.number == number) Put(signal.name);
    }
    Put(") in ");
    Put(*at_work);
    Put("\n");
  }
  static_cast<void>(raise(number));
}

// A stack for the handler alone, because a crashed fiber may have used up its
// own.
class SignalStack {
 public:
  SignalStack() {
    const stack_t own = {
        .ss_sp = bytes_.get(), .ss_flags = 0, .ss_size = kBytes};
    stack_t before{};
    installed_ = sigaltstack(nullptr, &before) == 0 &&
                 (before.ss_flags & SS_DISABLE) != 0 &&
                 sigaltstack(&own, nullptr) == 0;
  }
  ~SignalStack() {
    const stack_t none = {
        .ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    if (installed_) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr size_t kBytes = size_t{64} << 10;
  std::unique_ptr<std::byte[]> bytes_ = std::make_unique<std::byte[]>(kBytes);
  bool installed_ = false;
};

}  // namespace

void InstallCrashNotice() {
  for (const CrashSignal& signal : kSignals) {
    struct sigaction action {};
    if (sigaction(signal.number, nullptr, &action) != 0 ||
        action.sa_handler != SIG_DFL) {
      continue;
    }
    action.sa_handler = OnCrashSignal;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
    sigaction(signal.number, &action, nullptr);
  }
}

AtWork::AtWork(std::string what)
    : what_(std::move(what)), before_(std::exchange(at_work, &what_)) {
  thread_local const SignalStack stack;
  static_cast<void>(stack);
}

AtWork::~AtWork() { at_work = before_; }

}  // namespace gauntlet
