#include "tests/engine/data/memory_files.h"

#include <algorithm>
#include <cstring>

#include <zlib.h>

namespace gauntlet {
namespace {

class MemoryFile final : public File {
 public:
  explicit MemoryFile(const std::string& bytes) : bytes_(bytes) {}

  Status WriteAt(uint64_t /*offset*/,
                 std::span<const std::byte> /*bytes*/) override {
    return IoError("read only");
  }
  Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> out) override {
    if (offset >= bytes_.size()) return size_t{0};
    const size_t count = std::min<size_t>(out.size(), bytes_.size() - offset);
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }
  Result<uint64_t> Size() override { return uint64_t{bytes_.size()}; }
  Status Sync() override { return IoError("read only"); }

 private:
  std::string bytes_;
};

}  // namespace

Result<std::unique_ptr<File>> MemoryFiles::Open(const std::string& path,
                                                OpenMode mode) {
  if (mode != OpenMode::kRead) return IoError(path + ": read only");
  if (path == broken_path) return IoError(path + ": open: broken");
  const auto found = files.find(path);
  if (found == files.end()) return NotFound(path + ": open: no such file");
  return std::unique_ptr<File>(std::make_unique<MemoryFile>(found->second));
}
Result<std::vector<DirectoryEntry>> MemoryFiles::List(const std::string& path) {
  return IoError(path);
}
Status MemoryFiles::MakeDirectory(const std::string& path) {
  return IoError(path);
}
Status MemoryFiles::Rename(const std::string& from, const std::string& /*to*/) {
  return IoError(from);
}
Status MemoryFiles::Remove(const std::string& path, FileKind /*kind*/) {
  return IoError(path);
}
Status MemoryFiles::SyncDirectory(const std::string& path) {
  return IoError(path);
}
Result<std::unique_ptr<FileLock>> MemoryFiles::Lock(const std::string& path) {
  return IoError(path);
}

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "deflate");
  std::string input(bytes);
  std::string output(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
  output.resize(stream.total_out);
  deflateEnd(&stream);
  return output;
}

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
  }
  return bytes;
}

}  // namespace gauntlet
