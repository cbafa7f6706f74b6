#include "harness/results/formats/zip_archive.h"

#include <algorithm>
#include <cerrno>

#include "engine/real/posix/posix_status.h"
#include "engine/utf8.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <zip.h>

namespace gauntlet {
namespace {

constexpr size_t kSkippedPiece = size_t{256} << 10;
// Upper bound of deflate's ratio: bytes out for one byte in.
constexpr uint64_t kMaxInflateRatio = 1032;

std::string ZipErrorText(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

class EntryBytes : public ByteSource {
 public:
  EntryBytes(std::shared_ptr<ZipArchive> archive, ZipEntry entry)
      : archive_(std::move(archive)), entry_(std::move(entry)) {}
  ~EntryBytes() override { Close(); }
  EntryBytes(const EntryBytes&) = delete;
  EntryBytes& operator=(const EntryBytes&) = delete;

  uint64_t size() const override { return entry_.size; }

  Status Read(uint64_t offset, std::span<std::byte> into) override {
    RETURN_IF_ERROR(Seek(offset));
    RETURN_IF_ERROR(Take(into));
    // libzip verifies the checksum when it reads past the last byte.
    if (!entry_.is_stored && at_ == entry_.size) {
      std::byte beyond{};
      if (zip_fread(open_, &beyond, 1) != 0) return Damaged();
      Close();
    }
    return OkStatus();
  }

 private:
  void Close() {
    if (open_ != nullptr) zip_fclose(open_);
    open_ = nullptr;
  }
  Status Damaged() const {
    return DataLoss(fmt::format("entry {} is damaged",
                                EscapeBytes(TruncateUtf8(entry_.name, 100))));
  }

  Status Seek(uint64_t offset) {
    if (open_ == nullptr || (!entry_.is_stored && offset < at_)) {
      Close();
      // With ZIP_FL_COMPRESSED, libzip reads a stored entry as it is in the
      // file. So the entry is seekable, and its checksum is not verified:
      // torch.save may omit the checksum, and a comparison does not need it.
      open_ = zip_fopen_index(archive_->handle(), entry_.index,
                              entry_.is_stored ? ZIP_FL_COMPRESSED : 0);
      if (open_ == nullptr) return Damaged();
      at_ = 0;
    }
    if (offset == at_) return OkStatus();
    if (entry_.is_stored) {
      if (zip_fseek(open_, static_cast<zip_int64_t>(offset), SEEK_SET) != 0)
        return Damaged();
      at_ = offset;
      return OkStatus();
    }
    std::vector<std::byte> skipped(
        std::min<uint64_t>(kSkippedPiece, offset - at_));
    while (at_ < offset) {
      const uint64_t count = std::min<uint64_t>(skipped.size(), offset - at_);
      RETURN_IF_ERROR(Take(std::span(skipped).first(count)));
    }
    return OkStatus();
  }

  Status Take(std::span<std::byte> into) {
    while (!into.empty()) {
      const zip_int64_t count = zip_fread(open_, into.data(), into.size());
      if (count <= 0) return Damaged();
      into = into.subspan(static_cast<size_t>(count));
      at_ += static_cast<uint64_t>(count);
    }
    return OkStatus();
  }

  const std::shared_ptr<ZipArchive> archive_;
  const ZipEntry entry_;
  zip_file_t* open_ = nullptr;
  uint64_t at_ = 0;
};

}  // namespace

Result<std::shared_ptr<ZipArchive>> ZipArchive::Open(
    const std::shared_ptr<FileBytes>& file) {
  // Opens the file again, as libzip moves the offset of its descriptor.
  Descriptor own(RetryOnInterrupt([&] {
    return open(fmt::format("/proc/self/fd/{}", file->descriptor()).c_str(),
                O_RDONLY | O_CLOEXEC);
  }));
  if (!own.valid()) return PosixError(errno, file->path(), "open");
  int error = 0;
  zip* const handle = zip_fdopen(own.get(), 0, &error);
  if (handle == nullptr)
    return DataLoss("expected a zip archive: " + ZipErrorText(error));
  own.Release();
  std::shared_ptr<ZipArchive> archive(new ZipArchive(handle, file->size()));
  RETURN_IF_ERROR(archive->ReadEntries());
  return archive;
}

ZipArchive::~ZipArchive() { zip_discard(handle_); }

Status ZipArchive::ReadEntries() {
  const zip_int64_t count = zip_get_num_entries(handle_, 0);
  uint64_t packed = 0;
  uint64_t unpacked = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t found;
    zip_stat_init(&found);
    if (zip_stat_index(handle_, index, ZIP_FL_ENC_RAW, &found) != 0)
      return DataLoss(fmt::format("entry {} is damaged", i));
    const std::string name =
        EscapeBytes(TruncateUtf8(found.name == nullptr ? "" : found.name, 100));
    const bool is_stored = found.comp_method == ZIP_CM_STORE;
    if (found.encryption_method != ZIP_EM_NONE ||
        (!is_stored && found.comp_method != ZIP_CM_DEFLATE)) {
      return DataLoss(
          fmt::format("entry {}: expected stored or deflated bytes", name));
    }
    const bool fits = is_stored
                          ? found.size == found.comp_size
                          : found.size / kMaxInflateRatio <= found.comp_size;
    if (!fits || __builtin_add_overflow(packed, found.comp_size, &packed) ||
        __builtin_add_overflow(unpacked, found.size, &unpacked) ||
        packed > file_size_ || unpacked > UnpackedLimit(file_size_)) {
      return DataLoss(
          fmt::format("entry {}: {} bytes cannot be in a file of "
                      "{}",
                      name, found.size, file_size_));
    }
    if (name.ends_with('/') && found.size == 0) continue;
    entries_.push_back({.name = found.name == nullptr ? "" : found.name,
                        .index = index,
                        .size = found.size,
                        .is_stored = is_stored});
  }
  return OkStatus();
}

Bytes OpenEntry(const std::shared_ptr<ZipArchive>& archive,
                const ZipEntry& entry) {
  return std::make_shared<EntryBytes>(archive, entry);
}

}  // namespace gauntlet
