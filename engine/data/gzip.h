// Inflates gzip data in pieces of sizes that the caller chooses. So the size
// that a file states never determines how much memory is allocated.
#ifndef GAUNTLET_ENGINE_DATA_GZIP_H_
#define GAUNTLET_ENGINE_DATA_GZIP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/status.h"
#include <zlib.h>

namespace gauntlet {

// Upper bound of deflate's ratio: output bytes for one input byte.
inline constexpr uint64_t kMaxInflateRatio = 1032;

// One gzip member, read in order. Errors are kInvalidArgument and name the file
// and the offset in the compressed bytes.
class GzipReader {
 public:
  // `compressed` must outlive this; `path` is for messages.
  GzipReader(std::string path, std::span<const std::byte> compressed);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fills the span. Returns an error if the data ends before the span is full.
  Status Read(std::span<std::byte> out);
  // Checks that the data ends here, that its checksum is valid, and that
  // nothing follows it in the file.
  Status ExpectEnd();

 private:
  // Inflates into `out`. Returns the number of bytes written, which is less
  // than the size of `out` only at the end of the data.
  Result<size_t> Inflate(std::span<std::byte> out);
  Status Malformed(std::string_view expected, std::string_view found) const;

  std::string path_;
  std::span<const std::byte> rest_;  // bytes not yet given to zlib
  uint64_t consumed_ = 0;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_GZIP_H_
