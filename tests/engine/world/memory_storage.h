// Files in memory that can be copied as a whole, record reads and syncs, and
// can refuse operations.
#ifndef GAUNTLET_TESTS_ENGINE_WORLD_MEMORY_STORAGE_H_
#define GAUNTLET_TESTS_ENGINE_WORLD_MEMORY_STORAGE_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/engine/world/gated_storage.h"

namespace gauntlet {

// POSIX semantics without links and locks. The functions below are not gated.
class MemoryStorage final : public GatedStorage {
 public:
  MemoryStorage();
  MemoryStorage(MemoryStorage&&) noexcept;
  ~MemoryStorage() override;

  // All files with their bytes, by path. Paths of directories end in '/'; the
  // root and the working directory are left out.
  std::map<std::string, std::string> Contents() const;
  void SetContents(const std::map<std::string, std::string>& contents);

  bool Exists(const std::string& path) const;
  // Bytes of a file that exists.
  std::string& Bytes(const std::string& path);
  // Replaces or creates the file, even where it has no directory.
  void SetBytes(const std::string& path, std::string bytes);
  void Erase(const std::string& path);

  // Bytes that the file had at its last Sync; "" before the first.
  const std::string& DurableBytes(const std::string& path) const;
  // Arguments of SyncDirectory, in order.
  const std::vector<std::string>& synced_directories() const;
  // Memory that each file was read into, by path; one entry per read.
  std::map<std::string, std::vector<std::span<const std::byte>>>& reads();

 private:
  class Files;
  explicit MemoryStorage(std::unique_ptr<Files> files);

  std::unique_ptr<Files> files_;
};

// Returns a storage with these files in which only reading is allowed.
MemoryStorage ReadOnlyFiles(
    const std::map<std::string, std::string>& contents = {});

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_WORLD_MEMORY_STORAGE_H_
