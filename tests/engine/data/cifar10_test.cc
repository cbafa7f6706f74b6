#include "engine/data/cifar10.h"

#include <gtest/gtest.h>

#include "tests/engine/data/data_files.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

constexpr size_t kPlane = 1024;
constexpr size_t kSample = 3073;

MemoryStorage GoodFiles() {
  MemoryStorage files = ReadOnlyFiles();
  for (int i = 1; i <= 5; ++i) {
    files.SetBytes("d/data_batch_" + std::to_string(i) + ".bin",
                   CifarSample(i, static_cast<char>(10 * i)));
  }
  files.SetBytes("d/test_batch.bin", CifarSample(7, 1) + CifarSample(8, 2));
  return files;
}

TEST(Cifar10Test, ReadsTheFiveBatchesInOrderAndTheTestBatch) {
  MemoryStorage files = GoodFiles();
  const Result<RawSamples> train = ReadCifar10(files, "d", DataPart::kTrain);
  ASSERT_TRUE(train.ok()) << train.status().ToString();
  EXPECT_EQ(train->samples, 5u);
  EXPECT_EQ(train->labels, (std::vector<uint8_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(train->samples_of_files, (std::vector<uint32_t>{1, 1, 1, 1, 1}));
  const Result<RawSamples> test =
      ReadCifar10(files, "d", DataPart::kValidation);
  ASSERT_TRUE(test.ok()) << test.status().ToString();
  EXPECT_EQ(test->labels, (std::vector<uint8_t>{7, 8}));
  EXPECT_EQ(test->height, 32u);
  EXPECT_EQ(test->width, 32u);
  EXPECT_EQ(test->channels, 3u);
}

TEST(Cifar10Test, ChannelsOfAPixelComeTogether) {
  MemoryStorage files = GoodFiles();
  std::string& sample = files.Bytes("d/data_batch_1.bin");
  sample[1 + 33] = 'r';  // the second pixel of the second line
  sample[1 + kPlane + 33] = 'g';
  sample[1 + 2 * kPlane + 33] = 'b';
  const RawSamples raw = ReadCifar10(files, "d", DataPart::kTrain).value();
  const std::string pixel(raw.pixels.begin() + 33 * 3,
                          raw.pixels.begin() + 34 * 3);
  EXPECT_EQ(pixel, "rgb");
  EXPECT_EQ(raw.pixels.size(), 5 * 3 * kPlane);
}

struct BadFile {
  std::string bytes;
  std::string message;  // text after "<path>: "
};

TEST(Cifar10Test, MalformedFileIsRefusedWithItsOffset) {
  const std::string sample =
      "a sample of 3073 bytes (a label and 32 x 32 x 3 values)";
  const BadFile bad_files[] = {
      {"", "offset 0: expected " + sample + ", found 0"},
      {CifarSample(1, 2).substr(0, 3072),
       "offset 0: expected " + sample + ", found 3072"},
      {CifarSample(1, 2) + "x",
       "offset 3073: expected " + sample + ", found 1"},
      {CifarSample(1, 2) + CifarSample(10, 2),
       "offset 3073: expected a label below 10, found 10"},
      {CifarSample(-1, 2), "offset 0: expected a label below 10, found 255"},
  };
  for (const BadFile& bad : bad_files) {
    MemoryStorage files = GoodFiles();
    files.SetBytes("d/data_batch_3.bin", bad.bytes);
    const Status status = ReadCifar10(files, "d", DataPart::kTrain).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message(), "d/data_batch_3.bin: " + bad.message);
  }
}

TEST(Cifar10Test, MissingFileIsNamed) {
  MemoryStorage files = GoodFiles();
  files.Erase("d/data_batch_4.bin");
  EXPECT_EQ(ReadCifar10(files, "d", DataPart::kTrain).status().ToString(),
            "INVALID_ARGUMENT: d/data_batch_4.bin: expected a file of "
            "CIFAR-10's binary version, found none");
}

TEST(Cifar10Test, ErrorOfTheDiskIsNotAMalformedFile) {
  MemoryStorage files = GoodFiles();
  files.gate = [](StorageCall call, const std::string& path) {
    return path == "d/test_batch.bin" ? IoError(path)
                                      : AllowReading(call, path);
  };
  EXPECT_EQ(ReadCifar10(files, "d", DataPart::kValidation).status().code(),
            Code::kIoError);
}

TEST(Cifar10Test, NoPartOfASampleIsRead) {
  MemoryStorage files = GoodFiles();
  for (size_t length = 0; length < kSample; length += 37) {
    files.SetBytes("d/test_batch.bin", CifarSample(1, 2).substr(0, length));
    EXPECT_FALSE(ReadCifar10(files, "d", DataPart::kValidation).ok()) << length;
  }
}

}  // namespace
}  // namespace gauntlet
