#include "engine/data/idx.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/data/data_files.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

constexpr uint32_t kImages = 0x803;
constexpr uint32_t kLabels = 0x801;
const char kImagesPath[] = "d/train-images-idx3-ubyte";
const char kLabelsPath[] = "d/train-labels-idx1-ubyte";

std::string Images(uint32_t samples, uint32_t height, uint32_t width,
                   std::string_view pixels) {
  return BigEndian(kImages) + BigEndian(samples) + BigEndian(height) +
         BigEndian(width) + std::string(pixels);
}

std::string Labels(uint32_t samples, std::string_view labels) {
  return BigEndian(kLabels) + BigEndian(samples) + std::string(labels);
}

// Two images of 1 x 3 pixels.
const std::string kGoodImages = Images(2, 1, 3, "abcdef");
const std::string kGoodLabels = Labels(2, std::string_view("\x00\x09", 2));

MemoryStorage GoodFiles() {
  return ReadOnlyFiles(
      {{kImagesPath, kGoodImages}, {kLabelsPath, kGoodLabels}});
}

TEST(IdxTest, ReadsImagesAndLabels) {
  MemoryStorage files = GoodFiles();
  const Result<RawSamples> raw = ReadIdx(files, "d", DataPart::kTrain);
  ASSERT_TRUE(raw.ok()) << raw.status().ToString();
  EXPECT_EQ(raw->samples, 2u);
  EXPECT_EQ(raw->height, 1u);
  EXPECT_EQ(raw->width, 3u);
  EXPECT_EQ(raw->pixels, (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(raw->labels, (std::vector<uint8_t>{0, 9}));
}

TEST(IdxTest, ReadsCompressedFiles_IfPlainOnesAreMissing) {
  MemoryStorage files =
      ReadOnlyFiles({{"d/t10k-images-idx3-ubyte.gz", Gzip(kGoodImages)},
                     {"d/t10k-labels-idx1-ubyte", kGoodLabels}});
  const Result<RawSamples> raw = ReadIdx(files, "d", DataPart::kValidation);
  ASSERT_TRUE(raw.ok()) << raw.status().ToString();
  EXPECT_EQ(raw->pixels[5], 'f');
}

TEST(IdxTest, MissingFileIsNamed) {
  MemoryStorage files = ReadOnlyFiles();
  const Status status = ReadIdx(files, "d", DataPart::kTrain).status();
  EXPECT_EQ(status.ToString(),
            "INVALID_ARGUMENT: d/train-images-idx3-ubyte: expected an IDX "
            "file, or one with .gz, found neither");
}

TEST(IdxTest, ErrorOfTheDiskIsNotAMalformedFile) {
  MemoryStorage files = GoodFiles();
  files.gate = [](StorageCall call, const std::string& path) {
    return path == kLabelsPath ? IoError(path) : AllowReading(call, path);
  };
  EXPECT_EQ(ReadIdx(files, "d", DataPart::kTrain).status().code(),
            Code::kIoError);
}

struct BadFile {
  std::string path;
  std::string bytes;
  std::string message;  // text after "<path>: "
};

const BadFile kBadFiles[] = {
    {kImagesPath, "", "offset 0: expected 4 more bytes, found 0"},
    {kImagesPath, BigEndian(kImages) + "ab",
     "offset 4: expected 4 more bytes, found 2"},
    {kImagesPath, BigEndian(0x1234) + kGoodImages.substr(4),
     "offset 0: expected magic 0x00000803, found 0x00001234"},
    {kImagesPath, Images(0, 1, 3, ""),
     "offset 4: expected 1 to 10000000 samples, found 0"},
    {kImagesPath, Images(0xffffffff, 1, 3, "abc"),
     "offset 4: expected 1 to 10000000 samples, found 4294967295"},
    {kImagesPath, Images(2, 0, 3, ""),
     "offset 8: expected 1 to 4096 pixels high, found 0"},
    {kImagesPath, Images(2, 1, 4097, ""),
     "offset 12: expected 1 to 4096 pixels wide, found 4097"},
    {kImagesPath, Images(10'000'000, 4096, 4096, "abc"),
     "offset 4: the sizes promise 167772160000000 bytes, the file can hold 19 "
     "(and the limit is 1073741824)"},
    {kImagesPath, Images(2, 1, 3, "abcde"),
     "offset 16: expected 6 more bytes, found 5"},
    {kImagesPath, Images(2, 1, 3, "abcdefg"),
     "offset 22: expected the end of the file, found 1 more bytes"},
    {kLabelsPath, BigEndian(kImages) + kGoodLabels.substr(4),
     "offset 0: expected magic 0x00000801, found 0x00000803"},
    {kLabelsPath, Labels(3, "\x01\x02\x03"),
     "offset 4: expected 2 samples as in the images, found 3"},
    {kLabelsPath, Labels(2, "\x01\x0a"),
     "offset 9: expected a label below 10, found 10"},
    {kLabelsPath, Labels(2, "\x01"),
     "offset 8: expected 2 more bytes, found 1"},
};

TEST(IdxTest, MalformedFileIsRefusedWithItsOffset) {
  for (const BadFile& bad : kBadFiles) {
    MemoryStorage files = GoodFiles();
    files.SetBytes(bad.path, bad.bytes);
    const Status status = ReadIdx(files, "d", DataPart::kTrain).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message(), bad.path + ": " + bad.message);
  }
}

// Returns the status of ReadIdx with these bytes as the compressed images.
std::string ReadingGzip(const std::string& bytes) {
  MemoryStorage files = GoodFiles();
  files.Erase(kImagesPath);
  files.SetBytes(std::string(kImagesPath) + ".gz", bytes);
  return ReadIdx(files, "d", DataPart::kTrain).status().ToString();
}

TEST(IdxTest, MalformedGzipFileIsRefusedWithItsOffset) {
  const std::string where =
      "INVALID_ARGUMENT: d/train-images-idx3-ubyte.gz: offset ";
  const std::string good = Gzip(kGoodImages);
  EXPECT_EQ(ReadingGzip(good), "OK");
  EXPECT_EQ(ReadingGzip(""),
            where + "0: expected more gzip data, found the end of the file");
  EXPECT_EQ(ReadingGzip("plainly not gzip"),
            where + "2: expected gzip data, found incorrect header check");
  EXPECT_EQ(ReadingGzip(good + "xyz"),
            where + std::to_string(good.size()) +
                ": expected the end of the file, found 3 bytes after the gzip "
                "data");
  EXPECT_EQ(ReadingGzip(Gzip(kGoodImages + "more")).substr(0, where.size()),
            where);
  std::string bad_checksum = good;
  bad_checksum[good.size() - 5] ^= 1;
  EXPECT_NE(ReadingGzip(bad_checksum).find("incorrect data check"),
            std::string::npos);
}

TEST(IdxTest, NoPrefixOfAGzipFileIsRead) {
  const std::string good = Gzip(kGoodImages);
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(ReadingGzip(good.substr(0, length)), "OK") << length;
  }
}

TEST(IdxTest, SmallGzipFileCannotClaimAGigabyte) {
  const std::string bomb = Gzip(Images(60'000, 128, 128, ""));
  EXPECT_NE(ReadingGzip(bomb).find("the sizes promise 983040000 bytes"),
            std::string::npos)
      << ReadingGzip(bomb);
}

TEST(IdxTest, StopsInflatingAtTheSizeInTheHeader) {
  const std::string bomb = Gzip(Images(2, 1, 3, std::string(16 << 20, '\0')));
  EXPECT_NE(ReadingGzip(bomb).find(
                "expected the end of the inflated data, found more"),
            std::string::npos)
      << ReadingGzip(bomb);
}

RC_GTEST_PROP(IdxTest, ChangedByteNeverCrashes,
              (uint16_t where, uint8_t byte)) {
  const std::string gz = Gzip(kGoodImages);
  std::string all = gz + kGoodLabels;
  all[where % all.size()] = static_cast<char>(byte);
  MemoryStorage files = ReadOnlyFiles(
      {{std::string(kImagesPath) + ".gz", all.substr(0, gz.size())},
       {kLabelsPath, all.substr(gz.size())}});
  const Result<RawSamples> raw = ReadIdx(files, "d", DataPart::kTrain);
  RC_ASSERT(raw.ok() || raw.status().code() == Code::kInvalidArgument);
}

}  // namespace
}  // namespace gauntlet
