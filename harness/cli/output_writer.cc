#include "harness/cli/output_writer.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/real/posix_status.h"
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using Steady = std::chrono::steady_clock;

size_t LinesIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

// Signals are for the threads that act on them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all = {};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t former_ = {};
};

}  // namespace

struct OutputWriter::Shared {
  Shared(int to, OutputKind what) : fd(to), kind(what) {}

  // Blocks, and notes what the reader takes. 0, or the errno of what failed.
  int WriteAll(std::string_view text);
  void DropTheOldest();

  const int fd;
  const OutputKind kind;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> texts;
  size_t held_bytes = 0;     // of them
  size_t dropped_lines = 0;  // that no line has told of yet
  bool writing = false;
  // When the reader last took something, or was first given something to take.
  Steady::time_point taken_at;
  int error = 0;  // the first of all writes
};

int OutputWriter::Shared::WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size =
        RetryOnInterrupt([&] { return write(fd, text.data(), text.size()); });
    if (size < 0 && errno != EAGAIN) return errno;
    if (size < 0) {
      pollfd room = {.fd = fd, .events = POLLOUT, .revents = 0};
      RetryOnInterrupt([&] { return poll(&room, 1, -1); });
      continue;
    }
    text.remove_prefix(static_cast<size_t>(size));
    const std::lock_guard lock(mutex);
    taken_at = Steady::now();
    changed.notify_all();
  }
  return 0;
}

void OutputWriter::Shared::DropTheOldest() {
  while (kind == OutputKind::kMessages && held_bytes > kMaxHeldBytes &&
         texts.size() > 1) {
    dropped_lines += LinesIn(texts.front());
    held_bytes -= texts.front().size();
    texts.pop_front();
  }
}

OutputWriter::OutputWriter(int fd, OutputKind kind)
    : shared_(std::make_shared<Shared>(fd, kind)) {
  const SignalsBlocked blocked;
  std::thread(Run, shared_).detach();
}

OutputWriter::~OutputWriter() = default;

void OutputWriter::Run(const std::shared_ptr<Shared>& shared) {
  Shared& state = *shared;
  std::unique_lock lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&] { return !state.texts.empty(); });
    std::string text = std::move(state.texts.front());
    state.texts.pop_front();
    state.held_bytes -= text.size();
    const size_t lines = LinesIn(text);
    const size_t dropped = std::exchange(state.dropped_lines, 0);
    if (dropped > 0 && state.kind == OutputKind::kMessages) {
      text.insert(0, fmt::format("gauntlet: {} lines dropped here: output was "
                                 "blocked or failed\n",
                                 dropped));
    }
    state.writing = true;
    state.taken_at = Steady::now();
    lock.unlock();
    const int error = state.WriteAll(text);
    lock.lock();
    state.writing = false;
    if (error != 0) {
      state.dropped_lines += dropped + lines;
      if (state.error == 0) state.error = error;
    }
    state.changed.notify_all();
  }
}

void OutputWriter::Write(std::string text) {
  if (text.empty()) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->held_bytes += text.size();
  shared_->texts.push_back(std::move(text));
  shared_->DropTheOldest();
  shared_->changed.notify_all();
}

Status OutputWriter::Settle(const OutputPatience& patience) {
  Shared& state = *shared_;
  const Steady::time_point end = Steady::now() + patience.total;
  std::unique_lock lock(state.mutex);
  const auto is_done = [&] { return state.texts.empty() && !state.writing; };
  while (!is_done()) {
    // The thread may not have begun yet.
    const Steady::time_point moved =
        state.writing ? state.taken_at : Steady::now();
    const Steady::time_point until = std::min(end, moved + patience.idle);
    if (Steady::now() >= until) break;
    state.changed.wait_until(lock, until);
  }
  if (state.error != 0) {
    return PosixError(state.error, fmt::format("descriptor {}", state.fd),
                      "write");
  }
  return is_done() ? OkStatus() : DeadlineExceeded("output is blocked");
}

std::streamsize OutputBuffer::xsputn(const char* text, std::streamsize size) {
  const std::lock_guard lock(mutex_);
  line_.append(text, static_cast<size_t>(size));
  const size_t end = line_.rfind('\n') + 1;  // 0 where there is none
  if (end > 0) {
    writer_.Write(line_.substr(0, end));
    line_.erase(0, end);
  }
  return size;
}

OutputBuffer::int_type OutputBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return 0;
  const char one = traits_type::to_char_type(c);
  xsputn(&one, 1);
  return c;
}

int OutputBuffer::sync() {
  const std::lock_guard lock(mutex_);
  writer_.Write(std::exchange(line_, {}));
  return 0;
}

Status UnblockedStreams::Settle() {
  out.flush();
  err.flush();
  const Status written = out_writer.Settle({});
  static_cast<void>(err_writer.Settle({}));
  return written;
}

}  // namespace gauntlet
