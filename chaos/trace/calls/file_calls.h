// System calls of traced threads, as operations on watched files.
//
// A call has two halves: Begin, while the thread is stopped before the call,
// says what the call is about to do; End, after it, says what it did and adds
// that to the log. The offset of a write is the descriptor's position after it
// minus its result, so it is right for descriptors that share a position and
// for O_APPEND. Its bytes are those that the file has after the call, which the
// buffer may no longer hold (man 2 of each call).
#ifndef GAUNTLET_CHAOS_TRACE_CALLS_FILE_CALLS_H_
#define GAUNTLET_CHAOS_TRACE_CALLS_FILE_CALLS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
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
  std::optional<int32_t> rank;  // nullopt: not asked for yet
  std::set<uint64_t> mapped;    // files that it may change by memory
  bool is_frozen = false;       // its threads stay in their stops
};

// Asks once.
int32_t RankOf(TracedProcess& process);

struct Caller {
  pid_t thread = 0;
  TracedProcess& process;
};

// A call that has begun, or is about to.
struct FileCall {
  SystemCall call;
  // As far as it is known before the call; `length` of a write: all of it.
  FileOperation operation;
  bool is_possible = true;  // false: it is bound to fail
  // It makes a file outside, whose inode may have been that of a watched file
  // that is gone. Nothing is recorded.
  bool is_elsewhere = false;
  // No other call of this kind runs meanwhile. False for those that may wait
  // for another thread, and for syncs, which may take long and change nothing.
  bool is_ordered = true;
  int descriptor = -1;               // of what is written, mapped or synced
  std::vector<MemoryRange> buffers;  // of a write from memory
  std::optional<uint64_t> offset;    // given by the call
  Place from;
  Place to;
  uint64_t replaced = 0;  // number of the file that a rename replaces
  Descriptor object;      // of changes of a mode or times
};

class FileCalls {
 public:
  FileCalls(WatchedFiles& files, Recorder& recorder, bool records_reads)
      : files_(files), recorder_(recorder), records_reads_(records_reads) {}

  // Adds what is in the watched directories before the program starts, synced.
  void EnterExisting(const std::vector<std::string>& directories);

  // True if the call is seen not to concern a watched file, by its descriptor
  // alone.
  bool IsElsewhere(Caller caller, const SystemCall& call) const;
  // nullopt: the call does not concern a watched file. Not while an ordered
  // call is between its Begin and End. Adds files that came from elsewhere to
  // the log, and nothing else, so it may be asked again.
  std::optional<FileCall> Begin(Caller caller, const SystemCall& call);
  // The thread is stopped after its call, which returned `result`.
  void End(Caller caller, FileCall& call, int64_t result);

  // Before a munmap or msync of the process: adds the bytes of files in
  // question if they were changed. nullopt, or the call if it is a sync.
  std::optional<FileCall> BeginUnmap(Caller caller, const SystemCall& call);
  // Before the memory of the process ends.
  void EndMappings(Caller caller);

 private:
  struct Mapping {
    Descriptor reader;
    FileName name;
    uint64_t digest = 0;  // of the bytes that the log has
  };

  std::optional<FileCall> BeginKind(Caller caller, const SystemCall& call);
  FileCall Started(Caller caller, const SystemCall& call, OperationKind kind);
  FileCall OnFile(Caller caller, const SystemCall& call, OperationKind kind,
                  const WatchedFile& file);
  FileOperation OwnOperation(Caller caller, OperationKind kind);
  // Says so if the process' /proc cannot be read, so that its calls are not
  // seen.
  void NoteIfHidden(Caller caller) const;
  void NoteOutside(const Place& place) const;
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
  void BeforeChange(Caller caller, const FileCall& call);
  ByteRange RangeOfWrite(Caller caller, const FileCall& call) const;
  void EndWrite(Caller caller, const FileCall& call, int64_t result);
  void EndMap(Caller caller, const FileCall& call);
  std::optional<WatchedFile> FileOfDescriptor(Caller caller, int descriptor);
  void AddMappedBytes(Caller caller, uint64_t file);

  // name_calls.cc
  std::optional<FileCall> BeginName(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginOpen(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginRename(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginLink(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginSymlink(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginUnlink(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginMake(Caller caller, const SystemCall& call);
  std::optional<FileCall> BeginMetadata(Caller caller, const SystemCall& call);
  std::optional<FileCall> Making(Caller caller, const SystemCall& call,
                                 OperationKind kind, Place place);
  // The file that the call made.
  void AddNewFile(FileCall& call, const struct stat& status);
  void EndCreate(Caller caller, FileCall& call, int64_t result);
  void EndNewName(FileCall& call);
  void EndRename(FileCall& call);
  void EndLink(FileCall& call);
  void EndUnlink(FileCall& call);
  void EndMetadata(FileCall& call);

  // entering_files.cc
  std::optional<WatchedFile> FileAt(Caller caller, const Place& place);
  void EnterTree(const FileOperation& like, const std::string& path,
                 const FileName& name);
  void EnterFile(const FileOperation& like, const std::string& path,
                 const FileName& name, const struct stat& status);
  void ForgetTree(const std::string& path);

  WatchedFiles& files_;
  Recorder& recorder_;
  const bool records_reads_;
  std::map<uint64_t, Mapping> mappings_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_CALLS_FILE_CALLS_H_
