#include "reports/trace/gzip.h"

#include <array>
#include <new>

#include <zlib.h>

namespace gauntlet {
namespace {

// Size of the pieces for zlib, which counts in 32 bits.
constexpr size_t kPiece = size_t{1} << 24;
constexpr int kGzipOnly = 16;
constexpr int kMemoryLevel = 8;  // zlib's default
constexpr int kUnknownSystem = 255;

class Deflater {
 public:
  Deflater() {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                     kGzipOnly + MAX_WBITS, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
    header_.os = kUnknownSystem;
    deflateSetHeader(&stream_, &header_);
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // `flush`: Z_FINISH for the last piece, else Z_NO_FLUSH.
  void Add(std::string_view piece, int flush, std::string& out) {
    // zlib's input pointer is not const, but zlib only reads through it.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      out.append(buffer_.data(), buffer_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
  gz_header header_{};  // time 0: none
  std::array<char, size_t{1} << 16> buffer_{};
};

}  // namespace

std::string Gzip(std::string_view text) {
  Deflater deflater;
  std::string out;
  while (text.size() > kPiece) {
    deflater.Add(text.substr(0, kPiece), Z_NO_FLUSH, out);
    text.remove_prefix(kPiece);
  }
  deflater.Add(text, Z_FINISH, out);
  return out;
}

std::string TraceFileBytes(std::string_view file, std::string trace) {
  return file.ends_with(".gz") ? Gzip(trace) : trace;
}

}  // namespace gauntlet
