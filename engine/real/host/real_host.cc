#include "engine/real/host/real_host.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <initializer_list>

#include "engine/check.h"
#include "engine/real/host/interrupt_count.h"
#include <poll.h>
#include <time.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// A signal handler receives only the signal's number, so the counters must be
// global.
std::atomic<int> termination_notices{0};
InterruptCount interrupts;
constexpr int64_t kNone = -1;
std::atomic<int64_t> first_notice_ns{kNone};  // by SystemClock
std::atomic<int> second_interrupt_code{-1};   // exit code; -1: the second
                                              // interrupt only counts
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<int64_t>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

// Ends the process. Prints why, unless standard error would block.
[[noreturn]] void EndAtSecondInterrupt(int code) {
  constexpr std::string_view kWhy =
      "gauntlet: interrupted again, ended at once: results may be missing\n";
  pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&error, 1, 0) == 1 && (error.revents & POLLOUT) != 0) {
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, kWhy.data(), kWhy.size());
  }
  _exit(code);
}

void CountNotice(int signal) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  int64_t none = kNone;
  first_notice_ns.compare_exchange_strong(none, now_ns);
  if (signal == SIGINT) {
    if (!interrupts.Add(Time(Duration(now_ns)))) return;
    const int code = second_interrupt_code.load();
    if (interrupts.count() > 1 && code >= 0) EndAtSecondInterrupt(code);
  }
  termination_notices.fetch_add(1, std::memory_order_release);
}

// NoticeSignals() with their numbers on this system.
struct NoticeSignal {
  std::string_view name;
  int number;
};
constexpr std::array<NoticeSignal, 7> kNoticeSignals = {{
    {"SIGTERM", SIGTERM},
    {"SIGHUP", SIGHUP},
    {"SIGQUIT", SIGQUIT},
    {"SIGUSR1", SIGUSR1},
    {"SIGUSR2", SIGUSR2},
    {"SIGXCPU", SIGXCPU},
    {"SIGPWR", SIGPWR},
}};

int NumberOf(std::string_view signal) {
  const auto* const found =
      std::ranges::find(kNoticeSignals, signal, &NoticeSignal::name);
  CHECK(found != kNoticeSignals.end(), "one of NoticeSignals()");
  return found->number;
}

void Release(std::initializer_list<int> signals) {
  sigset_t set = {};
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void SetHandler(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

}  // namespace

void IgnoreFileSizeSignal() { SetHandler(SIGXFSZ, SIG_IGN); }

void InstallSignalHandlers() {
  SetHandler(SIGTERM, CountNotice);
  SetHandler(SIGINT, CountNotice);
  // Keeps an ignored SIGHUP ignored: nohup has set it so.
  if (!IsIgnored(SIGHUP)) SetHandler(SIGHUP, CountNotice);
  SetHandler(SIGPIPE, SIG_IGN);
  IgnoreFileSizeSignal();
  Release({SIGTERM, SIGINT, SIGHUP});
}

void ExitOnSecondInterrupt(int code) { second_interrupt_code = code; }

void InstallNoticeSignal(std::string_view name) {
  const int signal = NumberOf(name);
  SetHandler(signal, CountNotice);
  Release({signal});
}

sigset_t SignalsThatMayBeNotices() {
  sigset_t set = {};
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  for (const NoticeSignal& signal : kNoticeSignals) {
    sigaddset(&set, signal.number);
  }
  return set;
}

void HoldSignals() {
  const sigset_t set = SignalsThatMayBeNotices();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

void ReleaseSignals() {
  const sigset_t set = SignalsThatMayBeNotices();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

std::string RealHost::Name() const {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

int RealHost::TerminationNotices() const {
  return termination_notices.load(std::memory_order_acquire);
}

std::optional<Time> RealHost::FirstNotice() const {
  const int64_t ns = first_notice_ns.load();
  if (ns == kNone) return std::nullopt;
  return Time(Duration(ns));
}

int RealHost::Interrupts() const { return interrupts.count(); }

Result<HttpResponse> RealHost::SendRequest(const HttpRequest& request,
                                           Time deadline) {
  return http_.SendRequest(request, deadline);
}

void RealHost::Exit(int code) {
  // Runs no destructors: other threads still use the objects.
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace gauntlet
