// The files of the watched directories: names and numbers of those that traced
// processes use. Devices, FIFOs and sockets are never found.
//
// A file is identified by device and inode. Names are those that the kernel
// reports for an open file or directory. The path of a file below a watched
// directory is found by following ".." until a directory has the watched one's
// device and inode. So ".." in paths, symbolic links, bind mounts and the
// beginning of a path do not matter. A file system mounted below a watched
// directory is not part of it.
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
  bool is_new = false;  // not in the log yet: it came from elsewhere
  // True if the file was found by `name`, or has no name yet. False if it was
  // found by a name outside of the watched directories; `name` is then its last
  // name in one of them.
  bool is_named_here = true;
};

// A name in a directory; the name may be free.
struct WatchedPlace {
  Descriptor directory;               // O_PATH
  std::string leaf;                   // one path component
  std::optional<FileName> name;       // nullopt: not in a watched directory
  std::optional<struct stat> status;  // of the entry itself (lstat)
};

class WatchedFiles {
 public:
  using AddFile = std::function<uint64_t(const FileIdentity&)>;

  // Watches existing directories. `add_file` assigns numbers.
  static Result<WatchedFiles> Watch(const std::vector<std::string>& directories,
                                    AddFile add_file);

  // Returns true if a watched directory is on this device.
  bool IsWatchedDevice(uint64_t device) const;

  // Returns the name of an open directory; nullopt: not watched, or removed.
  std::optional<FileName> NameOfDirectory(int directory);
  // Returns the place of a path; `path` must be valid for this process. For a
  // path that ends in "." or "..", returns the directory's place in its parent.
  WatchedPlace Locate(const std::string& path);
  // As Locate, but follows links at the end of the path. `root`: directory to
  // which absolute links are relative.
  WatchedPlace LocateFollowing(std::string path, const std::string& root);

  // Finds a file by its status and the kernel's name for it (text of
  // /proc/PID/fd/N). Returns nullopt if the file is outside of the watched
  // directories.
  std::optional<WatchedFile> Find(const struct stat& status,
                                  const std::string& text);
  // Finds the file, directory or link that is open by O_PATH.
  std::optional<WatchedFile> FindOpen(int descriptor);
  // As FindOpen, but returns only the name, and gives no number to a new file.
  std::optional<FileName> NameOfOpen(int descriptor);
  // Finds the file, directory or link at a place.
  std::optional<WatchedFile> FindAt(const WatchedPlace& place);

  // Adds a new file to the log and returns its number.
  uint64_t Add(const FileIdentity& identity, const FileName& name);
  bool Knows(const FileIdentity& identity) const;
  // Sets the name of a known file that had none.
  void SetName(const FileIdentity& identity, const FileName& name);
  // Removes a file that has lost its last name: its inode may be reused.
  // Returns its number; nullopt: it was not known.
  std::optional<uint64_t> Forget(const FileIdentity& identity);

  // Returns a descriptor for reading the file, opened by `path` at the first
  // call; -1 if the file cannot be opened.
  int Reader(uint64_t number, const std::string& path);

 private:
  struct Known {
    uint64_t number = 0;
    std::string text;  // the kernel's name from which `name` follows
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
  // Keyed by identity and the kernel's name, so that entries never become
  // stale.
  using NameKey = std::pair<FileIdentity, std::string>;
  std::map<NameKey, std::optional<FileName>> directories_;
  std::set<NameKey> outside_;
  std::map<uint64_t, Descriptor> readers_;
};

// Returns the name of entry `leaf` in a directory: "a/b" for "b" in "a".
FileName NameBelow(const FileName& directory, const std::string& leaf);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_CALLS_WATCHED_FILES_H_
