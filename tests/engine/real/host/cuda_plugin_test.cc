#include "engine/real/host/cuda_plugin.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

TEST(CudaPluginTest, LibraryOfAnotherBuildIsRefusedInOneLine) {
  struct Refused {
    const char* file;
    std::string message;
  };
  const std::string ours =
      fmt::format("expected interface {}, found ", gpu::kDeviceAbi);
  const Refused cases[] = {
      {FAKE_DEVICE_OTHER_ABI, ours + "another one"},
      {FAKE_DEVICE_NEWER_ABI, ours + "1000"},
      {FAKE_DEVICE_OTHER_NUMERICS, "version 1 of the numerics, found 1000"},
      {FAKE_DEVICE_WITHOUT_ENTRY, "expected a function gauntlet_cuda_device"}};
  for (const auto& c : cases) {
    const Status status = OpenDeviceLibrary(c.file).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(c.file));
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
}

TEST(CudaPluginTest, FileThatIsNoLibraryIsNotFound) {
  const std::string file = ::testing::TempDir() + "not_a_library.so";
  std::ofstream(file) << "not a library";
  for (const std::string& path : {file, std::string("/nowhere/nothing.so")}) {
    const Status status = OpenDeviceLibrary(path).status();
    EXPECT_EQ(status.code(), Code::kNotFound);
    EXPECT_THAT(status.message(), HasSubstr(path));
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
  unlink(file.c_str());
}

TEST(CudaPluginTest, IrregularFileIsNotFound) {
  const Status status = OpenDeviceLibrary(::testing::TempDir()).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("no CUDA library"));
  EXPECT_THAT(status.message(), HasSubstr("found no regular file"));
}

TEST(CudaPluginTest, LibraryWithoutNcclIsNotFound) {
  const Status status = OpenCollectiveLibrary(FAKE_DEVICE_OTHER_ABI).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("was built without NCCL"));
}

// NCCL creates ids and reports its version without a GPU; a communicator needs
// one.
TEST(CudaPluginTest, LibraryOpensTheNcclOfThisMachine) {
  const std::string file = CUDA_LIBRARY;
  if (file.empty()) GTEST_SKIP() << "built without nvcc (preset gpu)";
  const auto api = OpenCollectiveLibrary(file);
  if (api.status().code() == Code::kNotFound) {
    GTEST_SKIP() << api.status().message();
  }
  ASSERT_TRUE(api.ok()) << api.status().message();
  gpu::DeviceText version;
  gpu::DeviceText why;
  EXPECT_TRUE((*api)->version(&version, &why)) << why.text;
  EXPECT_THAT(version.text, ::testing::MatchesRegex("2\\.[0-9]+\\.[0-9]+"));
  gpu::CommunicatorId one;
  gpu::CommunicatorId two;
  ASSERT_TRUE((*api)->make_id(&one, &why)) << why.text;
  ASSERT_TRUE((*api)->make_id(&two, &why)) << why.text;
  EXPECT_NE(std::string(one.bytes, sizeof one.bytes),
            std::string(two.bytes, sizeof two.bytes));
  if (FindCudaDriver().ok()) GTEST_SKIP() << "this machine has a driver";
  gpu::DeviceText device;
  EXPECT_FALSE((*api)->identify(0, &device, &why));
  EXPECT_THAT(why.text, HasSubstr("driver"));
}

TEST(CudaPluginTest, WithoutADriverThereIsNoCuda) {
  if (FindCudaDriver().ok()) GTEST_SKIP() << "this machine has a driver";
  const Status status = OpenCuda().status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("libcuda.so.1"));
}

TEST(CudaPluginTest, LibraryLoadsAndCountsDevicesWithoutADriver) {
  const std::string file = CUDA_LIBRARY;
  if (file.empty()) GTEST_SKIP() << "built without nvcc (preset gpu)";
  const auto api = OpenDeviceLibrary(file);
  ASSERT_TRUE(api.ok()) << api.status().message();
  gpu::DeviceText why;
  const int count = (*api)->count(&why);
  if (FindCudaDriver().ok()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(count, -1);
  EXPECT_THAT(why.text, HasSubstr("cudaErrorInsufficientDriver"));
  why = {};
  EXPECT_EQ((*api)->open(0, &why), nullptr);
  EXPECT_THAT(why.text, HasSubstr("driver"));
}

}  // namespace
}  // namespace gauntlet
