// A log written by hand, one operation per call, and its crash states as text.
#ifndef GAUNTLET_TESTS_CHAOS_CRASH_WRITTEN_LOG_H_
#define GAUNTLET_TESTS_CHAOS_CRASH_WRITTEN_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "chaos/crash/crash_state_list.h"
#include "tests/chaos/trace/folder.h"

namespace gauntlet {

class WrittenLog {
 public:
  explicit WrittenLog(size_t directories = 1);

  // Each call returns the number of the operation, which is also the crash
  // point after it.
  uint64_t Create(const std::string& path);
  uint64_t MakeDirectory(const std::string& path);
  uint64_t Symlink(const std::string& path, const std::string& target);
  uint64_t Write(const std::string& path, std::string_view text,
                 uint64_t offset = 0);
  uint64_t Truncate(const std::string& path, uint64_t length);
  // Adds an operation on a range of bytes, such as kAllocate or kPunchHole.
  uint64_t Reshape(OperationKind kind, const std::string& path, uint64_t offset,
                   uint64_t length);
  uint64_t Rename(const std::string& path, const std::string& to);
  uint64_t Exchange(const std::string& path, const std::string& to);
  uint64_t Link(const std::string& path, const std::string& to);
  uint64_t Unlink(const std::string& path);
  uint64_t RemoveDirectory(const std::string& path);
  uint64_t Leave(const std::string& path);
  uint64_t Enter(const std::string& path, std::string_view text);
  uint64_t SetMode(const std::string& path, uint32_t mode);
  uint64_t SetTimes(const std::string& path, int64_t modification_time);
  uint64_t Sync(const std::string& path);
  uint64_t SyncAs(OperationKind kind, const std::string& path);
  uint64_t SyncDirectory(const std::string& path);
  uint64_t SyncAll();
  uint64_t Close(const std::string& path);

  // Adds an operation with the given fields.
  uint64_t Add(FileOperation operation);
  // Returns an operation of the kind on the file at `path`, to be passed to
  // Add.
  FileOperation Named(OperationKind kind, const std::string& path) const;
  // Makes the next operation overlap earlier ones: it begins when only the
  // first `operations` of them have ended.
  void BeginEarlier(uint64_t operations) { begins_after_ = operations; }

  uint64_t FileAt(const std::string& path) const;
  OperationLog& log() { return *log_; }
  const std::string& folder() const { return folder_.path(); }

  // Returns the directory of the crash state `id` as text, with one name per
  // line: "a=text", "d/" or "l -> target".
  std::string TextOf(const std::string& id);
  Status StatusOf(const std::string& id);
  std::string TextOf(const DirectoryTree& tree) const;
  std::string ContentOf(const FileContent& content) const;
  // Returns the directories, as text, that a power loss at any of the crash
  // points `from` to `to` can leave.
  std::set<std::string> PowerLosses(DurabilityProfile profile, uint64_t from,
                                    uint64_t to);

 private:
  Result<DirectoryTree> TreeOf(const std::string& id);
  uint64_t MakeNamed(FileOperation operation);

  Folder folder_;
  std::optional<OperationLog> log_;
  std::map<std::string, uint64_t> files_;  // numbers of the files, by path
  std::optional<uint64_t> begins_after_;
};

// Returns bytes in which neighbouring sectors differ.
std::string Sectors(size_t count, char first = 'A');

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_CRASH_WRITTEN_LOG_H_
