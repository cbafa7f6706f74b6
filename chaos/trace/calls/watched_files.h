// The files of the watched directories: names and numbers of those that traced
// processes use.
//
// A file is known by device and inode. Names are those that the kernel gives
// for an open file or directory; how far it is below a watched directory is
// found by going up from it ("..") until a directory has that one's device and
// inode. So
// "..", symbolic links and bind mounts do not matter, nor what else a path
// begins with. A file system that is mounted below a watched directory is not
// part of it.
#ifndef GAUNTLET_CHAOS_TRACE_CALLS_WATCHED_FILES_H_
#define GAUNTLET_CHAOS_TRACE_CALLS_WATCHED_FILES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include <sys/stat.h>

namespace gauntlet {

struct WatchedFile {
  uint64_t number = 0;  // in the log
  FileName name;
  bool is_new = false;  // the log has not seen it: it came from elsewhere
  // It was found by this name, or has none yet. False: by one that it has
  // outside; `name` is the last one known here.
  bool is_named_here = true;
};

// A name in a directory, which need not be taken.
struct Place {
  Descriptor directory;               // O_PATH
  std::string leaf;                   // one part
  std::optional<FileName> name;       // nullopt: not in a watched directory
  std::optional<struct stat> status;  // of what has the name; not followed
};

class WatchedFiles {
 public:
  using AddFile = std::function<uint64_t(const FileIdentity&)>;

  // Watches existing directories. `add_file` gives numbers.
  static Result<WatchedFiles> Watch(const std::vector<std::string>& directories,
                                    AddFile add_file);

  // True for the file systems of watched directories.
  bool IsWatchedDevice(uint64_t device) const;

  // Name of a directory that is open; nullopt: not watched, or removed.
  std::optional<FileName> NameOfDirectory(int directory);
  // The place of a path that this process can open; of a path to a directory's
  // own "." or "..", that directory's place in its parent.
  Place Locate(const std::string& path);
  // The same, with links at the end of the path followed. `root`: where
  // absolute links begin.
  Place LocateFollowing(std::string path, const std::string& root);

  // The file by its status and the kernel's name for it (text of
  // /proc/PID/fd/N); nullopt: it is outside.
  std::optional<WatchedFile> Find(const struct stat& status,
                                  const std::string& text);
  // The file, directory or link that is open by O_PATH.
  std::optional<WatchedFile> FindOpen(int descriptor);
  // The file, directory or link that has a watched name.
  std::optional<WatchedFile> FindAt(const Place& place);

  // A new file of the log.
  uint64_t Add(const FileIdentity& identity, const FileName& name);
  bool Knows(const FileIdentity& identity) const;
  // A known file without a name has got one.
  void SetName(const FileIdentity& identity, const FileName& name);
  // The file has lost its last name: its inode may become another file.
  void Forget(const FileIdentity& identity);

  // A descriptor to read the file, opened by `path` once; -1 if it cannot be.
  int Reader(uint64_t number, const std::string& path);

 private:
  struct Known {
    uint64_t number = 0;
    std::string text;  // the kernel's name that led to `name`
    FileName name;
  };
  struct Root {
    FileIdentity identity;
    std::string path;
  };

  explicit WatchedFiles(AddFile add_file) : add_file_(std::move(add_file)) {}
  std::optional<FileName> ClimbToRoot(int directory,
                                      const std::string& text) const;
  std::optional<FileName> NameOfText(const FileIdentity& identity,
                                     const std::string& text);

  AddFile add_file_;
  std::vector<Root> roots_;
  std::map<FileIdentity, Known> known_;
  // By identity and the kernel's name, which together cannot become wrong.
  using NameKey = std::pair<FileIdentity, std::string>;
  std::map<NameKey, std::optional<FileName>> directories_;
  std::set<NameKey> outside_;
  std::map<uint64_t, Descriptor> readers_;
};

// "a/b" below a directory's name.
FileName NameBelow(const FileName& directory, const std::string& leaf);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_CALLS_WATCHED_FILES_H_
