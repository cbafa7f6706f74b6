#include "engine/cli/terminal/output_writer.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/real/posix/blocked_signals.h"
#include "engine/real/posix/posix_status.h"
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Duration kAskEvery = std::chrono::milliseconds(100);

size_t LinesIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

struct OutputWriter::Shared {
  Shared(int to, OutputKind what) : fd(to), kind(what) {}

  // Blocks until all text is written. Sets taken_at each time that a piece of
  // it is written. Returns 0, or the errno of a failed write.
  int WriteAll(std::string_view text);
  void DropTheOldest();

  const int fd;
  const OutputKind kind;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> texts;
  size_t held_bytes = 0;     // total size of `texts`
  size_t dropped_lines = 0;  // lines dropped and not yet reported
  bool writing = false;
  // Time at which the last piece of text was written, or at which the write
  // began if nothing is written yet.
  Steady::time_point taken_at;
  int error = 0;  // the first error of all writes
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
  const BlockedSignals blocked;  // the new thread handles none
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

Status OutputWriter::Flush(const FlushTimeouts& timeouts) {
  return Flush(timeouts, [] { return true; });
}

Status OutputWriter::Flush(const FlushTimeouts& timeouts,
                           const std::function<bool()>& must_end) {
  Shared& state = *shared_;
  std::optional<Steady::time_point> end;
  std::unique_lock lock(state.mutex);
  const auto is_done = [&] { return state.texts.empty() && !state.writing; };
  while (!is_done()) {
    const Steady::time_point now = Steady::now();
    if (!end && must_end()) end = now + timeouts.total;
    Steady::time_point until = now + kAskEvery;
    if (end) {
      // While no text is being written, taken_at is not set or belongs to an
      // earlier text.
      const Steady::time_point moved = state.writing ? state.taken_at : now;
      until = std::min(*end, moved + timeouts.idle);
      if (now >= until) break;
    }
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
  const size_t end = line_.rfind('\n') + 1;  // 0 if there is none
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

NonblockingStreams::NonblockingStreams(OutputKind messages,
                                       std::function<bool()> must_end)
    : must_end_(std::move(must_end)),
      out_writer_(STDOUT_FILENO, OutputKind::kResults),
      err_writer_(STDERR_FILENO, messages) {}

Status NonblockingStreams::Flush() {
  out_.flush();
  err_.flush();
  const Status written = FlushOne(out_writer_);
  static_cast<void>(FlushOne(err_writer_));
  return written;
}

Status NonblockingStreams::FlushOne(OutputWriter& writer) {
  if (must_end_ && !must_end_()) return writer.Flush(left_, must_end_);
  const Steady::time_point begin = Steady::now();
  const Status flushed = writer.Flush(left_);
  const Duration took = Steady::now() - begin;
  left_.total = std::max(left_.total - took, Duration::zero());
  return flushed;
}

}  // namespace gauntlet
