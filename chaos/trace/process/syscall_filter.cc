#include "chaos/trace/process/syscall_filter.h"

#include <array>
#include <cstddef>
#include <utility>

#include "chaos/trace/process/syscall_numbers.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>

namespace gauntlet {
namespace {

constexpr uint32_t kX32Bit = 0x40000000;

// Open flags with which a call may change a name or a file's contents.
constexpr uint32_t kChangingFlags =
    O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);

// NOLINTNEXTLINE(google-runtime-int): as SYS_ is
constexpr long kFileCalls[] = {
    SYS_write,
    SYS_pwrite64,
    SYS_writev,
    SYS_pwritev,
    SYS_pwritev2,
    SYS_openat2,
    SYS_creat,
    SYS_sendfile,
    SYS_copy_file_range,
    SYS_splice,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync_file_range,
    SYS_sync,
    SYS_syncfs,
    SYS_rename,
    SYS_renameat,
    SYS_renameat2,
    SYS_link,
    SYS_linkat,
    SYS_symlink,
    SYS_symlinkat,
    SYS_unlink,
    SYS_unlinkat,
    SYS_mkdir,
    SYS_mkdirat,
    SYS_rmdir,
    SYS_mknod,
    SYS_mknodat,
    SYS_chmod,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchmodat2,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_utimensat,
};

// Calls that may change a file in a way that no operation describes.
// NOLINTNEXTLINE(google-runtime-int): as SYS_ is
constexpr long kNotRecordedCalls[] = {
    SYS_setxattr,    SYS_lsetxattr,    SYS_fsetxattr,    SYS_setxattrat,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_removexattrat,
    SYS_chown,       SYS_lchown,       SYS_fchown,       SYS_fchownat,
    SYS_mount,       SYS_move_mount,   SYS_bind,
};

class Assembler {
 public:
  void Load(size_t offset) {
    Emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset));
  }
  // Loads the low half of an argument; x86-64 is little-endian.
  void LoadArgument(size_t index) {
    Load(offsetof(seccomp_data, args) + index * sizeof(uint64_t));
  }
  void Trap(TrapReason reason) {
    Return(SECCOMP_RET_TRACE | static_cast<uint32_t>(reason));
  }
  void Allow() { Return(SECCOMP_RET_ALLOW); }

  // Skip `count` instructions if, or unless, the condition holds.
  void IfEqualSkip(uint32_t value, uint8_t count) {
    Emit(BPF_JMP | BPF_JEQ | BPF_K, count, 0, value);
  }
  void UnlessEqualSkip(uint32_t value, uint8_t count) {
    Emit(BPF_JMP | BPF_JEQ | BPF_K, 0, count, value);
  }
  void UnlessAnyBitSkip(uint32_t bits, uint8_t count) {
    Emit(BPF_JMP | BPF_JSET | BPF_K, 0, count, bits);
  }

  std::vector<sock_filter> Take() { return std::move(program_); }

 private:
  void Return(uint32_t action) { Emit(BPF_RET | BPF_K, 0, 0, action); }
  void Emit(uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
    program_.push_back({code, if_true, if_false, value});
  }

  std::vector<sock_filter> program_;
};

// Traps 32-bit and x32 calls. Afterwards the call's number is loaded.
void RefuseForeignConventions(Assembler& filter) {
  filter.Load(offsetof(seccomp_data, arch));
  filter.IfEqualSkip(AUDIT_ARCH_X86_64, 1);
  filter.Trap(TrapReason::kForeignConvention);
  filter.Load(offsetof(seccomp_data, nr));
  // Allows number -1, which is no call: the kernel rejects it. It also has
  // kX32Bit set, so the next check would trap it.
  filter.UnlessEqualSkip(UINT32_MAX, 1);
  filter.Allow();
  filter.UnlessAnyBitSkip(kX32Bit, 1);
  filter.Trap(TrapReason::kForeignConvention);
}

void TrapCall(Assembler& filter, long number,  // NOLINT(google-runtime-int)
              TrapReason reason) {
  filter.UnlessEqualSkip(static_cast<uint32_t>(number), 1);
  filter.Trap(reason);
}

// Traps open, openat and open_by_handle_at: if `scope.reads`, every call, else
// those with kChangingFlags. The other opens are allowed. For all other calls,
// the filter continues with the call's number loaded.
void TrapOpens(Assembler& filter, const FilterScope& scope) {
  if (scope.reads) {
    TrapCall(filter, SYS_open, TrapReason::kFileCall);
    TrapCall(filter, SYS_openat, TrapReason::kFileCall);
    TrapCall(filter, SYS_open_by_handle_at, TrapReason::kFileCall);
    return;
  }
  const auto trap_changing = [&](uint32_t number, size_t flags) {
    filter.UnlessEqualSkip(number, 4);
    filter.LoadArgument(flags);
    filter.UnlessAnyBitSkip(kChangingFlags, 1);
    filter.Trap(TrapReason::kFileCall);
    filter.Allow();
  };
  trap_changing(SYS_open, 1);
  trap_changing(SYS_openat, 2);
  trap_changing(SYS_open_by_handle_at, 2);
}

// Traps shared mappings of files, because changes through a mapping change the
// file.
void TrapSharedMaps(Assembler& filter) {
  filter.UnlessEqualSkip(SYS_mmap, 6);
  filter.LoadArgument(3);
  filter.UnlessAnyBitSkip(MAP_SHARED, 3);
  filter.UnlessAnyBitSkip(MAP_ANONYMOUS, 1);
  filter.Allow();
  filter.Trap(TrapReason::kFileCall);
  filter.Allow();
}

// Traps the ioctl requests that change a file's contents. FIDEDUPERANGE is not
// one of them: it only shares blocks that are equal.
void TrapRequests(Assembler& filter) {
  struct Request {
    uint32_t number;
    TrapReason reason;
  };
  constexpr std::array kRequests = {
      Request{FICLONE, TrapReason::kFileCall},
      Request{FICLONERANGE, TrapReason::kFileCall},
      Request{kReserveSpace, TrapReason::kNotRecorded},
      Request{kReserveSpace64, TrapReason::kNotRecorded},
      Request{kUnreserveSpace, TrapReason::kNotRecorded},
      Request{kUnreserveSpace64, TrapReason::kNotRecorded},
      Request{kZeroRange, TrapReason::kNotRecorded},
  };
  filter.UnlessEqualSkip(SYS_ioctl, 2 + 2 * kRequests.size());
  filter.LoadArgument(1);
  for (const auto& [number, reason] : kRequests) {
    filter.UnlessEqualSkip(number, 1);
    filter.Trap(reason);
  }
  filter.Allow();
}

// Traps clones with CLONE_UNTRACED, and every clone3: its flags are in memory,
// which a filter cannot read.
void TrapClones(Assembler& filter) {
  TrapCall(filter, SYS_clone3, TrapReason::kClone);
  filter.UnlessEqualSkip(SYS_clone, 4);
  filter.LoadArgument(0);
  filter.UnlessAnyBitSkip(CLONE_UNTRACED, 1);
  filter.Trap(TrapReason::kClone);
  filter.Allow();
}

}  // namespace

std::vector<sock_filter> FileCallFilter(const FilterScope& scope) {
  Assembler filter;
  RefuseForeignConventions(filter);
  TrapOpens(filter, scope);
  TrapSharedMaps(filter);
  TrapRequests(filter);
  TrapClones(filter);
  for (const auto number : kFileCalls) {
    TrapCall(filter, number, TrapReason::kFileCall);
  }
  if (scope.closes) {
    for (const auto number : {SYS_close, SYS_close_range, SYS_dup2, SYS_dup3}) {
      TrapCall(filter, number, TrapReason::kFileCall);
    }
  }
  TrapCall(filter, SYS_munmap, TrapReason::kUnmap);
  TrapCall(filter, SYS_msync, TrapReason::kUnmap);
  TrapCall(filter, SYS_io_uring_setup, TrapReason::kAsynchronousIo);
  TrapCall(filter, SYS_io_setup, TrapReason::kAsynchronousIo);
  TrapCall(filter, SYS_ptrace, TrapReason::kPtrace);
  for (const auto number : kNotRecordedCalls) {
    TrapCall(filter, number, TrapReason::kNotRecorded);
  }
  filter.Allow();
  return filter.Take();
}

}  // namespace gauntlet
