#include "chaos/trace/calls/file_calls.h"

#include <utility>

#include "chaos/trace/process/process_files.h"
#include "chaos/trace/process/syscall_numbers.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {

namespace {

bool IsSync(OperationKind kind) {
  return kind == OperationKind::kSyncFile || kind == OperationKind::kSyncData ||
         kind == OperationKind::kSyncRange ||
         kind == OperationKind::kSyncDirectory ||
         kind == OperationKind::kSyncFileSystem;
}

// Returns the index of the descriptor argument of a call that may change a
// file; nullopt: the call has a path instead.
std::optional<size_t> DescriptorArgument(int64_t number) {
  switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_ioctl:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync_file_range:
    case SYS_close:
    case SYS_fchmod:
      return 0;
    case SYS_dup2:
    case SYS_dup3:
      return 1;
    case SYS_copy_file_range:
    case SYS_splice:
      return 2;
    case SYS_mmap:
      return 4;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool FileCalls::IsElsewhere(Caller caller, const SystemCall& call) const {
  const auto argument = DescriptorArgument(call.number);
  if (!argument) return false;
  const auto status =
      StatusOf(DescriptorPath(caller.thread, call.Int(*argument)));
  if (!status) NoteIfHidden(caller);
  return !status || !files_.IsWatchedDevice(status->st_dev) ||
         (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode));
}

void FileCalls::NoteIfHidden(Caller caller) const {
  const std::string descriptors = fmt::format("/proc/{}/fd", caller.thread);
  if (access(descriptors.c_str(), X_OK) == 0 || errno != EACCES) return;
  recorder_.Note(
      fmt::format("process {} hides its files and memory (its program cannot "
                  "be read, or it "
                  "calls prctl(PR_SET_DUMPABLE)): what it does is not recorded",
                  caller.process.id));
}

int32_t RankOf(TracedProcess& process) {
  if (!process.rank) process.rank = RankOfProcess(process.id);
  return *process.rank;
}

FileOperation FileCalls::OwnOperation(Caller caller, OperationKind kind) {
  FileOperation operation;
  operation.kind = kind;
  operation.process = caller.process.id;
  operation.thread = caller.thread;
  operation.rank = RankOf(caller.process);
  return operation;
}

FileCall FileCalls::Started(Caller caller, const SystemCall& call,
                            OperationKind kind) {
  FileCall started{.call = call, .operation = OwnOperation(caller, kind)};
  started.is_ordered = !IsSync(kind);
  return started;
}

FileCall FileCalls::OnFile(Caller caller, const SystemCall& call,
                           OperationKind kind, const WatchedFile& file) {
  FileCall started = Started(caller, call, kind);
  started.operation.file = file.number;
  started.operation.name = file.name;
  return started;
}

std::string FileCalls::PathOf(Caller caller, int directory,
                              uint64_t text) const {
  const auto path = ReadPathText(caller.thread, text);
  if (path) return PathFromHere(caller.thread, directory, *path);
  NoteIfHidden(caller);
  // The path cannot be read, or is too long. Returns one that does not exist.
  return "/proc/self/no-such-path";
}

std::optional<FileCall> FileCalls::Begin(Caller caller,
                                         const SystemCall& call) {
  std::optional<FileCall> begun = BeginKind(caller, call);
  if (begun) BeforeChange(caller, *begun);
  return begun;
}

std::optional<FileCall> FileCalls::BeginKind(Caller caller,
                                             const SystemCall& call) {
  switch (call.number) {
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
      return BeginOpen(caller, call);
    case SYS_open_by_handle_at:
      return BeginOpenByHandle(caller, call);
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
      return BeginRename(caller, call);
    case SYS_link:
    case SYS_linkat:
      return BeginLink(caller, call);
    case SYS_symlink:
    case SYS_symlinkat:
      return BeginSymlink(caller, call);
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rmdir:
      return BeginUnlink(caller, call);
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_mknod:
    case SYS_mknodat:
      return BeginMake(caller, call);
    case SYS_truncate:
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_fchmodat:
    case SYS_fchmodat2:
    case SYS_utime:
    case SYS_utimes:
    case SYS_futimesat:
    case SYS_utimensat:
      return BeginMetadata(caller, call);
    default:
      return BeginData(caller, call);
  }
}

void FileCalls::End(Caller caller, FileCall& call, int64_t result) {
  if (result < 0) return;
  switch (call.operation.kind) {
    case OperationKind::kWrite:
      return EndWrite(caller, call, result);
    case OperationKind::kMapShared:
      return EndMap(caller, call);
    case OperationKind::kCreate:
      return EndCreate(caller, call, result);
    case OperationKind::kMakeDirectory:
    case OperationKind::kSymlink:
      return EndNewName(call);
    case OperationKind::kRename:
    case OperationKind::kExchange:
    case OperationKind::kLeave:
      return EndRename(call);
    case OperationKind::kEnter:
      return call.call.number == SYS_link || call.call.number == SYS_linkat
                 ? EndLink(call)
                 : EndRename(call);
    case OperationKind::kLink:
      return EndLink(call);
    case OperationKind::kUnlink:
    case OperationKind::kRemoveDirectory:
      return EndUnlink(call);
    case OperationKind::kSetMode:
    case OperationKind::kSetTimes:
      return EndMetadata(call);
    default:
      recorder_.Add(call.operation);
  }
}

}  // namespace gauntlet
