// Calls on the names of files, and on files by their names.
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "chaos/trace/calls/file_calls.h"
#include "chaos/trace/process/process_files.h"
#include "chaos/trace/process/syscall_numbers.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#ifndef RENAME_EXCHANGE
#include <linux/fs.h>
#endif

namespace gauntlet {
namespace {

// A path argument: the descriptor of its directory, and the address of its
// text.
struct PathArgument {
  int directory = AT_FDCWD;
  uint64_t text = 0;
};

// FirstPath and SecondPath return a path argument of a call. `is_at`: the name
// of the call ends in "at", so each path has a directory.
PathArgument FirstPath(const SystemCall& call, bool is_at) {
  if (!is_at) return {.text = call.arguments[0]};
  return {.directory = call.Int(0), .text = call.arguments[1]};
}

PathArgument SecondPath(const SystemCall& call, bool is_at) {
  if (!is_at) return {.text = call.arguments[1]};
  return {.directory = call.Int(2), .text = call.arguments[3]};
}

struct OpenArguments {
  PathArgument path;
  uint64_t flags = 0;
  bool is_in_root = false;  // "/" means the given directory
};

std::optional<OpenArguments> OpenArgumentsOf(pid_t thread,
                                             const SystemCall& call) {
  switch (call.number) {
    case SYS_creat:
      return OpenArguments{.path = FirstPath(call, false),
                           .flags = O_CREAT | O_WRONLY | O_TRUNC};
    case SYS_open:
      return OpenArguments{.path = FirstPath(call, false),
                           .flags = call.arguments[1]};
    case SYS_openat:
      return OpenArguments{.path = FirstPath(call, true),
                           .flags = call.arguments[2]};
    default:
      break;
  }
  const auto how = ReadObject<open_how>(thread, call.arguments[2]);
  if (!how) return std::nullopt;
  return OpenArguments{.path = FirstPath(call, true),
                       .flags = how->flags,
                       .is_in_root = (how->resolve & RESOLVE_IN_ROOT) != 0};
}

bool IsRegular(const std::optional<struct stat>& status) {
  return status && S_ISREG(status->st_mode);
}

bool IsDirectory(const std::optional<struct stat>& status) {
  return status && S_ISDIR(status->st_mode);
}

// Returns true if the inode may be reused once the name is removed.
bool IsLastName(const struct stat& status) {
  return S_ISDIR(status.st_mode) || status.st_nlink <= 1;
}

std::optional<struct stat> StatusNow(const WatchedPlace& place) {
  struct stat status = {};
  if (fstatat(place.directory.get(), place.leaf.c_str(), &status,
              AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  return status;
}

std::string PathTo(const WatchedPlace& place) {
  return fmt::format("/proc/self/fd/{}/{}", place.directory.get(), place.leaf);
}

}  // namespace

void FileCalls::NoteOutside(const WatchedPlace& place) const {
  const std::string path =
      ReadLinkText(fmt::format("/proc/self/fd/{}", place.directory.get())) +
      "/" + place.leaf;
  // Leaves out files of the system, and the compiled modules that Python stores
  // next to their sources.
  const bool is_of_no_matter =
      path.starts_with("/proc/") || path.starts_with("/dev/") ||
      path.starts_with("/sys/") || path.find("__pycache__/") != path.npos;
  if (!is_of_no_matter) recorder_.NoteOutside(path);
}

std::optional<FileCall> FileCalls::BeginOpen(Caller caller,
                                             const SystemCall& call) {
  const auto open = OpenArgumentsOf(caller.thread, call);
  if (!open || (open->flags & O_PATH) != 0) return std::nullopt;
  auto text = ReadPathText(caller.thread, open->path.text);
  if (!text) {
    NoteIfHidden(caller);
    return std::nullopt;
  }
  if (open->is_in_root) text->erase(0, text->find_first_not_of('/'));
  const std::string path =
      PathFromHere(caller.thread, open->path.directory, *text);
  if ((open->flags & O_TMPFILE) == O_TMPFILE) {
    const auto directory =
        files_.NameOfDirectory(OpenName(path, O_DIRECTORY).get());
    if (!directory) return std::nullopt;
    FileCall create = Started(caller, call, OperationKind::kCreate);
    create.operation.name = {directory->directory, ""};
    return create;
  }
  const bool must_be_new = (open->flags & (O_CREAT | O_EXCL)) ==
                           static_cast<uint64_t>(O_CREAT | O_EXCL);
  WatchedPlace place =
      must_be_new || (open->flags & O_NOFOLLOW) != 0
          ? files_.Locate(path)
          : files_.LocateFollowing(path,
                                   fmt::format("/proc/{}/root", caller.thread));
  const bool makes_or_empties =
      place.status ? (open->flags & O_TRUNC) != 0 && IsRegular(place.status)
                   : (open->flags & O_CREAT) != 0;
  if (makes_or_empties && !place.name) NoteOutside(place);
  if (!place.status) {
    // The path may be /proc/PID/fd/N, which leads to an open file without a
    // name.
    if ((open->flags & O_TRUNC) != 0) CopyNameless(StatusOf(path));
    if ((open->flags & O_CREAT) == 0) return std::nullopt;
    return Making(caller, call, OperationKind::kCreate, std::move(place));
  }
  if (!IsRegular(place.status) || must_be_new) return std::nullopt;
  const auto kind = KindOfOpen(open->flags);
  if (!kind) return std::nullopt;
  const auto file = FileAt(caller, place);
  if (!file) return std::nullopt;
  return OnFile(caller, call, *kind, *file);
}

std::optional<OperationKind> FileCalls::KindOfOpen(uint64_t flags) const {
  if ((flags & O_TRUNC) != 0) return OperationKind::kTruncate;
  if (records_reads_ && (flags & O_ACCMODE) != O_WRONLY)
    return OperationKind::kOpenToRead;
  return std::nullopt;
}

std::optional<FileCall> FileCalls::BeginOpenByHandle(Caller caller,
                                                     const SystemCall& call) {
  const auto kind = KindOfOpen(call.arguments[2]);
  const auto header = ReadObject<file_handle>(caller.thread, call.arguments[1]);
  if (!kind || !header || header->handle_bytes > MAX_HANDLE_SZ)
    return std::nullopt;
  alignas(file_handle)
      std::array<std::byte, sizeof(file_handle) + MAX_HANDLE_SZ>
          handle = {};
  if (!ReadMemory(
          caller.thread, call.arguments[1],
          std::span(handle).first(sizeof *header + header->handle_bytes))) {
    return std::nullopt;
  }
  // open_by_handle_at rejects a descriptor opened with O_PATH.
  const Descriptor mount(
      open(PathFromHere(caller.thread, call.Int(0), "").c_str(),
           O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const Descriptor object(open_by_handle_at(
      mount.get(), reinterpret_cast<file_handle*>(handle.data()),
      O_PATH | O_CLOEXEC));
  if (!object.valid()) return std::nullopt;
  const auto file =
      OpenFile(caller, fmt::format("/proc/self/fd/{}", object.get()));
  if (!file) return std::nullopt;
  return OnFile(caller, call, *kind, *file);
}

std::optional<FileCall> FileCalls::Making(Caller caller, const SystemCall& call,
                                          OperationKind kind,
                                          WatchedPlace place) {
  const auto directory = StatusOf(place.directory.get());
  if (!directory || !files_.IsWatchedDevice(directory->st_dev))
    return std::nullopt;
  FileCall make = Started(caller, call, kind);
  make.is_elsewhere = !place.name;
  if (place.name) make.operation.name = *place.name;
  make.is_possible = !place.status;
  make.to = std::move(place);
  return make;
}

void FileCalls::AddNewFile(FileCall& call, const struct stat& status) {
  if (call.is_elsewhere) {
    files_.Forget(IdentityOf(status));
    return;
  }
  call.operation.file = files_.Add(IdentityOf(status), call.operation.name);
  call.operation.mode = PermissionsOf(status);
  recorder_.Add(call.operation);
}

void FileCalls::EndCreate(Caller caller, FileCall& call, int64_t result) {
  const bool opens =
      call.call.number != SYS_mknod && call.call.number != SYS_mknodat;
  const auto status =
      opens ? StatusOf(DescriptorPath(caller.thread, static_cast<int>(result)))
            : StatusNow(call.to);
  if (!IsRegular(status)) return;
  AddNewFile(call, *status);
}

std::optional<FileCall> FileCalls::BeginMake(Caller caller,
                                             const SystemCall& call) {
  const bool is_at = call.number == SYS_mkdirat || call.number == SYS_mknodat;
  const bool is_directory =
      call.number == SYS_mkdirat || call.number == SYS_mkdir;
  const auto type = static_cast<mode_t>(call.arguments[is_at ? 2 : 1]) & S_IFMT;
  const PathArgument path = FirstPath(call, is_at);
  WatchedPlace place = files_.Locate(PathOf(caller, path.directory, path.text));
  // A type of 0 means a regular file too.
  if (!is_directory && type != S_IFREG && type != 0) {
    if (place.name && !place.status) NoteSpecialFile("mknod", *place.name);
    return std::nullopt;
  }
  return Making(
      caller, call,
      is_directory ? OperationKind::kMakeDirectory : OperationKind::kCreate,
      std::move(place));
}

std::optional<FileCall> FileCalls::BeginSymlink(Caller caller,
                                                const SystemCall& call) {
  const PathArgument path =
      call.number == SYS_symlink
          ? PathArgument{.text = call.arguments[1]}
          : PathArgument{.directory = call.Int(1), .text = call.arguments[2]};
  WatchedPlace place = files_.Locate(PathOf(caller, path.directory, path.text));
  auto link = Making(caller, call, OperationKind::kSymlink, std::move(place));
  if (link) {
    link->operation.target =
        ReadPathText(caller.thread, call.arguments[0]).value_or("");
  }
  return link;
}

void FileCalls::EndNewName(FileCall& call) {
  const auto status = StatusNow(call.to);
  if (!status) return;
  AddNewFile(call, *status);
}

std::optional<FileCall> FileCalls::BeginUnlink(Caller caller,
                                               const SystemCall& call) {
  const bool is_at = call.number == SYS_unlinkat;
  const bool is_directory = call.number == SYS_rmdir ||
                            (is_at && (call.arguments[2] & AT_REMOVEDIR) != 0);
  const PathArgument path = FirstPath(call, is_at);
  WatchedPlace place = files_.Locate(PathOf(caller, path.directory, path.text));
  const bool is_possible =
      place.status && IsDirectory(place.status) == is_directory;
  auto unlink = BeginRemoval(
      caller, call,
      is_directory ? OperationKind::kRemoveDirectory : OperationKind::kUnlink,
      std::move(place));
  if (unlink) unlink->is_possible = is_possible;
  return unlink;
}

std::optional<FileCall> FileCalls::BeginRemoval(Caller caller,
                                                const SystemCall& call,
                                                OperationKind kind,
                                                WatchedPlace place) {
  if (!place.status) return std::nullopt;
  if (!place.name) {
    if (IsLastName(*place.status)) ForgetNameless(*place.status);
    return std::nullopt;
  }
  const auto file = FileAt(caller, place);
  if (!file) return std::nullopt;
  FileCall removal = OnFile(caller, call, kind, *file);
  removal.from = std::move(place);
  return removal;
}

void FileCalls::EndUnlink(FileCall& call) {
  if (IsLastName(*call.from.status)) ForgetNameless(*call.from.status);
  recorder_.Add(call.operation);
}

std::optional<FileCall> FileCalls::BeginRename(Caller caller,
                                               const SystemCall& call) {
  const bool is_at = call.number != SYS_rename;
  const PathArgument old_path = FirstPath(call, is_at);
  const PathArgument new_path = SecondPath(call, is_at);
  const uint64_t flags = call.number == SYS_renameat2 ? call.arguments[4] : 0;
  const bool exchanges = (flags & RENAME_EXCHANGE) != 0;
  WatchedPlace from =
      files_.Locate(PathOf(caller, old_path.directory, old_path.text));
  WatchedPlace to =
      files_.Locate(PathOf(caller, new_path.directory, new_path.text));
  if (!from.status || (!from.name && !to.name)) return std::nullopt;
  const bool is_possible = exchanges
                               ? to.status.has_value()
                               : (flags & RENAME_NOREPLACE) == 0 || !to.status;
  // An exchange with a device, FIFO or socket moves only the other file.
  const bool moves_one =
      exchanges && to.status &&
      !(IsRecordedType(*from.status) && IsRecordedType(*to.status));
  if (moves_one && !IsRecordedType(*from.status)) std::swap(from, to);
  if (!IsRecordedType(*from.status))
    return BeginRemoval(caller, call, OperationKind::kUnlink, std::move(to));
  if (to.status && !IsRecordedType(*to.status)) to.status.reset();
  if ((flags & RENAME_WHITEOUT) != 0 && from.name)
    NoteSpecialFile("renameat2 with RENAME_WHITEOUT", *from.name);
  const auto file = FileAt(caller, from);
  const auto replaced = FileAt(caller, to);
  if (file) AddMappedBytes(caller, file->number);
  FileCall rename = Started(caller, call,
                            exchanges && !moves_one ? OperationKind::kExchange
                            : !from.name            ? OperationKind::kEnter
                            : !to.name              ? OperationKind::kLeave
                                                    : OperationKind::kRename);
  rename.operation.file = file ? file->number : 0;
  rename.operation.name = from.name ? *from.name : *to.name;
  if (from.name && to.name) rename.operation.to = *to.name;
  rename.is_possible = is_possible;
  rename.replaced = replaced ? replaced->number : 0;
  rename.from = std::move(from);
  rename.to = std::move(to);
  return rename;
}

void FileCalls::EndRename(FileCall& call) {
  const FileIdentity moved = IdentityOf(*call.from.status);
  FileOperation op = call.operation;
  if (op.kind == OperationKind::kExchange) {
    if (call.from.name && call.to.name) return recorder_.Add(op);
    // One of the two files is outside of the watched directories: it enters,
    // and the watched one leaves.
    const WatchedPlace& inside = call.from.name ? call.from : call.to;
    op.name = *inside.name;
    op.kind = OperationKind::kLeave;
    recorder_.Add(op);
    op.file = 0;
    op.implied = true;
    return EnterTree(op, PathTo(inside), *inside.name);
  }
  if (call.to.status && IdentityOf(*call.to.status) == moved) {
    // The kernel changes nothing if both are names of one file.
    if (!S_ISDIR(call.from.status->st_mode)) return;
  } else if (call.to.status && IsLastName(*call.to.status)) {
    ForgetNameless(*call.to.status);
  }
  if (op.kind == OperationKind::kEnter) {
    // A file that enters replaces the old entry in the same operation. For a
    // directory or link that enters, records the removal of the old entry
    // first.
    if (call.to.status && !S_ISREG(call.from.status->st_mode)) {
      op.kind = IsDirectory(call.to.status) ? OperationKind::kRemoveDirectory
                                            : OperationKind::kUnlink;
      op.file = call.replaced;
      recorder_.Add(op);
      op.implied = true;
    }
    op.file = 0;
    return EnterTree(op, PathTo(call.to), *call.to.name);
  }
  if (op.kind == OperationKind::kLeave) ForgetTree(PathTo(call.to));
  recorder_.Add(op);
}

std::optional<FileCall> FileCalls::BeginLink(Caller caller,
                                             const SystemCall& call) {
  const bool is_at = call.number == SYS_linkat;
  const PathArgument old_path = FirstPath(call, is_at);
  const PathArgument new_path = SecondPath(call, is_at);
  const uint64_t flags = is_at ? call.arguments[4] : 0;
  WatchedPlace to =
      files_.Locate(PathOf(caller, new_path.directory, new_path.text));
  if (!to.name) return std::nullopt;
  const bool follows = (flags & (AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0;
  FileCall link = Started(caller, call, OperationKind::kLink);
  link.object = OpenName(PathOf(caller, old_path.directory, old_path.text),
                         follows ? 0 : O_NOFOLLOW);
  link.operation.to = *to.name;
  link.is_possible = link.object.valid() && !to.status;
  link.to = std::move(to);
  const auto status = StatusOf(link.object.get());
  if (!status) return std::nullopt;
  const auto file = files_.FindOpen(link.object.get());
  if (file && file->is_named_here) {
    link.operation.file = file->number;
    link.operation.name = file->name;
  } else {
    link.operation.kind = OperationKind::kEnter;
    link.operation.name = *link.to.name;
  }
  return link;
}

void FileCalls::EndLink(FileCall& call) {
  if (call.operation.kind == OperationKind::kEnter) {
    return EnterTree(call.operation, PathTo(call.to), *call.to.name);
  }
  const auto status = StatusOf(call.object.get());
  if (status && call.operation.name.path.empty())
    files_.SetName(IdentityOf(*status), call.operation.to);
  recorder_.Add(call.operation);
}

std::optional<FileCall> FileCalls::BeginMetadata(Caller caller,
                                                 const SystemCall& call) {
  const auto by_path = [&](bool is_at) {
    const PathArgument path = FirstPath(call, is_at);
    // utimensat and futimesat without a path change the descriptor's file.
    if (is_at && path.text == 0)
      return OpenName(DescriptorPath(caller.thread, path.directory));
    const bool takes_flags =
        call.number == SYS_utimensat || call.number == SYS_fchmodat2;
    const bool follows =
        !takes_flags || (call.arguments[3] & AT_SYMLINK_NOFOLLOW) == 0;
    return OpenName(PathOf(caller, path.directory, path.text),
                    follows ? 0 : O_NOFOLLOW);
  };
  Descriptor object;
  OperationKind kind = OperationKind::kSetTimes;
  switch (call.number) {
    case SYS_truncate:
      object = by_path(false);
      kind = OperationKind::kTruncate;
      break;
    case SYS_chmod:
      object = by_path(false);
      kind = OperationKind::kSetMode;
      break;
    case SYS_fchmod:
      object = OpenName(DescriptorPath(caller.thread, call.Int(0)));
      kind = OperationKind::kSetMode;
      break;
    case SYS_fchmodat:
    case SYS_fchmodat2:
      object = by_path(true);
      kind = OperationKind::kSetMode;
      break;
    case SYS_utime:
    case SYS_utimes:
      object = by_path(false);
      break;
    default:
      object = by_path(true);
  }
  if (!object.valid()) return std::nullopt;
  const auto file = files_.FindOpen(object.get());
  if (!file) {
    CopyNameless(StatusOf(object.get()));
    return std::nullopt;
  }
  FileCall change = OnFile(caller, call, kind, *file);
  if (kind == OperationKind::kTruncate)
    change.operation.length = call.arguments[1];
  change.object = std::move(object);
  return change;
}

void FileCalls::EndMetadata(FileCall& call) {
  const auto status = StatusOf(call.object.get());
  if (!status) return;
  SetMetadata(call.operation, *status);
  recorder_.Add(call.operation);
}

}  // namespace gauntlet
