#include "tests/engine/world/gated_storage.h"

#include <utility>

namespace gauntlet {

class GatedStorage::GatedFile final : public File {
 public:
  GatedFile(GatedStorage& storage, std::string path, std::unique_ptr<File> file)
      : storage_(storage), path_(std::move(path)), file_(std::move(file)) {}

  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Ask(StorageCall::kWrite, path_));
    return file_->WriteAt(offset, bytes);
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> bytes) override {
    RETURN_IF_ERROR(storage_.Ask(StorageCall::kRead, path_));
    return file_->ReadAt(offset, bytes);
  }
  Result<uint64_t> Size() override {
    RETURN_IF_ERROR(storage_.Ask(StorageCall::kRead, path_));
    return file_->Size();
  }
  Status Sync() override {
    RETURN_IF_ERROR(storage_.Ask(StorageCall::kSync, path_));
    return file_->Sync();
  }

 private:
  GatedStorage& storage_;
  const std::string path_;
  const std::unique_ptr<File> file_;
};

namespace {

StorageCall CallOf(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return StorageCall::kOpen;
    case OpenMode::kReadWrite:
      return StorageCall::kOpenToWrite;
    case OpenMode::kCreateExclusive:
    case OpenMode::kCreateTruncate:
      break;
  }
  return StorageCall::kCreate;
}

}  // namespace

Result<std::unique_ptr<File>> GatedStorage::WithGate(
    const std::string& path, Result<std::unique_ptr<File>> file) {
  RETURN_IF_ERROR(file.status());
  return std::unique_ptr<File>(
      std::make_unique<GatedFile>(*this, path, std::move(file).value()));
}

Result<std::unique_ptr<File>> GatedStorage::Open(const std::string& path,
                                                 OpenMode mode) {
  RETURN_IF_ERROR(Ask(CallOf(mode), path));
  return WithGate(path, base_.Open(path, mode));
}
Result<std::unique_ptr<File>> GatedStorage::CreatePrivate(
    const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kCreate, path));
  return WithGate(path, base_.CreatePrivate(path));
}
Result<std::unique_ptr<File>> GatedStorage::OpenPrivate(
    const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kOpen, path));
  return WithGate(path, base_.OpenPrivate(path));
}
Result<std::vector<DirectoryEntry>> GatedStorage::List(
    const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kList, path));
  return base_.List(path);
}
Status GatedStorage::MakeDirectory(const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kCreate, path));
  return base_.MakeDirectory(path);
}
Status GatedStorage::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(Ask(StorageCall::kChange, from));
  return base_.Rename(from, to);
}
Status GatedStorage::RenameToNew(const std::string& from,
                                 const std::string& to) {
  RETURN_IF_ERROR(Ask(StorageCall::kChange, from));
  return base_.RenameToNew(from, to);
}
Status GatedStorage::Remove(const std::string& path, FileKind kind) {
  RETURN_IF_ERROR(Ask(StorageCall::kChange, path));
  return base_.Remove(path, kind);
}
Status GatedStorage::SyncDirectory(const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kSync, path));
  return base_.SyncDirectory(path);
}
Result<std::unique_ptr<FileLock>> GatedStorage::Lock(const std::string& path) {
  RETURN_IF_ERROR(Ask(StorageCall::kLock, path));
  return base_.Lock(path);
}
Result<std::string> GatedStorage::RealPath(const std::string& path) {
  return base_.RealPath(path);
}
Result<uint64_t> GatedStorage::FreeBytes(const std::string& path) {
  return base_.FreeBytes(path);
}

Status AllowReading(StorageCall call, const std::string& path) {
  const bool reads = call == StorageCall::kOpen || call == StorageCall::kRead ||
                     call == StorageCall::kList;
  return reads ? OkStatus() : IoError(path + ": read only");
}

}  // namespace gauntlet
