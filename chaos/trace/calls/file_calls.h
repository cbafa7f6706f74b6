// Translates system calls of traced threads into operations on watched files.
//
// A call has two halves. Begin, while the thread is stopped before the call,
// returns what the call is about to do; End, after the call, adds what it did
// to the log. The offset of a write is the descriptor's position after the
// call, minus the call's result. This is right even for O_APPEND, and for
// descriptors that share a position. The bytes of a write are read from the
// file after the call, as the buffer may have changed by then (man 2 of each
// call).
#ifndef GAUNTLET_CHAOS_TRACE_CALLS_FILE_CALLS_H_
#define GAUNTLET_CHAOS_TRACE_CALLS_FILE_CALLS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/trace/calls/watched_files.h"
#include "chaos/trace/log/file_operation.h"
#include "chaos/trace/log/recorder.h"
#include "chaos/trace/process/process_memory.h"
#include "engine/real/posix/descriptor.h"
#include <sys/types.h>

namespace gauntlet {

struct SystemCall {
  int64_t number = 0;
  std::array<uint64_t, 6> arguments = {};

  int Int(size_t index) const { return static_cast<int>(arguments[index]); }
};

struct TracedProcess {
  pid_t id = 0;                 // of the thread group
  std::optional<int32_t> rank;  // nullopt: not read yet
  std::set<uint64_t> mapped;    // files that it may change through mappings
  bool is_frozen = false;       // its threads stay stopped
};

// Returns the rank of the process; reads it at most once.
int32_t RankOf(TracedProcess& process);

struct Caller {
  pid_t thread = 0;
  TracedProcess& process;
};

// A call in progress, or about to begin.
struct FileCall {
  SystemCall call;
  // The operation as far as it is known before the call. The `length` of a
  // write is the length requested.
  FileOperation operation;
  bool is_possible = true;  // false: it will certainly fail
  // True if the call creates a file outside of the watched directories. This
  // file may reuse the inode of a removed watched file. Nothing is recorded.
  bool is_elsewhere = false;
  // True if no other ordered call may run at the same time. False for calls
  // that may wait for another thread, and for syncs, which may take long and
  // change nothing.
  bool is_ordered = true;
  int descriptor = -1;               // of the file written, mapped or synced
  std::vector<MemoryRange> buffers;  // of a write from memory
  std::optional<uint64_t> offset;    // explicit in the call
  WatchedPlace from;
  WatchedPlace to;
  uint64_t replaced = 0;  // number of the file that a rename replaces
  Descriptor object;      // file of a link, or of a change of metadata
};

class FileCalls {
 public:
  FileCalls(WatchedFiles& files, Recorder& recorder, bool records_reads)
      : files_(files), recorder_(recorder), records_reads_(records_reads) {}

  // Adds the files present before the program starts to the log, as synced.
  void EnterExisting(const std::vector<std::string>& directories);

  // Returns true if the call's descriptor alone shows that it does not concern
  // a watched file.
  bool IsElsewhere(Caller caller, const SystemCall& call) const;
  // Returns nullopt if the call does not concern a watched file. Not called
  // while an ordered call is between its Begin and End. If Begin returns a
  // call, it has added to the log at most files that came from elsewhere, and
  // changed bytes of a mapped file. A second Begin does not add them again, so
  // it may be called twice for the same call.
  std::optional<FileCall> Begin(Caller caller, const SystemCall& call);
  // Called when the thread is stopped after its call, which returned `result`.
  void End(Caller caller, FileCall& call, int64_t result);

  // Adds a note if the call, of TrapReason::kNotRecorded, may change a watched
  // file.
  void NoteNotRecorded(Caller caller, const SystemCall& call);

  // Called before a munmap or msync of the process: adds the bytes of the
  // mapped files concerned if they have changed. Returns the call if it is a
  // sync, else nullopt.
  std::optional<FileCall> BeginUnmap(Caller caller, const SystemCall& call);
  // Called before the memory of the process is released: adds the bytes of its
  // mapped files that have changed.
  void EndMappings(Caller caller);
  // Called before the process ends: calls EndMappings, and adds the closes of
  // its descriptors that are open for writing.
  void EndProcess(Caller caller);

 private:
  struct Mapping {
    Descriptor reader;
    FileName name;
    uint64_t digest = 0;  // of the bytes in the log
  };

  std::optional<FileCall> BeginKind(Caller caller, const SystemCall& call);
  FileCall Started(Caller caller, const SystemCall& call, OperationKind kind);
  FileCall OnFile(Caller caller, const SystemCall& call, OperationKind kind,
                  const WatchedFile& file);
  FileOperation OwnOperation(Caller caller, OperationKind kind);
  // Adds a note if the process's /proc cannot be read: then its calls are not
  // recorded.
  void NoteIfHidden(Caller caller) const;
  void NoteOutside(const WatchedPlace& place) const;
  std::string PathOf(Caller caller, int directory, uint64_t text) const;

  // data_calls.cc
  std::optional<FileCall> BeginData(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginMemoryWrite(Caller caller,
                                           const SystemCall& call);
  std::optional<FileCall> BeginCopy(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginClone(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginAllocate(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginSync(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginMap(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginClose(Caller caller, const SystemCall& call);
  void CloseRange(Caller caller, const SystemCall& call);
  void AddCloses(Caller caller, unsigned first, unsigned last);
  std::optional<WatchedFile> FileToWrite(Caller caller, int descriptor);
  void BeforeChange(Caller caller, const FileCall& call);
  ByteRange RangeOfWrite(Caller caller, const FileCall& call) const;
  void EndWrite(Caller caller, const FileCall& call, int64_t result);
  void EndMap(Caller caller, const FileCall& call);
  std::optional<WatchedFile> FileOfDescriptor(Caller caller, int descriptor);
  // Finds a file by the path of a descriptor in /proc.
  std::optional<WatchedFile> OpenFile(Caller caller, const std::string& path);
  void AddMappedBytes(Caller caller, uint64_t file);

  // name_calls.cc
  std::optional<FileCall> BeginName(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginOpen(Caller caller, const SystemCall& call);
  // Returns what an open does to an existing file; nullopt: nothing that is
  // recorded.
  std::optional<OperationKind> KindOfOpen(uint64_t flags) const;
  std::optional<FileCall> BeginOpenByHandle(Caller caller,
                                            const SystemCall& call);
  std::optional<FileCall> BeginRename(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginLink(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginSymlink(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginUnlink(Caller caller, const SystemCall& call);
  // Returns nullopt if no recorded file is at the place.
  std::optional<FileCall> BeginRemoval(Caller caller, const SystemCall& call,
                                       OperationKind kind, WatchedPlace place);
  std::optional<FileCall> BeginMake(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginMetadata(Caller caller, const SystemCall& call);
  std::optional<FileCall> Making(Caller caller, const SystemCall& call,
                                 OperationKind kind, WatchedPlace place);
  // Adds the file that the call created.
  void AddNewFile(FileCall& call, const struct stat& status);
  void EndCreate(Caller caller, FileCall& call, int64_t result);
  void EndNewName(FileCall& call);
  void EndRename(FileCall& call);
  void EndLink(FileCall& call);
  void EndUnlink(FileCall& call);
  void EndMetadata(FileCall& call);

  // not_recorded_calls.cc
  Descriptor ObjectOf(Caller caller, const SystemCall& call) const;
  void NoteSocket(Caller caller, const SystemCall& call);
  // Adds a note that the call makes a device, FIFO or socket at the name.
  void NoteSpecialFile(std::string_view call, const FileName& name);

  // entering_files.cc
  std::optional<WatchedFile> FileAt(Caller caller, const WatchedPlace& place);
  // Returns the operation by which a new file enters the log.
  FileOperation Entering(Caller caller, const WatchedFile& file);
  void EnterTree(const FileOperation& like, const std::string& path,
                 const FileName& name);
  void EnterFile(const FileOperation& like, const std::string& path,
                 const FileName& name, const struct stat& status);
  // Forgets a file, or a directory with all in it, that has left.
  void ForgetTree(const std::string& path);
  // Forgets a file that has lost its last name.
  void ForgetNameless(const struct stat& status);
  // Called before a call that may change a file without a name, or close it:
  // copies the bytes of its deferred writes.
  void CopyNameless(const std::optional<struct stat>& status);

  WatchedFiles& files_;
  Recorder& recorder_;
  const bool records_reads_;
  std::map<uint64_t, Mapping> mappings_;
  // Numbers of files without a name that had deferred writes. The recorder has
  // them open, so no other file gets their inodes.
  std::map<FileIdentity, uint64_t> nameless_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_CALLS_FILE_CALLS_H_
