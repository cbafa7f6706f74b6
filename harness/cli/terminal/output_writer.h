// Writes to standard output or error without ever waiting for the reader: a
// launcher whose terminal is stopped, or whose log collector is stuck, goes on
// to pass on notices, restart workers and end.
#ifndef GAUNTLET_HARNESS_CLI_TERMINAL_OUTPUT_WRITER_H_
#define GAUNTLET_HARNESS_CLI_TERMINAL_OUTPUT_WRITER_H_

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
  // For people: at most kMaxHeldBytes wait to be written. Beyond that the
  // oldest lines are dropped, and a line in their place says how many.
  kMessages,
  // For programs: everything waits to be written, nothing is added.
  kResults,
};

inline constexpr size_t kMaxHeldBytes = size_t{1} << 18;

// How long the end of a program waits for a reader: since the reader last took
// something, and in all.
struct FlushTimeouts {
  Duration idle = std::chrono::seconds(1);
  Duration total = std::chrono::seconds(5);
};

// Writes text in a thread of its own. Text that cannot be written (a full disk,
// a pipe that nobody has open) is dropped; later text is still tried.
class OutputWriter {
 public:
  // The descriptor stays open as long as the process lives.
  OutputWriter(int fd, OutputKind kind);
  // Does not wait: see Flush.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  // Never blocks. Safe from any thread.
  void Write(std::string text);
  // Waits until all is written, at most so long. The first error of a write;
  // kDeadlineExceeded if something is left.
  Status Flush(const FlushTimeouts& timeouts);
  // The same without a limit, until `must_end` returns true (it is asked ten
  // times a second): from then on with one.
  Status Flush(const FlushTimeouts& timeouts,
               const std::function<bool()>& must_end);

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  // Shared with the thread, which may be stuck in a write when the program
  // ends.
  const std::shared_ptr<Shared> shared_;
};

// Stream buffer that passes whole lines to the writer, and at a flush also an
// incomplete one. Safe from several threads.
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

// Both standard streams, to writers of their own.
class NonblockingStreams {
 public:
  // `messages`: kind of standard error. `must_end` returns true once the
  // program was told to end; null: Flush always has its limit, whether the
  // output is read or not.
  NonblockingStreams(OutputKind messages, std::function<bool()> must_end);

  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }
  // Calls OutputWriter::Flush for both streams, with one limit for all calls
  // together. Returns the status of standard output.
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

#endif  // GAUNTLET_HARNESS_CLI_TERMINAL_OUTPUT_WRITER_H_
