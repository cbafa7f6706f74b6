#include "harness/trainer/run/captured_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "engine/real/posix/posix_status.h"
#include "harness/trainer/run/trainer_run.h"
#include <fcntl.h>
#include <unistd.h>

namespace gauntlet {

CapturedOutput::CapturedOutput(Descriptor file, Descriptor read_end,
                               Descriptor write_end)
    : file_(std::move(file)),
      read_end_(std::move(read_end)),
      write_end_(std::move(write_end)),
      copier_([this] { Copy(); }) {}

Result<std::unique_ptr<CapturedOutput>> CapturedOutput::Start(
    const std::string& file) {
  Descriptor target(
      open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!target.valid()) return PosixError(errno, file, "open");
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return PosixError(errno, "pipe", "create");
  return std::unique_ptr<CapturedOutput>(new CapturedOutput(
      std::move(target), Descriptor(ends[0]), Descriptor(ends[1])));
}

CapturedOutput::~CapturedOutput() { Finish(); }

void CapturedOutput::Copy() {
  std::array<char, 65536> piece;
  uint64_t room = kMostOutput;
  while (true) {
    const ssize_t count = RetryOnInterrupt(
        [&] { return read(read_end_.get(), piece.data(), piece.size()); });
    if (count <= 0) return;
    const auto kept = std::min<uint64_t>(room, static_cast<uint64_t>(count));
    if (kept < static_cast<uint64_t>(count)) is_complete_ = false;
    room -= kept;
    if (kept > 0 && write(file_.get(), piece.data(), kept) < 0)
      is_complete_ = false;
  }
}

bool CapturedOutput::Finish() {
  write_end_.Reset();
  if (copier_.joinable()) copier_.join();
  return is_complete_;
}

}  // namespace gauntlet
