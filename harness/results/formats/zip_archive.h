// A zip archive, read by libzip, one piece of an entry at a time.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_ZIP_ARCHIVE_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_ZIP_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/status.h"
#include "harness/results/byte_source.h"

struct zip;

namespace gauntlet {

struct ZipEntry {
  std::string name;
  uint64_t index = 0;
  uint64_t size = 0;       // bytes of its content
  bool is_stored = false;  // false: deflated
};

class ZipArchive {
 public:
  // kDataLoss: the archive is damaged; an entry is encrypted, compressed by a
  // method other than deflate, or claims more bytes than deflate can hold; or
  // all entries together have more compressed bytes than the file, or more
  // bytes than UnpackedLimit.
  static Result<std::shared_ptr<ZipArchive>> Open(
      const std::shared_ptr<FileBytes>& file);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  // Returns all entries except directories.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  uint64_t file_size() const { return file_size_; }
  zip* handle() const { return handle_; }

 private:
  ZipArchive(zip* handle, uint64_t file_size)
      : handle_(handle), file_size_(file_size) {}
  Status ReadEntries();

  zip* const handle_;
  const uint64_t file_size_;
  std::vector<ZipEntry> entries_;
};

// Returns the bytes of an entry. Reading a deflated entry backwards inflates it
// again from the start. The checksum of a deflated entry is verified when its
// last byte is read.
Bytes OpenEntry(const std::shared_ptr<ZipArchive>& archive,
                const ZipEntry& entry);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_ZIP_ARCHIVE_H_
