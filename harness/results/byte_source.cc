#include "harness/results/byte_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/check.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxGathered = uint64_t{256} << 20;

class PartBytes : public ByteSource {
 public:
  PartBytes(Bytes whole, uint64_t offset, uint64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}

  uint64_t size() const override { return size_; }
  Status Read(uint64_t offset, std::span<std::byte> into) override {
    return whole_->Read(offset_ + offset, into);
  }

 private:
  const Bytes whole_;
  const uint64_t offset_;
  const uint64_t size_;
};

class TextBytes : public ByteSource {
 public:
  explicit TextBytes(std::string text) : text_(std::move(text)) {}

  uint64_t size() const override { return text_.size(); }
  Status Read(uint64_t offset, std::span<std::byte> into) override {
    std::memcpy(into.data(), text_.data() + offset, into.size());
    return OkStatus();
  }

 private:
  const std::string text_;
};

// Range of elements of `whole` that a non-empty array covers.
struct Extent {
  uint64_t first = 0;  // elements
  uint64_t count = 0;
};

Result<Extent> ExtentOf(const StridedArray& array, uint64_t elements) {
  uint64_t last = array.first;
  bool fits = true;
  for (size_t i = 0; i < array.shape.size(); ++i) {
    uint64_t step = 0;
    fits =
        fits &&
        !__builtin_mul_overflow(array.shape[i] - 1, array.strides[i], &step) &&
        !__builtin_add_overflow(last, step, &last);
  }
  if (!fits || last >= elements) {
    return DataLoss(fmt::format(
        "an array of shape [{}], strides [{}] and offset {} does not lie in a "
        "storage of {} elements",
        fmt::join(array.shape, ","), fmt::join(array.strides, ","), array.first,
        elements));
  }
  return Extent{.first = array.first, .count = last - array.first + 1};
}

bool IsContiguous(const StridedArray& array) {
  const std::vector<uint64_t> dense = RowMajorStrides(array.shape);
  for (size_t i = 0; i < dense.size(); ++i) {
    if (array.shape[i] != 1 && array.strides[i] != dense[i]) return false;
  }
  return true;
}

class GatheredBytes : public ByteSource {
 public:
  GatheredBytes(Bytes part, StridedArray array, uint64_t size)
      : part_(std::move(part)), array_(std::move(array)), size_(size) {}

  uint64_t size() const override { return size_; }

  Status Read(uint64_t offset, std::span<std::byte> into) override {
    if (memory_.empty()) {
      memory_.resize(part_->size());
      RETURN_IF_ERROR(part_->Read(0, memory_));
    }
    const uint64_t end = offset + into.size();
    while (!into.empty()) {
      const uint64_t inside = offset % array_.element_bytes;
      const uint64_t count =
          std::min<uint64_t>(array_.element_bytes - inside, into.size());
      std::memcpy(
          into.data(),
          memory_.data() + PlaceOf(offset / array_.element_bytes) + inside,
          count);
      into = into.subspan(count);
      offset += count;
    }
    if (end == size_) memory_ = {};
    return OkStatus();
  }

 private:
  // Returns the offset in memory of the element with that row-major index.
  uint64_t PlaceOf(uint64_t element) const {
    uint64_t place = 0;
    for (size_t i = array_.shape.size(); i-- > 0;) {
      place += element % array_.shape[i] * array_.strides[i];
      element /= array_.shape[i];
    }
    return place * array_.element_bytes;
  }

  const Bytes part_;
  const StridedArray array_;
  const uint64_t size_;
  std::vector<std::byte> memory_;
};

}  // namespace

Result<std::shared_ptr<FileBytes>> FileBytes::Open(const std::string& path) {
  Descriptor file(RetryOnInterrupt([&] {
    return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  }));
  if (!file.valid()) return PosixError(errno, path, "open");
  return Of(path, std::move(file));
}

Result<std::shared_ptr<FileBytes>> FileBytes::Of(const std::string& path,
                                                 Descriptor file) {
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return PosixError(errno, path, "stat");
  if (!S_ISREG(info.st_mode))
    return InvalidArgument(path + ": expected a regular file");
  return std::make_shared<FileBytes>(path, std::move(file),
                                     static_cast<uint64_t>(info.st_size));
}

Status FileBytes::Read(uint64_t offset, std::span<std::byte> into) {
  CHECK(offset <= size_ && into.size() <= size_ - offset, "a read beyond");
  while (!into.empty()) {
    const ssize_t count = RetryOnInterrupt([&] {
      return pread(file_.get(), into.data(), into.size(),
                   static_cast<off_t>(offset));
    });
    if (count < 0) return PosixError(errno, path_, "read");
    if (count == 0) {
      return DataLoss(fmt::format("{}: ends at {}, expected {} bytes", path_,
                                  offset, size_));
    }
    into = into.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return OkStatus();
}

Bytes PartOf(Bytes whole, uint64_t offset, uint64_t size) {
  CHECK(offset <= whole->size() && size <= whole->size() - offset,
        "a part beyond its whole");
  return std::make_shared<PartBytes>(std::move(whole), offset, size);
}

Bytes BytesOfText(std::string text) {
  return std::make_shared<TextBytes>(std::move(text));
}

Result<Bytes> RowMajor(Bytes whole, const StridedArray& array) {
  CHECK(array.shape.size() == array.strides.size(), "a stride is missing");
  const uint64_t width = array.element_bytes;
  ASSIGN_OR_RETURN(const uint64_t size, ByteCount(array.shape, width));
  if (size == 0) return BytesOfText("");
  ASSIGN_OR_RETURN(const Extent extent, ExtentOf(array, whole->size() / width));
  Bytes part =
      PartOf(std::move(whole), extent.first * width, extent.count * width);
  if (IsContiguous(array)) return part;
  if (part->size() > kMaxGathered) {
    return DataLoss(
        fmt::format("an array that is not contiguous in {} bytes: at most {} "
                    "are held in memory",
                    part->size(), kMaxGathered));
  }
  return Bytes(std::make_shared<GatheredBytes>(std::move(part), array, size));
}

Result<uint64_t> ByteCount(const std::vector<uint64_t>& shape,
                           uint64_t element_bytes) {
  if (std::ranges::count(shape, 0u) > 0) return 0;
  uint64_t bytes = element_bytes;
  for (const uint64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes) || bytes >> 63 != 0) {
      return DataLoss(fmt::format("a shape [{}] of more than 2^63 bytes",
                                  fmt::join(shape, ",")));
    }
  }
  return bytes;
}

std::vector<uint64_t> RowMajorStrides(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> strides(shape.size());
  uint64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

std::vector<uint64_t> ColumnMajorStrides(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> strides(shape.size());
  uint64_t step = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Result<std::string> ReadWhole(ByteSource& bytes, uint64_t limit,
                              std::string_view what) {
  if (bytes.size() > limit) {
    return DataLoss(fmt::format("{}: expected at most {} bytes, found {}", what,
                                limit, bytes.size()));
  }
  std::string text(bytes.size(), '\0');
  RETURN_IF_ERROR(bytes.Read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

uint64_t UnpackedLimit(uint64_t file_size) {
  constexpr uint64_t kAlways = uint64_t{4} << 30;
  constexpr uint64_t kTimes = 64;
  constexpr uint64_t kMaxSize = uint64_t{1} << 56;
  return kAlways + kTimes * std::min(file_size, kMaxSize);
}

}  // namespace gauntlet
