#include "reports/trace/gzip.h"

#include <gtest/gtest.h>

#include <zlib.h>

namespace gauntlet {
namespace {

std::string Gunzip(std::string bytes, size_t size) {
  constexpr int kGzipOnly = 16;
  std::string text(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, kGzipOnly + MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(text.size() - stream.avail_out);
  EXPECT_EQ(stream.avail_in, 0u);
  inflateEnd(&stream);
  return text;
}

// Returns text that hardly compresses.
std::string Noise(size_t size) {
  std::string text(size, '\0');
  uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

TEST(GzipTest, InflatesToTheText) {
  for (const size_t size : {0, 1, 300'000, (1 << 24) + 1}) {
    const std::string text = Noise(size);
    EXPECT_TRUE(Gunzip(Gzip(text), size) == text) << size;
  }
}

TEST(GzipTest, HeaderHoldsNoTimeAndNoSystem) {
  const std::string bytes = Gzip("text");
  EXPECT_EQ(bytes.substr(0, 10),
            std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
}

TEST(GzipTest, RepetitionsCompress) {
  EXPECT_LT(Gzip(std::string(1'000'000, 'x')).size(), 2'000u);
}

TEST(GzipTest, SuffixOfATraceDecidesCompression) {
  EXPECT_EQ(TraceFileBytes("t.json", "{}"), "{}");
  EXPECT_EQ(TraceFileBytes("t.json.gz", "{}").substr(0, 2), "\x1f\x8b");
}

}  // namespace
}  // namespace gauntlet
