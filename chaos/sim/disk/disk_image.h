// A disk as a power loss left it, as cheap as it can be: file contents are
// shared between images, directories are an image's own. Recovery runs on a
// Storage over it, which acts at once and needs neither scheduler nor time.
#ifndef GAUNTLET_CHAOS_SIM_DISK_DISK_IMAGE_H_
#define GAUNTLET_CHAOS_SIM_DISK_DISK_IMAGE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/world/storage.h"

namespace gauntlet {

struct ImageFile {
  std::string data;
  bool frozen = false;  // in other images too: copied before it is written
};

struct ImageDirectory;

// A file or a directory: one of the two is not null.
struct ImageEntry {
  std::string name;
  std::shared_ptr<ImageFile> file;
  std::unique_ptr<ImageDirectory> directory;
};

struct ImageDirectory {
  std::vector<ImageEntry> entries;  // by name, ascending
};

// POSIX meaning, with two exceptions: a file that was opened for reading before
// another opened it for writing for the first time shows the old bytes, and
// paths go down only, without "..". Syncs have nothing to do.
class ImageStorage final : public Storage {
 public:
  explicit ImageStorage(ImageDirectory& root) : root_(root) {}

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path, FileKind kind) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;

 private:
  // Target of a path: the directory of its last part, that part, and its entry
  // or null. For the root itself, `directory` is null.
  struct Place {
    ImageDirectory* directory = nullptr;
    std::string_view name;
    ImageEntry* entry = nullptr;
  };
  Result<Place> Find(std::string_view path) const;
  Result<ImageDirectory*> FindDirectory(std::string_view path) const;

  ImageDirectory& root_;
  std::set<std::string> locked_;  // paths
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_DISK_IMAGE_H_
