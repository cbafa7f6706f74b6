// Readable files in memory; all operations except reading are errors.
#ifndef GAUNTLET_TESTS_ENGINE_DATA_MEMORY_FILES_H_
#define GAUNTLET_TESTS_ENGINE_DATA_MEMORY_FILES_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/world/storage.h"

namespace gauntlet {

class MemoryFiles final : public Storage {
 public:
  std::map<std::string, std::string> files;
  // Opening this path fails with kIoError.
  std::string broken_path;

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Result<std::vector<DirectoryEntry>> List(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path, FileKind kind) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
};

// Returns one gzip member, as the gzip program writes it.
std::string Gzip(std::string_view bytes);

// Returns the value in big-endian order, as in IDX headers.
std::string BigEndian(uint32_t value);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_DATA_MEMORY_FILES_H_
