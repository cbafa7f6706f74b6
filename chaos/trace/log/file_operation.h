// One operation on the files of a watched directory, as a traced program did
// it: the effect of a system call, not the call.
//
// A log of operations (operation_log.h) says how a directory came about. An
// operation stands in it only if its call succeeded, and with the bytes that
// the file then had. Owners, extended attributes, access control lists,
// devices, FIFOs and sockets are not recorded.
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
  // An empty file, with `mode`. Without a path (O_TMPFILE) it has no name until
  // a kLink gives it one.
  kCreate,
  kWrite,          // `offset`, `bytes`
  kTruncate,       // to `length`, shorter or longer
  kAllocate,       // `offset`, `length`, `flags`: those of fallocate(2)
  kPunchHole,      // as kAllocate; the size stays
  kZeroRange,      // as kAllocate
  kCollapseRange,  // as kAllocate
  kInsertRange,    // as kAllocate
  kRename,         // to `to`, in whose place a file may have been
  kExchange,       // swaps `name` and `to`
  kLink,           // `to` is one more name of the file
  kSymlink,        // `target` is its text
  kUnlink,
  kMakeDirectory,  // `mode`; times if it came from outside
  kRemoveDirectory,
  // A file of outside appears under the name, in whose place another may have
  // been, with `bytes`, `mode` and times: moved or linked here, made by a
  // process that
  // is not traced, or there from the start (`call` is 0). If the log has the
  // file already, this is one more name of it. Unsynced unless a sync of the
  // log follows.
  kEnter,
  kLeave,      // the name, and all below it, was moved out
  kSetMode,    // `mode`
  kSetTimes,   // `access_time`, `modification_time`
  kSyncFile,   // data and all metadata
  kSyncData,   // data, and the metadata to read it
  kSyncRange,  // sync_file_range(2): starts writing, forces nothing
  kSyncDirectory,
  kSyncFileSystem,  // sync(2), syncfs(2): all files
  // The file was mapped shared by a descriptor open for writing. Changes by
  // memory have no operation of their own; see `by_mapping`.
  kMapShared,
  kOpenToRead,  // changes nothing; recorded if asked for
  kClose,       // of a descriptor open for writing; changes nothing
};
inline constexpr OperationKind kLastOperationKind = OperationKind::kClose;

// "write", "rename" and so on: one word each, as scenario files have them.
std::string_view OperationKindName(OperationKind kind);
// The inverse; nullopt for anything else.
std::optional<OperationKind> ParseOperationKind(std::string_view name);
// False for kOpenToRead and kClose, before and after which a crash leaves the
// same.
bool IsCrashPoint(OperationKind kind);

// A file as the kernel knows it. The numbers of a removed file are used again.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

// A path below a watched directory, without "." and "..". "." is the watched
// directory itself; empty: no name.
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
  // No call's own: the sync of a write to a descriptor with O_SYNC, the bytes
  // of a mapping, files that came from elsewhere. No injection counts it.
  bool implied = false;
  // kWrite: the whole file, as a shared mapping had left it by now. Between two
  // of these the file's states are not covered.
  bool by_mapping = false;
  uint64_t call =
      0;  // operations of one system call share it; ascending from 1
  // Order of the starts and ends of all calls. Two calls overlapped iff each
  // began before the other ended.
  uint64_t begin = 0;
  uint64_t end = 0;
  Duration time{};  // since the start of the trace, at the end of the call
  int32_t process = 0;
  int32_t thread = 0;
  // RANK, OMPI_COMM_WORLD_RANK or SLURM_PROCID of the process' environment at
  // its exec; kUnknownRank without.
  int32_t rank = kUnknownRank;
  // Number of the file (or directory, or link) in the log, from 1; a file keeps
  // it under all names, and no other file has it. 0: none.
  uint64_t file = 0;
  FileName name;
  FileName to;
  std::string target;
  uint64_t offset = 0;  // bytes
  uint64_t length = 0;  // bytes
  ByteExtent bytes;
  uint32_t mode = 0;              // permissions: the low 12 bits of st_mode
  uint32_t flags = 0;             // kAllocate and the like
  int64_t access_time = 0;        // nanoseconds since 1970
  int64_t modification_time = 0;  // nanoseconds since 1970
};

// True for a crash point that comes by a call of its own.
bool IsOwnCrashPoint(const FileOperation& operation);

// "write [4096, 5120) of ckpt/model.bin", with "rank 1: " before it where there
// is a rank.
std::string DescribeFileOperation(const FileOperation& operation);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_FILE_OPERATION_H_
