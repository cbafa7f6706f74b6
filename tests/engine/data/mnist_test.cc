// The real MNIST, if GAUNTLET_MNIST_DIR is set.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "engine/data/dataset.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

TEST(MnistTest, FilesOfADirectoryAreRead) {
  const char* directory = std::getenv("GAUNTLET_MNIST_DIR");
  if (directory == nullptr) {
    GTEST_SKIP() << "GAUNTLET_MNIST_DIR does not name a directory of MNIST";
  }
  MemoryStorage files = ReadOnlyFiles();
  for (const char* name : {"train-images-idx3", "train-labels-idx1",
                           "t10k-images-idx3", "t10k-labels-idx1"}) {
    const std::string file = std::string(name) + "-ubyte.gz";
    std::ifstream in(std::string(directory) + "/" + file, std::ios::binary);
    files.SetBytes("d/" + file, {std::istreambuf_iterator<char>(in), {}});
  }
  const auto data = LoadData(files, {.kind = DataKind::kIdx, .path = "d"});
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_EQ((*data)->train.features_per_sample(), 784u);
  EXPECT_GE((*data)->train.samples, 1000u);
  EXPECT_EQ((*data)->train.labels.size(), (*data)->train.samples);
}

}  // namespace
}  // namespace gauntlet
