#include "engine/data/gzip.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/out_of_memory.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// zlib counts bytes with 32 bits, so larger spans are split into pieces.
constexpr size_t kPiece = size_t{1} << 24;
constexpr int kGzipOnly = 16;

}  // namespace

GzipReader::GzipReader(std::string path, std::span<const std::byte> compressed)
    : path_(std::move(path)), rest_(compressed) {
  const int made = inflateInit2(&stream_, kGzipOnly + MAX_WBITS);
  if (made == Z_MEM_ERROR) OutOfMemory();
  CHECK(made == Z_OK, "zlib cannot start: another version");
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

Status GzipReader::Malformed(std::string_view expected,
                             std::string_view found) const {
  return InvalidArgument(fmt::format("{}: offset {}: expected {}, found {}",
                                     path_, consumed_, expected, found));
}

Result<size_t> GzipReader::Inflate(std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size() && !ended_) {
    const auto input = rest_.first(std::min(rest_.size(), kPiece));
    const auto output = out.subspan(done, std::min(out.size() - done, kPiece));
    // zlib's input pointer is not const, but zlib only reads through it.
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(output.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    const size_t used = input.size() - stream_.avail_in;
    const size_t made = output.size() - stream_.avail_out;
    rest_ = rest_.subspan(used);
    consumed_ += used;
    done += made;
    ended_ = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return Malformed("gzip data",
                       stream_.msg != nullptr ? stream_.msg : "damaged data");
    }
    if (!ended_ && used == 0 && made == 0) {
      return Malformed("more gzip data", "the end of the file");
    }
  }
  return done;
}

Status GzipReader::Read(std::span<std::byte> out) {
  ASSIGN_OR_RETURN(const size_t read, Inflate(out));
  if (read == out.size()) return OkStatus();
  return Malformed(
      fmt::format("{} more bytes of inflated data", out.size() - read),
      "the end of the gzip data");
}

Status GzipReader::ExpectEnd() {
  // zlib detects the end of the data, and verifies the checksum, only in a read
  // past the last byte.
  std::byte extra{};
  ASSIGN_OR_RETURN(const size_t read, Inflate({&extra, 1}));
  if (read != 0) return Malformed("the end of the inflated data", "more");
  if (rest_.empty()) return OkStatus();
  return Malformed("the end of the file",
                   fmt::format("{} bytes after the gzip data", rest_.size()));
}

}  // namespace gauntlet
