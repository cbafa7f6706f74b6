#include <gtest/gtest.h>

#include "engine/data/dataset.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

const DataSpec kIdx = {.kind = DataKind::kIdx, .path = "d"};

std::string Images(uint32_t width, std::string_view pixels) {
  return BigEndian(0x803) + BigEndian(2) + BigEndian(1) + BigEndian(width) +
         std::string(pixels);
}

MemoryStorage IdxFiles() {
  const std::string labels =
      BigEndian(0x801) + BigEndian(2) + std::string("\x01\x02", 2);
  return ReadOnlyFiles({{"d/train-images-idx3-ubyte",
                         Images(2, std::string("\x00\xff\x33\x01", 4))},
                        {"d/train-labels-idx1-ubyte", labels},
                        {"d/t10k-images-idx3-ubyte", Images(2, "wxyz")},
                        {"d/t10k-labels-idx1-ubyte", labels}});
}

TEST(LoadDataTest, FeatureIsTheByteOver255) {
  MemoryStorage files = IdxFiles();
  const auto data = LoadData(files, kIdx);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  const Dataset& train = (*data)->train;
  EXPECT_EQ(train.features,
            (std::vector<float>{0.0f, 1.0f, 51.0f / 255.0f, 1.0f / 255.0f}));
  EXPECT_EQ(train.labels, (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(train.classes, 10u);
  EXPECT_EQ(train.features_per_sample(), 2u);
}

TEST(LoadDataTest, ContentDigest_DoesNotDependOnCompression) {
  MemoryStorage files = IdxFiles();
  const Digest plain = (*LoadData(files, kIdx))->content;
  files.SetBytes("d/t10k-images-idx3-ubyte.gz",
                 Gzip(files.Bytes("d/t10k-images-idx3-ubyte")));
  files.Erase("d/t10k-images-idx3-ubyte");
  EXPECT_EQ((*LoadData(files, kIdx))->content, plain);
  files.SetBytes("d/t10k-images-idx3-ubyte", Images(2, "wxyy"));
  EXPECT_NE((*LoadData(files, kIdx))->content, plain);
}

TEST(LoadDataTest, ValidationFilesMayLieElsewhere) {
  MemoryStorage files = IdxFiles();
  const auto loaded = LoadData(files, kIdx).value();
  for (const std::string name :
       {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    files.SetBytes("v/" + name, files.Bytes("d/" + name));
    files.Erase("d/" + name);
  }
  DataSpec spec = kIdx;
  spec.validation_path = "v";
  EXPECT_EQ(LoadData(files, spec).value()->content, loaded->content);
  EXPECT_FALSE(LoadData(files, kIdx).ok());
}

TEST(LoadDataTest, SplitsOfDifferentSizesAreRefused) {
  MemoryStorage files = IdxFiles();
  files.SetBytes("d/t10k-images-idx3-ubyte", Images(3, "uvwxyz"));
  EXPECT_EQ(LoadData(files, kIdx).status().ToString(),
            "INVALID_ARGUMENT: d: expected validation images of 1 x 2 pixels "
            "as in training, found 1 x 3");
}

MemoryStorage CifarFiles() {
  MemoryStorage files = ReadOnlyFiles();
  for (int i = 1; i <= 5; ++i) {
    files.SetBytes("d/data_batch_" + std::to_string(i) + ".bin",
                   CifarSample(i, 51));
  }
  files.SetBytes("d/test_batch.bin", CifarSample(0, 51));
  return files;
}

TEST(LoadDataTest, ColouredImagesHaveAColumnForEachChannel) {
  MemoryStorage files = CifarFiles();
  const auto data = LoadData(files, {.kind = DataKind::kCifar10, .path = "d"});
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  const Dataset& train = (*data)->train;
  EXPECT_EQ(train.channels, 3u);
  EXPECT_EQ(train.features_per_sample(), 3072u);
  EXPECT_EQ(train.features.size(), 5u * 3072);
  EXPECT_EQ(train.features[7], 51.0f / 255.0f);
  EXPECT_EQ(train.samples_of_files.size(), 5u);
}

TEST(LoadDataTest, ContentDigest_DependsOnTheFileOfEachSample) {
  const DataSpec spec = {.kind = DataKind::kCifar10, .path = "d"};
  MemoryStorage files = CifarFiles();
  files.Bytes("d/data_batch_1.bin") += CifarSample(2, 51);
  const Digest before = (*LoadData(files, spec))->content;
  MemoryStorage others = CifarFiles();
  others.Bytes("d/data_batch_2.bin") += CifarSample(2, 51);
  EXPECT_NE((*LoadData(others, spec))->content, before);
}

MemoryStorage NpyFiles() {
  const std::string labels = Npy("|u1", "(2,)", std::string("\x01\x02", 2));
  return ReadOnlyFiles({{"d/x_train.npy", Npy("|u1", "(2, 1, 2)", "abcd")},
                        {"d/y_train.npy", labels},
                        {"d/x_test.npy", Npy("|u1", "(2, 2)", "wxyz")},
                        {"d/y_test.npy", labels}});
}

TEST(LoadDataTest, BytesOfNumpyAreScaledAndFloatsAreNot) {
  const DataSpec spec = {.kind = DataKind::kNpy, .path = "d", .classes = 3};
  MemoryStorage files = NpyFiles();
  const auto bytes = LoadData(files, spec);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  EXPECT_EQ((*bytes)->train.features[0], 97.0f / 255.0f);
  EXPECT_EQ((*bytes)->train.classes, 3u);
  const std::string values = LittleEndian(0x40490fdb, 4) + LittleEndian(0, 4);
  files.SetBytes("d/x_train.npy", Npy("<f4", "(2, 1)", values));
  files.SetBytes("d/x_test.npy", Npy("<f4", "(2, 1)", values));
  const auto floats = LoadData(files, spec);
  ASSERT_TRUE(floats.ok()) << floats.status().ToString();
  EXPECT_EQ((*floats)->train.features, (std::vector<float>{3.14159274f, 0}));
  files.SetBytes(
      "d/x_train.npy",
      Npy("<f4", "(2, 1)", LittleEndian(0x40490fdc, 4) + LittleEndian(0, 4)));
  EXPECT_NE((*LoadData(files, spec))->content, (*floats)->content);
}

TEST(LoadDataTest, BytesForTrainingAndFloatsForValidationAreRefused) {
  MemoryStorage files = NpyFiles();
  files.SetBytes("d/x_test.npy", Npy("<f4", "(2, 2)", std::string(16, '\0')));
  EXPECT_EQ(LoadData(files, {.kind = DataKind::kNpy, .path = "d"})
                .status()
                .ToString(),
            "INVALID_ARGUMENT: d: expected validation features stored as bytes "
            "as in training, found floats");
}

TEST(LoadDataTest, DigitsNeedNoFilesAndHaveADigestOfTheirOwn) {
  MemoryStorage none = ReadOnlyFiles();
  const DataSpec spec{.samples = 20, .validation_samples = 10, .side = 7};
  const auto data = LoadData(none, spec);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_EQ((*data)->train.samples, 20u);
  EXPECT_EQ((*data)->validation.samples, 10u);
  EXPECT_EQ((*data)->train.features.size(), 20u * 49);
  EXPECT_EQ((*LoadData(none, spec))->content, (*data)->content);
  EXPECT_NE(
      (*LoadData(none, {.samples = 21, .validation_samples = 10, .side = 7}))
          ->content,
      (*data)->content);
}

}  // namespace
}  // namespace gauntlet
