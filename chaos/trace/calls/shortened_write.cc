#include "chaos/trace/calls/shortened_write.h"

#include <algorithm>
#include <span>

#include "chaos/trace/process/process_files.h"
#include "chaos/trace/process/syscall_numbers.h"
#include <fcntl.h>
#include <sys/ptrace.h>

namespace gauntlet {
namespace {

constexpr uint64_t kDirectBlock = 4096;

// Returns the register with the call's length; nullptr if there is none.
unsigned long long* LengthRegister(  // NOLINT(google-runtime-int)
    int64_t number, user_regs_struct& registers) {
  switch (number) {
    case SYS_write:
    case SYS_pwrite64:
      return &registers.rdx;
    case SYS_sendfile:
      return &registers.r10;
    case SYS_copy_file_range:
    case SYS_splice:
      return &registers.r8;
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<ShortenedWrite> ShortenedWrite::Apply(pid_t thread,
                                                    const FileCall& call,
                                                    uint64_t length) {
  const auto info = ReadDescriptorInfo(thread, call.descriptor);
  if (info && (info->flags & O_DIRECT) != 0) length -= length % kDirectBlock;
  if (length == 0) return std::nullopt;
  ShortenedWrite shortened;
  if (ptrace(PTRACE_GETREGS, thread, nullptr, &shortened.registers_) != 0)
    return std::nullopt;
  user_regs_struct registers = shortened.registers_;
  const int64_t number = call.call.number;
  if (auto* const register_ = LengthRegister(number, registers)) {
    *register_ = std::min<uint64_t>(*register_, length);
  } else if (number == SYS_writev || number == SYS_pwritev ||
             number == SYS_pwritev2) {
    std::vector<MemoryRange> vectors = call.buffers;
    uint64_t left = length;
    size_t count = 0;
    for (; count < vectors.size() && left > 0; ++count) {
      vectors[count].length = std::min(vectors[count].length, left);
      left -= vectors[count].length;
    }
    registers.rdx = count;
    shortened.vectors_ = call.buffers;
    shortened.vector_address_ = registers.rsi;
    if (!WriteMemory(thread, registers.rsi, std::as_bytes(std::span(vectors))))
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (ptrace(PTRACE_SETREGS, thread, nullptr, &registers) != 0)
    return std::nullopt;
  return shortened;
}

void ShortenedWrite::Undo(pid_t thread) const {
  user_regs_struct now = {};
  if (ptrace(PTRACE_GETREGS, thread, nullptr, &now) != 0) return;
  now.rdx = registers_.rdx;
  now.r10 = registers_.r10;
  now.r8 = registers_.r8;
  ptrace(PTRACE_SETREGS, thread, nullptr, &now);
  if (vector_address_ != 0) {
    WriteMemory(thread, vector_address_, std::as_bytes(std::span(vectors_)));
  }
}

}  // namespace gauntlet
