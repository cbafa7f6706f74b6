#include "tests/property/gated_storage.h"

#include <utility>

namespace gauntlet {

class GatedStorage::GatedFile final : public File {
 public:
  GatedFile(GatedStorage& storage, std::unique_ptr<File> file)
      : storage_(storage), file_(std::move(file)) {}

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Ask());
    return file_->WriteAt(offset, bytes);
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Ask());
    return file_->ReadAt(offset, bytes);
  }
  Result<uint64_t> Size() override {
    RETURN_IF_ERROR(storage_.Ask());
    return file_->Size();
  }
  Status Sync() override {
    RETURN_IF_ERROR(storage_.Ask());
    return file_->Sync();
  }

 private:
  GatedStorage& storage_;
  const std::unique_ptr<File> file_;
};

Result<std::unique_ptr<File>> GatedStorage::Open(const std::string& path,
                                                 OpenMode mode) {
  RETURN_IF_ERROR(Ask());
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, base_.Open(path, mode));
  return std::unique_ptr<File>(
      std::make_unique<GatedFile>(*this, std::move(file)));
}
Result<std::vector<DirectoryEntry>> GatedStorage::List(
    const std::string& path) {
  RETURN_IF_ERROR(Ask());
  return base_.List(path);
}
Status GatedStorage::MakeDirectory(const std::string& path) {
  RETURN_IF_ERROR(Ask());
  return base_.MakeDirectory(path);
}
Status GatedStorage::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(Ask());
  return base_.Rename(from, to);
}
Status GatedStorage::Remove(const std::string& path, FileKind kind) {
  RETURN_IF_ERROR(Ask());
  return base_.Remove(path, kind);
}
Status GatedStorage::SyncDirectory(const std::string& path) {
  RETURN_IF_ERROR(Ask());
  return base_.SyncDirectory(path);
}
Result<std::unique_ptr<FileLock>> GatedStorage::Lock(const std::string& path) {
  RETURN_IF_ERROR(Ask());
  return base_.Lock(path);
}

}  // namespace gauntlet
