// A disk state after a power loss, as cheap as possible: images share file
// contents, and each has its own directories. Recovery runs on ImageStorage;
// its operations take effect immediately and need neither scheduler nor time.
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
  bool frozen = false;  // shared with other images: copied before it is written
};

struct ImageDirectory;

// A file or a directory: exactly one of the two is not null.
struct ImageEntry {
  std::string name;
  std::shared_ptr<ImageFile> file;
  std::unique_ptr<ImageDirectory> directory;
};

struct ImageDirectory {
  std::vector<ImageEntry> entries;  // ascending by name
};

// POSIX semantics, with two exceptions: paths may not contain "..", and a
// reader that was opened before the file is first opened for writing keeps
// seeing the old bytes. Syncs do nothing.
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
  // Result of a path lookup: the directory of its last component, that
  // component, and its entry or null. For the root itself, `directory` is null.
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
