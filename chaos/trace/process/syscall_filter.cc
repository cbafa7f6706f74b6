#include "chaos/trace/process/syscall_filter.h"

#include <cstddef>
#include <utility>

#include "chaos/trace/process/syscall_numbers.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/mman.h>

namespace gauntlet {
namespace {

constexpr uint32_t kX32Bit = 0x40000000;

// Open flags with which a call may change a name or a file's contents.
constexpr uint32_t kChangingFlags =
    O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);

constexpr long kFileCalls[] = {
    // NOLINT(google-runtime-int): as SYS_ is
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

// Leaves the call's number loaded.
void RefuseForeignConventions(Assembler& filter) {
  filter.Load(offsetof(seccomp_data, arch));
  filter.IfEqualSkip(AUDIT_ARCH_X86_64, 1);
  filter.Trap(TrapReason::kForeignConvention);
  filter.Load(offsetof(seccomp_data, nr));
  // Number -1 is no call and the kernel rejects it; all its bits are set.
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

// Leaves the call's number loaded, except on paths that end here.
void TrapOpens(Assembler& filter, const FilterScope& scope) {
  if (scope.reads) {
    TrapCall(filter, SYS_open, TrapReason::kFileCall);
    TrapCall(filter, SYS_openat, TrapReason::kFileCall);
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
}

// Traps shared mappings of files: other descriptors, or a sync, see changes
// through them.
void TrapSharedMaps(Assembler& filter) {
  filter.UnlessEqualSkip(SYS_mmap, 6);
  filter.LoadArgument(3);
  filter.UnlessAnyBitSkip(MAP_SHARED, 3);
  filter.UnlessAnyBitSkip(MAP_ANONYMOUS, 1);
  filter.Allow();
  filter.Trap(TrapReason::kFileCall);
  filter.Allow();
}

void TrapClones(Assembler& filter) {
  filter.UnlessEqualSkip(SYS_ioctl, 6);
  filter.LoadArgument(1);
  filter.UnlessEqualSkip(FICLONE, 1);
  filter.Trap(TrapReason::kFileCall);
  filter.UnlessEqualSkip(FICLONERANGE, 1);
  filter.Trap(TrapReason::kFileCall);
  filter.Allow();
}

}  // namespace

std::vector<sock_filter> FileCallFilter(const FilterScope& scope) {
  Assembler filter;
  RefuseForeignConventions(filter);
  TrapOpens(filter, scope);
  TrapSharedMaps(filter);
  TrapClones(filter);
  for (const auto number : kFileCalls) {
    TrapCall(filter, number, TrapReason::kFileCall);
  }
  if (scope.closes) TrapCall(filter, SYS_close, TrapReason::kFileCall);
  TrapCall(filter, SYS_munmap, TrapReason::kUnmap);
  TrapCall(filter, SYS_msync, TrapReason::kUnmap);
  TrapCall(filter, SYS_io_uring_setup, TrapReason::kAsynchronousIo);
  TrapCall(filter, SYS_io_setup, TrapReason::kAsynchronousIo);
  TrapCall(filter, SYS_ptrace, TrapReason::kPtrace);
  filter.Allow();
  return filter.Take();
}

}  // namespace gauntlet
