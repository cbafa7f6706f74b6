// Writes to standard output or error without ever waiting for the reader. A
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
  // For people: buffers at most kMaxHeldBytes. Beyond that, drops the oldest
  // lines and writes their number in their place.
  kMessages,
  // For programs: buffers everything and adds nothing.
  kResults,
};

inline constexpr size_t kMaxHeldBytes = size_t{1} << 18;

// Limits on the wait for a reader when the program ends: since the reader last
// took something, and in total.
struct FlushTimeouts {
  Duration idle = std::chrono::seconds(1);
  Duration total = std::chrono::seconds(5);
};

// Writes text on a thread of its own. Text that cannot be written (full disk,
// closed pipe) is dropped; later text is still tried.
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
  // Waits within the timeouts until everything is written. Returns the first
  // error of a write; kDeadlineExceeded if some text is left.
  Status Flush(const FlushTimeouts& timeouts);
  // As Flush above, but the timeouts apply only once `must_end` returns true;
  // until then waits without a limit. Calls `must_end` ten times a second.
  Status Flush(const FlushTimeouts& timeouts,
               const std::function<bool()>& must_end);

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  // Shared with the thread, which may be stuck in a write when the program
  // ends.
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
  // `messages`: kind of standard error. `must_end` returns true once the
  // program was told to end. Null: Flush always has its limit, even if the
  // output is being read.
  NonblockingStreams(OutputKind messages, std::function<bool()> must_end);

  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }
  // Flushes both streams. One limit covers all calls together. Returns the
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
