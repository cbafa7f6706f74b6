// One operation of a traced program on the files of a watched directory: the
// effect of a system call, not the call itself.
//
// A log of operations (operation_log.h) describes how a directory reached its
// state. An operation is in the log only if its call succeeded, with the bytes
// that the file then had. Owners, extended attributes, access control lists,
// devices, FIFOs and sockets are not recorded; notes name the calls that change
// them.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_FILE_OPERATION_H_
#define GAUNTLET_CHAOS_TRACE_LOG_FILE_OPERATION_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/world/clock.h"

namespace gauntlet {

// Each kind lists the fields of FileOperation that it uses. All kinds use
// `name`, and all but kSyncFileSystem use `file`.
enum class OperationKind : uint8_t {
  // Creates an empty file, with `mode`. Without a path (O_TMPFILE) the file has
  // no name until a kLink gives it one.
  kCreate,
  kWrite,          // `offset`, `bytes`
  kTruncate,       // to `length`, shorter or longer
  kAllocate,       // `offset`, `length`, `flags`: those of fallocate(2)
  kPunchHole,      // as kAllocate; the size stays
  kZeroRange,      // as kAllocate
  kCollapseRange,  // as kAllocate
  kInsertRange,    // as kAllocate
  kRename,         // to `to`, where it may replace a file
  kExchange,       // swaps `name` and `to`
  kLink,           // `to` becomes another name of the file
  kSymlink,        // `target` is its text
  kUnlink,
  kMakeDirectory,  // `mode`; times if it came from elsewhere
  kRemoveDirectory,
  // A file from elsewhere appears at the name: it was moved or linked in,
  // created by an untraced process, or present from the start (`call` is 0).
  // Uses `bytes`, `mode` and times. May replace another file at the name. If
  // the log already has the file, this is another name of it. Unsynced until a
  // later sync in the log.
  kEnter,
  kLeave,      // the name, and everything below it, moved out
  kSetMode,    // `mode`
  kSetTimes,   // `access_time`, `modification_time`
  kSyncFile,   // data and all metadata
  kSyncData,   // data, and the metadata to read it
  kSyncRange,  // sync_file_range(2): starts write-back, waits for nothing
  kSyncDirectory,
  kSyncFileSystem,  // sync(2), syncfs(2): all files
  // The file was mapped shared through a writable descriptor. Changes through
  // the mapping have no operation of their own; see `by_mapping`.
  kMapShared,
  kOpenToRead,  // changes nothing; recorded on request
  // Closes a descriptor open for writing, by any call or by the end of the
  // process, but not by an exec; changes nothing.
  kClose,
};
inline constexpr OperationKind kLastOperationKind = OperationKind::kClose;

// Returns "write", "rename" and so on: one word, as in scenario files.
std::string_view OperationKindName(OperationKind kind);
// Returns the kind with that name; nullopt for any other text.
std::optional<OperationKind> ParseOperationKind(std::string_view name);
// Returns false for kOpenToRead and kClose: a crash leaves the same state
// before and after them.
bool IsCrashPoint(OperationKind kind);

// Identity of a file in the kernel. Numbers of removed files are reused.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

// A name in a watched directory: the path relative to that directory, without
// components "." and "..". The directory itself is named "."; an empty path
// means no name.
struct FileName {
  uint32_t directory = 0;  // index among the watched directories
  std::string path;
  auto operator<=>(const FileName&) const = default;
};

// Bytes in the log's file of bytes.
struct ByteExtent {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t digest = 0;  // of the bytes, by OperationLog
};

inline constexpr int32_t kUnknownRank = -1;

struct FileOperation {
  OperationKind kind = OperationKind::kCreate;
  // True if the operation is not the direct effect of a system call. It is then
  // the sync of a write to a descriptor with O_SYNC, a write with the bytes of
  // a mapping, part of a file's arrival from elsewhere, or a close by
  // close_range or at the end of a process. Injections do not count such
  // operations.
  bool implied = false;
  // True for a kWrite that contains the bytes of the whole file, with all
  // changes through a shared mapping so far. The states of the file between two
  // such writes are not covered.
  bool by_mapping = false;
  uint64_t call =
      0;  // shared by all operations of one system call; ascending from 1
  // Positions in the order of all begins and ends of calls. Two calls
  // overlapped iff each began before the other ended.
  uint64_t begin = 0;
  uint64_t end = 0;
  Duration time{};  // since the start of the trace, at the call's end
  int32_t process = 0;
  int32_t thread = 0;
  // RANK, OMPI_COMM_WORLD_RANK or SLURM_PROCID in the process's environment at
  // its exec; kUnknownRank if none is set.
  int32_t rank = kUnknownRank;
  // Number of the file (or directory, or link) in the log, from 1; 0: none. A
  // file keeps its number under all its names; the number is never reused.
  uint64_t file = 0;
  FileName name;
  FileName to;
  std::string target;
  uint64_t offset = 0;  // bytes
  uint64_t length = 0;  // bytes
  ByteExtent bytes;
  uint32_t mode = 0;              // permissions: the low 12 bits of st_mode
  uint32_t flags = 0;             // of kAllocate and the other fallocate kinds
  int64_t access_time = 0;        // nanoseconds since 1970
  int64_t modification_time = 0;  // nanoseconds since 1970
};

// Returns true for a crash point that is not implied.
bool IsOwnCrashPoint(const FileOperation& operation);

// Returns "write [4096, 5120) of ckpt/model.bin", after "rank 1: " if the rank
// is known.
std::string DescribeFileOperation(const FileOperation& operation);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_FILE_OPERATION_H_
