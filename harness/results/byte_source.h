// A source of bytes, read in pieces: a file, a part of a file, or memory.
#ifndef GAUNTLET_HARNESS_RESULTS_BYTE_SOURCE_H_
#define GAUNTLET_HARNESS_RESULTS_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// Not thread-safe: only one thread may use it at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Fills `into` with the bytes from `offset` on. kDataLoss: the bytes are
  // unreadable, as the file is damaged; kIoError: the disk failed. REQUIRES:
  // offset + into.size() <= size().
  virtual Status Read(uint64_t offset, std::span<std::byte> into) = 0;
};

using Bytes = std::shared_ptr<ByteSource>;

// Bytes of a file; `path` is for messages. Read returns kDataLoss if the file
// has become shorter since it was opened.
class FileBytes : public ByteSource {
 public:
  // kInvalidArgument: not a regular file. Links are not followed.
  static Result<std::shared_ptr<FileBytes>> Open(const std::string& path);
  // Takes an open file, with its current size.
  static Result<std::shared_ptr<FileBytes>> Of(const std::string& path,
                                               Descriptor file);
  FileBytes(std::string path, Descriptor file, uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  uint64_t size() const override { return size_; }
  Status Read(uint64_t offset, std::span<std::byte> into) override;
  const std::string& path() const { return path_; }
  int descriptor() const { return file_.get(); }

 private:
  const std::string path_;
  const Descriptor file_;
  const uint64_t size_;
};

// Returns a part of the bytes. REQUIRES: offset + size <= whole->size().
Bytes PartOf(Bytes whole, uint64_t offset, uint64_t size);
Bytes BytesOfText(std::string text);

// An array within a source of bytes. Its positions are counted in elements.
struct StridedArray {
  uint64_t element_bytes = 1;
  uint64_t first = 0;  // the element with index 0 in every dimension
  std::vector<uint64_t> shape;
  std::vector<uint64_t> strides;  // as many as the shape has
};
// Returns the bytes of the array's elements in row-major order. If the array is
// not contiguous, the part of `whole` from its first to its last element is
// kept in memory while the array is read from start to end. kDataLoss: the
// array is not within `whole`, or that part is above 256 MiB.
Result<Bytes> RowMajor(Bytes whole, const StridedArray& array);

// Returns the product of the shape and `element_bytes`; kDataLoss above 2^63.
Result<uint64_t> ByteCount(const std::vector<uint64_t>& shape,
                           uint64_t element_bytes);
// Return the strides of a dense array whose last, or first, dimension is
// contiguous.
std::vector<uint64_t> RowMajorStrides(const std::vector<uint64_t>& shape);
std::vector<uint64_t> ColumnMajorStrides(const std::vector<uint64_t>& shape);

// Reads all bytes. kDataLoss above `limit`; `what` is the name in the message.
Result<std::string> ReadWhole(ByteSource& bytes, uint64_t limit,
                              std::string_view what);

// Returns the maximum number of bytes that all tensors of a file of this size
// may have together. Without this limit, archives, compressed data sets and
// views of one storage could claim far more bytes.
uint64_t UnpackedLimit(uint64_t file_size);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_BYTE_SOURCE_H_
