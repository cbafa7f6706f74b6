#include "engine/data/idx.h"

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "engine/data/gzip.h"
#include "engine/data/source_file.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint32_t kImagesMagic = 0x00000803;
constexpr uint32_t kLabelsMagic = 0x00000801;
constexpr uint64_t kMaxSide = 4096;

// The bytes of an IDX file in order, inflated if the file is compressed.
class IdxSource {
 public:
  IdxSource(std::string path, std::string bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {
    if (path_.ends_with(".gz")) {
      gzip_ = std::make_unique<GzipReader>(path_, all());
    }
  }

  const std::string& path() const { return path_; }
  // Returns an upper bound on the number of bytes that Read can return.
  uint64_t most() const {
    return gzip_ ? bytes_.size() * kMaxInflateRatio : bytes_.size();
  }

  Status Read(std::span<std::byte> out) {
    if (gzip_) return gzip_->Read(out);
    const auto rest = all().subspan(offset_);
    if (rest.size() < out.size()) {
      return Malformed(fmt::format("{} more bytes", out.size()),
                       fmt::format("{}", rest.size()));
    }
    if (!out.empty()) std::memcpy(out.data(), rest.data(), out.size());
    offset_ += out.size();
    return OkStatus();
  }

  Status ExpectEnd() {
    if (gzip_) return gzip_->ExpectEnd();
    if (offset_ == bytes_.size()) return OkStatus();
    return Malformed("the end of the file",
                     fmt::format("{} more bytes", bytes_.size() - offset_));
  }

 private:
  std::span<const std::byte> all() const {
    return std::as_bytes(std::span(bytes_));
  }
  Status Malformed(std::string_view expected, std::string_view found) const {
    return MalformedData(path_, offset_, expected, found);
  }

  std::string path_;
  std::string bytes_;
  uint64_t offset_ = 0;
  std::unique_ptr<GzipReader> gzip_;
};

Result<std::unique_ptr<IdxSource>> OpenIdx(Storage& storage,
                                           const std::string& plain) {
  for (const std::string& path : {plain, plain + ".gz"}) {
    Result<std::string> bytes = ReadDataFile(storage, path);
    if (bytes.ok()) {
      return std::make_unique<IdxSource>(path, std::move(bytes).value());
    }
    if (bytes.status().code() != Code::kNotFound) return bytes.status();
  }
  return InvalidArgument(fmt::format(
      "{}: expected an IDX file, or one with .gz, found neither", plain));
}

Result<uint32_t> ReadBigEndian(IdxSource& source) {
  std::array<std::byte, 4> bytes{};
  RETURN_IF_ERROR(source.Read(bytes));
  uint32_t value = 0;
  for (const std::byte byte : bytes) {
    value = value << 8 | std::to_integer<uint32_t>(byte);
  }
  return value;
}

Status ReadMagic(IdxSource& source, uint32_t expected) {
  ASSIGN_OR_RETURN(const uint32_t magic, ReadBigEndian(source));
  if (magic == expected) return OkStatus();
  return MalformedData(source.path(), 0,
                       fmt::format("magic 0x{:08x}", expected),
                       fmt::format("0x{:08x}", magic));
}

struct Dimension {
  std::string_view name;
  uint64_t offset = 0;  // position in the file
  uint64_t most = 0;
};

Result<uint32_t> ReadDimension(IdxSource& source, const Dimension& dimension) {
  ASSIGN_OR_RETURN(const uint32_t size, ReadBigEndian(source));
  if (size >= 1 && size <= dimension.most) return size;
  return MalformedData(
      source.path(), dimension.offset,
      fmt::format("1 to {} {}", dimension.most, dimension.name),
      std::to_string(size));
}

// Reads the `size` bytes after the header and expects the end of the file.
Result<std::vector<uint8_t>> ReadBody(IdxSource& source, uint64_t size) {
  if (size > kMaxDataFileBytes || size > source.most()) {
    return InvalidArgument(fmt::format(
        "{}: offset 4: the sizes promise {} bytes, the file can hold {} (and "
        "the limit is {})",
        source.path(), size, source.most(), kMaxDataFileBytes));
  }
  std::vector<uint8_t> body(size);
  RETURN_IF_ERROR(source.Read(std::as_writable_bytes(std::span(body))));
  RETURN_IF_ERROR(source.ExpectEnd());
  return body;
}

Status ReadImages(IdxSource& source, RawSamples& raw) {
  RETURN_IF_ERROR(ReadMagic(source, kImagesMagic));
  ASSIGN_OR_RETURN(
      raw.samples,
      ReadDimension(source,
                    {.name = "samples", .offset = 4, .most = kMaxDataSamples}));
  ASSIGN_OR_RETURN(raw.height, ReadDimension(source, {.name = "pixels high",
                                                      .offset = 8,
                                                      .most = kMaxSide}));
  ASSIGN_OR_RETURN(raw.width, ReadDimension(source, {.name = "pixels wide",
                                                     .offset = 12,
                                                     .most = kMaxSide}));
  ASSIGN_OR_RETURN(raw.pixels, ReadBody(source, uint64_t{raw.samples} *
                                                    raw.height * raw.width));
  return OkStatus();
}

Status ReadLabels(IdxSource& source, RawSamples& raw) {
  constexpr size_t kHeader = 8;
  RETURN_IF_ERROR(ReadMagic(source, kLabelsMagic));
  ASSIGN_OR_RETURN(
      const uint32_t samples,
      ReadDimension(source,
                    {.name = "samples", .offset = 4, .most = kMaxDataSamples}));
  if (samples != raw.samples) {
    return MalformedData(
        source.path(), 4,
        fmt::format("{} samples as in the images", raw.samples),
        std::to_string(samples));
  }
  ASSIGN_OR_RETURN(raw.labels, ReadBody(source, samples));
  for (size_t i = 0; i < raw.labels.size(); ++i) {
    if (raw.labels[i] >= kImageClasses) {
      return MalformedData(source.path(), kHeader + i,
                           fmt::format("a label below {}", kImageClasses),
                           std::to_string(raw.labels[i]));
    }
  }
  return OkStatus();
}

}  // namespace

Result<RawSamples> ReadIdx(Storage& storage, const std::string& directory,
                           DataPart split) {
  const std::string stem =
      directory + (split == DataPart::kTrain ? "/train" : "/t10k");
  RawSamples raw;
  ASSIGN_OR_RETURN(const auto images,
                   OpenIdx(storage, stem + "-images-idx3-ubyte"));
  RETURN_IF_ERROR(ReadImages(*images, raw));
  ASSIGN_OR_RETURN(const auto labels,
                   OpenIdx(storage, stem + "-labels-idx1-ubyte"));
  RETURN_IF_ERROR(ReadLabels(*labels, raw));
  return raw;
}

}  // namespace gauntlet
