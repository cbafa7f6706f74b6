// Writes to standard output or error without ever waiting for the reader: a
// launcher whose terminal is stopped, or whose log collector is stuck, goes on
// to pass on notices, restart workers and end.
#ifndef GAUNTLET_HARNESS_CLI_OUTPUT_WRITER_H_
#define GAUNTLET_HARNESS_CLI_OUTPUT_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"
#include <unistd.h>

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
struct OutputPatience {
  Duration idle = std::chrono::seconds(1);
  Duration total = std::chrono::seconds(5);
};

// A thread writes what Write was given. What fails to be written (a full disk,
// a pipe that nobody has open) is dropped, and the next text tried as well.
class OutputWriter {
 public:
  // The descriptor stays open as long as the process lives.
  OutputWriter(int fd, OutputKind kind);
  // Does not wait: see Settle.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  // Never blocks. Safe from any thread.
  void Write(std::string text);
  // Waits until all is written, or until the reader has exhausted the patience.
  // The first error of a write; kDeadlineExceeded if something is left.
  Status Settle(const OutputPatience& patience);

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  // The thread's too: it may be stuck in a write as the program ends.
  const std::shared_ptr<Shared> shared_;
};

// For a stream to it. Hands on whole lines, and at a flush what there is of
// one. Safe from several threads.
class OutputBuffer final : public std::streambuf {
 public:
  explicit OutputBuffer(OutputWriter& writer) : writer_(writer) {}

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int_type overflow(int_type c) override;
  int sync() override;

  OutputWriter& writer_;
  std::mutex mutex_;
  std::string line_;  // what there is of it
};

// Both standard streams, to writers of their own.
struct UnblockedStreams {
  OutputWriter out_writer{STDOUT_FILENO, OutputKind::kResults};
  OutputWriter err_writer{STDERR_FILENO, OutputKind::kMessages};
  OutputBuffer out_buffer{out_writer};
  OutputBuffer err_buffer{err_writer};
  std::ostream out{&out_buffer};
  std::ostream err{&err_buffer};

  // OutputWriter::Settle of both; of standard output is what it returns. The
  // total patience is that of all calls together.
  Status Settle();

 private:
  Status SettleOne(OutputWriter& writer);

  OutputPatience left_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_OUTPUT_WRITER_H_
