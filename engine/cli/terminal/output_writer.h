// Writes to standard output or error without ever blocking the caller. So a
// launcher whose terminal is stopped, or whose log collector hangs, still
// forwards notices, restarts workers and exits.
#ifndef GAUNTLET_ENGINE_CLI_TERMINAL_OUTPUT_WRITER_H_
#define GAUNTLET_ENGINE_CLI_TERMINAL_OUTPUT_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

enum class OutputKind : uint8_t {
  // Messages for people: buffers at most kMaxHeldBytes. If there is more, drops
  // the oldest lines and writes the number of dropped lines in their place.
  kMessages,
  // Results for programs: buffers everything and adds nothing.
  kResults,
};

inline constexpr size_t kMaxHeldBytes = size_t{1} << 18;

// Limits on the wait for unwritten text when the program ends: `idle` since
// some text was last written, `total` for the whole wait.
struct FlushTimeouts {
  Duration idle = std::chrono::seconds(1);
  Duration total = std::chrono::seconds(5);
};

// Writes text in a thread of its own. Text that cannot be written (full disk,
// closed pipe) is dropped; the writer still tries to write later text.
class OutputWriter {
 public:
  // REQUIRES: the descriptor stays open until the process ends.
  OutputWriter(int fd, OutputKind kind);
  // Does not wait for unwritten text; see Flush.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  // Never blocks. Thread-safe.
  void Write(std::string text);
  // Waits within the timeouts until all text is written. Returns the first
  // error of a write; kDeadlineExceeded if some text is still unwritten.
  Status Flush(const FlushTimeouts& timeouts);
  // Like the Flush above, but waits without a limit until `must_end` returns
  // true; only then the timeouts begin. Calls `must_end` ten times a second.
  Status Flush(const FlushTimeouts& timeouts,
               const std::function<bool()>& must_end);

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  // Shared with the writer thread, which may still be blocked in a write when
  // the program ends.
  const std::shared_ptr<Shared> shared_;
};

// Stream buffer that passes whole lines to the writer, and on flush also an
// incomplete line. Thread-safe.
class OutputBuffer final : public std::streambuf {
 public:
  explicit OutputBuffer(OutputWriter& writer) : writer_(writer) {}

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type c) override;
  int sync() override;

  OutputWriter& writer_;
  std::mutex mutex_;
  std::string line_;  // incomplete line
};

// Standard output and standard error, each with a writer of its own.
class NonblockingStreams {
 public:
  // `messages` is the kind of standard error. `must_end` returns true once the
  // program was asked to end; until then Flush waits without a limit. If
  // `must_end` is null, Flush always has its limit.
  NonblockingStreams(OutputKind messages, std::function<bool()> must_end);

  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }
  // Flushes both streams. All calls together share one time limit. Returns the
  // status of standard output.
  Status Flush();

 private:
  Status FlushOne(OutputWriter& writer);

  const std::function<bool()> must_end_;
  FlushTimeouts left_;
  OutputWriter out_writer_;
  OutputWriter err_writer_;
  OutputBuffer out_buffer_{out_writer_};
  OutputBuffer err_buffer_{err_writer_};
  std::ostream out_{&out_buffer_};
  std::ostream err_{&err_buffer_};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_TERMINAL_OUTPUT_WRITER_H_
