#include "tests/engine/data/data_files.h"

#include "engine/check.h"
#include <zlib.h>

namespace gauntlet {

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

}  // namespace gauntlet
