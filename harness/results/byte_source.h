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

// Used by one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Fills `into` with the bytes from `offset` on. kDataLoss: the bytes cannot
  // be had, as the file is damaged; kIoError: the disk failed.
  // REQUIRES: offset + into.size() <= size().
  virtual Status Read(uint64_t offset, std::span<std::byte> into) = 0;
};

using Bytes = std::shared_ptr<ByteSource>;

// `path` is for messages. kDataLoss if the file is shorter than when it was
// opened.
class FileBytes : public ByteSource {
 public:
  // kInvalidArgument: no regular file. Links are not followed.
  static Result<std::shared_ptr<FileBytes>> Open(const std::string& path);
  // An open file, as long as it is now.
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

// REQUIRES: offset + size <= whole->size().
Bytes PartOf(Bytes whole, uint64_t offset, uint64_t size);
Bytes BytesOfText(std::string text);

// An array that lies in `whole` with steps, counted in elements.
struct StridedArray {
  uint64_t element_bytes = 1;
  uint64_t first = 0;  // the element with index 0 in every dimension
  std::vector<uint64_t> shape;
  std::vector<uint64_t> strides;  // as many as the shape has
};
// Bytes of the array's elements in row-major order. An array that is not
// contiguous holds its part of `whole` in memory while it is read from begin to
// end. kDataLoss: it does not lie in `whole`, or that part is above 256 MiB.
Result<Bytes> RowMajor(Bytes whole, const StridedArray& array);

// Product of the shape and of `element_bytes`; kDataLoss above 2^63.
Result<uint64_t> ByteCount(const std::vector<uint64_t>& shape,
                           uint64_t element_bytes);
// Strides of a dense array, the last dimension or the first one fastest.
std::vector<uint64_t> RowMajorStrides(const std::vector<uint64_t>& shape);
std::vector<uint64_t> ColumnMajorStrides(const std::vector<uint64_t>& shape);

// All of it. kDataLoss above `limit`; `what` names it.
Result<std::string> ReadWhole(ByteSource& bytes, uint64_t limit,
                              std::string_view what);

// Bytes that the tensors of a file of this size may come to. Archives,
// compressed data sets and views of one storage may claim far more.
uint64_t UnpackedLimit(uint64_t file_size);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_BYTE_SOURCE_H_
