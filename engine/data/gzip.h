// Inflating gzip by pieces of known size, so that what a small file claims to
// hold never decides how much memory it gets.
#ifndef GAUNTLET_ENGINE_DATA_GZIP_H_
#define GAUNTLET_ENGINE_DATA_GZIP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/status.h"
#include <zlib.h>

namespace gauntlet {

// Deflate's best ratio is a little under this many bytes out for one in.
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

  // Fills the span; an error if the data end before it is full.
  Status Read(std::span<std::byte> out);
  // Checks that the data end here with a valid checksum, and the file with
  // them.
  Status ExpectEnd();

 private:
  // Inflates into `out`. Returns the bytes that came; fewer only at the end.
  Result<size_t> Inflate(std::span<std::byte> out);
  Status Malformed(std::string_view expected, std::string_view found) const;

  std::string path_;
  std::span<const std::byte> rest_;  // not yet given to zlib
  uint64_t consumed_ = 0;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_GZIP_H_
